"""What an earlier grading in the same folder of results says to the next: the same file gets the same share again."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import catalogue, run
from grader.assignment import Case, TimedCase
from grader.catalogue import ROOT
from grader.course import Course, Threshold, Thresholds
from grader.grading import grade
from grader.lanes import Graded, Job
from grader.report.pages import student_page
from grader.result import Performance, Result
from grader.scoring import earlier_shares
from grader.store import RESULT, earlier, keep
from grader.submission import Submission
from tests.report import samples

ADA = "Ada"


@pytest.fixture
def ada(tmp_path: Path) -> Submission:
    (tmp_path / "class" / ADA).mkdir(parents=True)
    (tmp_path / "out" / ADA).mkdir(parents=True)
    return Submission(ADA, tmp_path / "class" / ADA, ADA)


def put(out: Path, text: str | bytes) -> None:
    (out / ADA / RESULT).write_bytes(text if isinstance(text, bytes) else text.encode())


def measured(student: str = ADA) -> Result:
    return samples.result(student, speed=True)


def test_what_was_kept_is_found_again(tmp_path: Path, ada: Submission) -> None:
    assert earlier(tmp_path / "out", ada) == {}
    assert keep(Graded(ada, measured()), tmp_path / "out", 1024) == []
    found = earlier(tmp_path / "out", ada)
    assert found == earlier_shares(measured()) and list(found) == list(samples.KERNELS)


def test_a_failure_of_ours_elsewhere_costs_no_share(tmp_path: Path, ada: Submission) -> None:
    result = samples.result(ADA, {"gemm": "infrastructure_error"}, speed=True)
    assert keep(Graded(ada, result), tmp_path / "out", 1024)
    assert "silu" in earlier(tmp_path / "out", ada) and "gemm" not in earlier(tmp_path / "out", ada)


@pytest.mark.parametrize("text", [
    "", "{", "[]", "null", b"\xff\xfe\x00", "[" * 100_000, '{"schema": "kernelmark/result/v1"}',
    measured().model_copy(update={"schema_": "kernelmark/result/v2"}).model_dump_json(by_alias=True),
    measured("Bob").model_dump_json(by_alias=True),
], ids=["empty", "brace", "list", "null", "bytes", "deep", "bare", "version", "other"])
def test_a_broken_or_foreign_result_says_nothing(tmp_path: Path, ada: Submission, text: str | bytes) -> None:
    put(tmp_path / "out", text)
    assert earlier(tmp_path / "out", ada) == {}


def test_a_folder_in_its_place_says_nothing(tmp_path: Path, ada: Submission) -> None:
    (tmp_path / "out" / ADA / RESULT).mkdir()
    assert earlier(tmp_path / "out", ada) == {}


def test_what_lies_in_the_submission_itself_says_nothing(tmp_path: Path, ada: Submission) -> None:
    put(tmp_path / "class", measured().model_dump_json(by_alias=True))
    assert earlier(tmp_path / "class", ada) == {}
    (ada.folder / ADA).mkdir()
    put(ada.folder, measured().model_dump_json(by_alias=True))
    assert earlier(ada.folder, ada) == {}
    (tmp_path / "link").symlink_to(ada.folder)
    assert earlier(tmp_path / "link", ada) == {}


def test_a_plan_hands_every_job_its_own_shares(
    tmp_path: Path, ada: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No lane is needed to be asked for its device.
    monkeypatch.setattr(run, "choose_device", lambda lanes, asked, names: asked)
    out = tmp_path / "out"
    keep(Graded(ada, measured()), out, 1024)
    bob = Submission("Bob", tmp_path / "class" / "Bob", "Bob")

    def planned(speed: bool) -> list[Job]:
        with run.planned([ada, bob], Course(), out=out, only=(), device="cpu", jobs=1, seed=1, speed=speed,
                         allow_degraded=True) as plan:
            return plan.jobs

    assert [list(job.earlier) for job in planned(True)] == [list(samples.KERNELS), []]
    assert [list(job.earlier) for job in planned(False)] == [[], []]


ALL = catalogue.assignments()
SILU = ALL["silu"].model_copy(update={
    "cases": (Case(name="5x9", sizes={"M": 5, "N": 9}),),
    "timed": (TimedCase(name="480x640", sizes={"M": 480, "N": 640}),)})
# Any kernel is far above this target: all points, whatever the noise.
REACHED = Course(thresholds=Thresholds(assignments={"silu": Threshold(floor=1e-6, target=2e-6)}))


@pytest.mark.gpu
def test_the_same_file_gets_its_points_again_and_a_changed_one_its_own(
    tmp_path: Path, ada: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "assignments", lambda root=ROOT: {**ALL, "silu": SILU})
    (ada.folder / "silu.py").write_bytes((ROOT / "reference" / "silu.py").read_bytes())
    out = tmp_path / "out"

    def graded() -> Performance:
        done = grade(Job(ada, REACHED, ("silu",), "cuda", earlier=earlier(out, ada)))
        assert done.result is not None, done.error
        found = done.result.assignments["silu"]
        assert found.verdict == "accepted" and found.score == 60 + found.performance.points, found.message
        assert keep(done, out, 1 << 17) == []
        return found.performance

    def given_before(points: float) -> None:
        stored = Result.model_validate_json((out / ADA / RESULT).read_bytes())
        stored.assignments["silu"].performance.points = points
        put(out, stored.model_dump_json(by_alias=True))

    first = graded()
    assert first.status == "measured" and first.points == 40 and first.notes == [], first.reason
    given_before(39.6)
    again = graded()
    assert again.points == 39.6
    assert again.notes == ["The same file was measured before and keeps its 39.6 points: this time it came to 40, "
                           "which is no clear difference."]
    assert "keeps its 39.6 points" in (out / ADA / "report.html").read_text()
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
