"""What an earlier grading in the same folder of results says to the next: the same file gets the same share again."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.attempts.attempt import hash_of_submission
from grader.classroom.attempts.recording import earlier, record
from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import refresh
from grader.course import calibration, catalogue
from grader.course.cases import Case, TimedCase
from grader.course.course import Course, Threshold, Thresholds
from grader.course.late import LatePolicy
from grader.course.scoring import EarlierShare, earlier_shares
from grader.course.submission import Source, Submission, read_source_file
from grader.grading import whole_class
from grader.grading.grading import grade
from grader.grading.job import Job, JobOutcome, read_job
from grader.grading.options import GradeOptions
from grader.home import ROOT
from grader.pages.pages import student_page
from grader.pages.people import write_people
from grader.results.result import Performance, Result
from tests.classroom.attempts.made import add, draft, kept, stands
from tests.pages import samples

ADA = "Ada"


@pytest.fixture
def ada(tmp_path: Path) -> Submission:
    (tmp_path / "class" / ADA).mkdir(parents=True)
    (tmp_path / "out" / ADA).mkdir(parents=True)
    return Submission(ADA, tmp_path / "class" / ADA, ADA)


def measured(student: str = ADA) -> Result:
    return samples.result(student, speed=True)


def shares(out: Path, **fields: Any) -> dict[str, EarlierShare]:
    with Store.create(out) as store:
        return earlier(store, stands(store), {name: draft(name, ADA, **fields) for name in samples.KERNELS})


def test_what_was_kept_is_found_again(tmp_path: Path, ada: Submission) -> None:
    assert shares(tmp_path / "out") == {}
    assert kept(JobOutcome(ada, measured()), tmp_path / "out") == []
    assert shares(tmp_path / "out") == earlier_shares(measured()) and list(earlier_shares(measured()))
    assert shares(tmp_path / "out", submission="another file") == {}


@pytest.mark.parametrize("file", ["silu.py", "silu.cu"])
def test_a_file_is_recorded_as_it_is_looked_for_in_the_next_grading(tmp_path: Path, ada: Submission, file: str) -> None:
    wanted = hash_of_submission(Source(b"a kernel", file=file))
    assert kept(JobOutcome(ada, measured()), tmp_path / "out", submission=wanted) == []
    with Store.existing(tmp_path / "out") as store:
        assert {attempt.submission for attempt in store.attempts()} == {wanted}


def test_a_students_files_keep_the_order_in_which_kernels_are_taught(tmp_path: Path, ada: Submission) -> None:
    result = measured()
    assert list(result.assignments) != sorted(result.assignments)
    with Store.create(tmp_path / "out") as store:
        drafts = {name: draft(name, ADA) for name in sorted(result.assignments)}
        assert record(store, tmp_path / "out", LatePolicy(), drafts, result) == []
    drawn = Result.model_validate_json((tmp_path / "out" / ADA / "result.json").read_bytes())
    assert list(drawn.assignments) == list(result.assignments)


def test_a_report_says_what_does_not_count_any_more(tmp_path: Path, ada: Submission) -> None:
    out = tmp_path / "out"
    write_people(out, "real", {}, ["silu"])
    assert kept(JobOutcome(ada, measured()), out) == []
    said = "are no assignments of the course any more, so that these points do not count."
    assert said in (out / ADA / "report.html").read_text()
    write_people(out, "real", {}, [name for name in samples.KERNELS if name != "gemm"])
    with Store.existing(out) as store:
        assert refresh(store, out, LatePolicy()) == []
    assert "GEMM: is no assignment of the course any more" in (out / ADA / "report.html").read_text()


def test_a_failure_of_ours_elsewhere_costs_no_share(tmp_path: Path, ada: Submission) -> None:
    result = samples.result(ADA, {"gemm": "infrastructure_error"}, speed=True)
    assert kept(JobOutcome(ada, result), tmp_path / "out")
    assert "silu" in shares(tmp_path / "out") and "gemm" not in shares(tmp_path / "out")


def test_a_failure_of_ours_is_recorded_and_displaces_nothing(tmp_path: Path, ada: Submission) -> None:
    out = tmp_path / "out"
    assert kept(JobOutcome(ada, None, error="the grading process died, twice"), out) == [
        "Ada: not graded: the grading process died, twice"]
    assert not (out / ADA / "report.html").exists()
    assert kept(JobOutcome(ada, measured()), out) == []
    files = {path.name: path.read_bytes() for path in (out / ADA).iterdir()}
    (line,) = kept(JobOutcome(ada, samples.result(ADA, {"silu": "infrastructure_error"})), out)
    assert line.endswith("(the earlier result was kept)")
    assert kept(JobOutcome(ada, None, error="lost"), out) == ["Ada: not graded: lost (the earlier result was kept)"]
    assert {path.name: path.read_bytes() for path in (out / ADA).iterdir()} == files
    with Store.existing(out) as store:
        silu = [attempt for attempt in store.attempts(ADA) if attempt.assignment == "silu"]
        assert [(attempt.failed, attempt.error) for attempt in silu] == [
            (True, "the grading process died, twice"), (False, ""), (True, ""), (True, "lost")]


def test_a_plan_hands_every_job_its_own_shares(
    tmp_path: Path, ada: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No lane is needed to be asked for its device.
    monkeypatch.setattr(whole_class, "choose_device", lambda *_: ("cuda", samples.environment("NVIDIA H200")))
    monkeypatch.setattr(calibration, "folder", lambda: tmp_path / "none")
    (tmp_path / "none").mkdir()
    out, result = tmp_path / "out", measured()
    for name, assignment in result.assignments.items():
        (ada.folder / f"{name}.py").write_text("1")
        assignment.source_sha256 = hashlib.sha256(b"1").hexdigest()
    assert kept(JobOutcome(ada, result), out, submission=hash_of_submission(Source(b"1"))) == []
    bob = Submission("Bob", tmp_path / "class" / "Bob", "Bob")

    def planned(speed: bool) -> list[Job]:
        options = GradeOptions(
            out, only=list(samples.KERNELS), device="cuda", jobs=1, seed=1, speed=speed, allow_degraded=True)
        with whole_class.planned([ada, bob], Course(), options) as plan:
            return plan.jobs

    assert [sorted(job.earlier) for job in planned(True)] == [sorted(samples.KERNELS), []]
    assert [list(job.earlier) for job in planned(False)] == [[], []]


ALL = catalogue.assignments()
SILU = ALL["silu"].model_copy(update={
    "cases": (Case(name="5x9", sizes={"M": 5, "N": 9}),),
    "timed": (TimedCase(name="480x640", sizes={"M": 480, "N": 640}),)})
# Any kernel is far above this target: all points, whatever the noise.
REACHED = Course(thresholds=Thresholds(assignments={"silu": Threshold(floor=1e-6, target=2e-6)}))


@pytest.mark.gpu
@pytest.mark.alone
def test_the_same_file_gets_its_points_again_and_a_changed_one_its_own(
    tmp_path: Path, ada: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "assignments", lambda root=ROOT: {**ALL, "silu": SILU})
    (ada.folder / "silu.py").write_bytes((ROOT / "reference" / "silu.py").read_bytes())
    out = tmp_path / "out"

    def graded() -> Performance:
        source = read_source_file(ada.folder, "silu.py", 1 << 17)
        drafts = {"silu": draft("silu", ADA, submission=hash_of_submission(source))}
        with Store.create(out) as store:
            outcome = grade(read_job(ada, REACHED, ("silu",), "cuda", earlier=earlier(store, stands(store), drafts)))
            assert outcome.result is not None, outcome.error
            assert record(store, out, LatePolicy(), drafts, outcome.result, outcome.log) == []
        result = outcome.result.assignments["silu"]
        assert result.verdict == "accepted" and result.score == 60 + result.performance.points, result.message
        return result.performance

    def given_before(points: float) -> None:
        with Store.existing(out) as store:
            last = stands(store)[0].attempt
            stored = store.result(last)
            assert stored is not None
            stored.assignments["silu"].performance.points = points
            store.decide(add(store, last, result=stored))

    first = graded()
    assert first.status == "measured" and first.points == 40 and first.notes == [], first.reason
    given_before(39.6)
    again = graded()
    assert again.points == 39.6
    assert again.notes == ["The same file was measured before and keeps its 39.6 points: this time it came to 40, "
                           "which is no clear difference."]
    # Points that this measurement has clearly left.
    given_before(30)
    assert graded().points == 40
    given_before(39.6)
    with (ada.folder / "silu.py").open("a") as stream:
        stream.write("# changed\n")
    changed = graded()
    assert changed.points == 40 and changed.notes == []


def test_notes_are_shown_as_text() -> None:
    result = measured()
    result.assignments["silu"].performance.notes = ["<b>kept</b>"]
    page = student_page(result)
    assert "&lt;b&gt;kept&lt;/b&gt;" in page and "<b>kept</b>" not in page
