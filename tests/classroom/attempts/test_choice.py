"""What is graded again and what is not; times and members come from intake.json alone."""

import hashlib
import os
from pathlib import Path

import pytest

from grader.classroom.attempts.attempt import Attempt, hash_of_environment, hash_of_rules, hash_of_tests
from grader.classroom.attempts.choice import Choice, Delivery, Kind, absent, choose, deliveries
from grader.classroom.attempts.selected import latest, pending, select_attempts
from grader.classroom.intake.manifest import Manifest, ManifestEntry, Member
from grader.course.course import Course, LimitsTable, PointsTable, Policy
from grader.course.submission import Submission
from grader.errors import UserError
from grader.results.version import JUDGE_VERSION, POINTS_VERSION
from tests.pages import samples

ONCE, TWICE = "2026-10-01T12:00:00+02:00", "2026-10-04T12:00:00+02:00"
HERE = samples.environment()


@pytest.fixture
def ada(tmp_path: Path) -> Submission:
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "silu.py").write_text("1")
    return Submission("ada", tmp_path / "ada", "ada")


def chosen(
    ada: Submission, recorded: list[Attempt], kind: Kind = "grade", *, force: bool = False, time: str | None = None,
    course: Course | None = None, device: str = "cpu",
) -> Choice:
    environment = hash_of_environment(samples.environment(device), speed=False)
    return choose({ada: Delivery(submitted_at=time)}, ["silu"], course or Course(), environment, recorded,
                  list(select_attempts(recorded).values()), kind=kind, force=force)


def graded(found: Choice, verdict: str = "accepted", number: int = 1) -> Attempt:
    return Attempt.model_validate({**found.drafts["ada"]["silu"].model_dump(), "id": number, "verdict": verdict})


def test_a_draft_says_what_is_graded_by_what_and_where(ada: Submission) -> None:
    draft = chosen(ada, [], time=ONCE).drafts["ada"]["silu"]
    assert draft.submission == hashlib.sha256(b"1").hexdigest() and draft.members == ("ada",)
    assert draft.submitted_at == ONCE
    (ada.folder / "silu.py").unlink()
    assert chosen(ada, []).drafts["ada"]["silu"].submission == "missing"
    # Another archive that cannot be read is another hand-in, whose student is told of it.
    attempts = [choose({ada: Delivery(problems=problems)}, ["silu"], Course(), "here", [], []).drafts["ada"]["silu"]
                for problems in (("hw.zip: is damaged",), ("hw.zip: a password",), ("hw.zip: is damaged",))]
    assert attempts[0].submission == attempts[2].submission not in (attempts[1].submission, "missing")


@pytest.mark.parametrize(("verdict", "kind", "force", "is_graded"), [
    ("accepted", "grade", False, False), ("accepted", "grade", True, True), ("accepted", "failed", False, False),
    ("accepted", "regrade", False, False), ("accepted", "regrade", True, True), ("needs_gpu", "grade", False, False),
    ("infrastructure_error", "grade", False, True), ("infrastructure_error", "failed", False, True),
    ("infrastructure_error", "regrade", False, False), ("infrastructure_error", "failed", True, True),
    ("accepted", "failed", True, False),
])
def test_what_was_graded_from_the_same_is_skipped(
    ada: Submission, verdict: str, kind: Kind, force: bool, is_graded: bool
) -> None:
    before = [graded(chosen(ada, []), verdict)]
    choice = chosen(ada, before, kind, force=force)
    assert bool(choice.drafts) == is_graded and choice.skipped.total() == 1 - is_graded
    assert choice.skipped_line().startswith("" if is_graded else "Skipped 1 of 1 assignment: ") and not choice.again


A, B = "A100", "H200"


@pytest.mark.parametrize(("before", "now", "is_graded"), [
    ([(A, "infrastructure_error")], A, True),
    # What mended the failure is another environment.
    ([(A, "infrastructure_error")], B, True),
    ([(A, "accepted"), (B, "infrastructure_error")], B, True),
    ([(A, "accepted"), (B, "infrastructure_error")], A, False),
    ([(A, "infrastructure_error"), (B, "accepted")], A, False), ([(A, "accepted")], B, False), ([], A, False),
])
def test_what_failed_last_is_graded_again_wherever_it_failed(
    ada: Submission, before: list[tuple[str, str]], now: str, is_graded: bool
) -> None:
    recorded = [graded(chosen(ada, [], device=device), verdict, number)
                for number, (device, verdict) in enumerate(before, 1)]
    assert bool(chosen(ada, recorded, "failed", device=now).drafts) == is_graded
    # Nor does the judge have to be as it was.
    repaired = Course(limits=LimitsTable(call_seconds=5))
    assert bool(chosen(ada, recorded, "failed", device=now, course=repaired).drafts) == bool(
        before and before[-1][1] == "infrastructure_error")


def test_other_files_tests_or_environments_are_graded_and_points_are_not(ada: Submission) -> None:
    before = [graded(chosen(ada, []))]
    assert chosen(ada, before, device="NVIDIA H200").drafts
    assert chosen(ada, before, course=Course(limits=LimitsTable(call_seconds=5))).drafts
    assert chosen(ada, before, "regrade", course=Course(policy=Policy(assembly="refuse"))).drafts
    assert not chosen(ada, before, course=Course(points=PointsTable(correctness=1, credit="per_case"))).drafts
    (ada.folder / "silu.py").write_text("2")
    assert chosen(ada, before).drafts and not chosen(ada, before, "regrade").drafts
    assert not chosen(ada, before, "failed").drafts


def test_neither_clock_nor_a_files_time_changes_what_is_graded(ada: Submission) -> None:
    before = [graded(chosen(ada, [], time=ONCE))]
    os.utime(ada.folder / "silu.py", (0, 0))
    choice = chosen(ada, before, time=ONCE)
    assert not choice.drafts and not choice.again


def test_a_file_handed_in_again_gets_its_new_time_and_is_not_run_again(ada: Submission) -> None:
    before = [graded(chosen(ada, [], time=ONCE))]
    choice = chosen(ada, before, time=TWICE)
    (again,) = choice.again
    assert not choice.drafts and (again.of, again.submitted_at, again.verdict) == (1, TWICE, "accepted")
    after = [*before, again.model_copy(update={"id": 2})]
    # Nor does it get one after another; and that nothing is said of a time takes none away.
    assert not chosen(ada, after, time=TWICE).again and not chosen(ada, after, time=ONCE).again
    assert not chosen(ada, after).again
    assert chosen(ada, after, force=True).drafts["ada"]["silu"].submitted_at == TWICE


def test_a_file_that_comes_back_after_another_counts_again_without_being_run(ada: Submission) -> None:
    first = graded(chosen(ada, []))
    (ada.folder / "silu.py").write_text("2")
    second = graded(chosen(ada, [first]), "wrong_answer", 2)
    (ada.folder / "silu.py").write_text("1")
    choice = chosen(ada, [first, second])
    (again,) = choice.again
    assert not choice.drafts and (again.of, again.verdict) == (1, "accepted")
    assert choice.skipped_line().endswith("; 1 of them handed in again, which is recorded")
    recorded = [first, second, again.model_copy(update={"id": 3})]
    assert latest(list(select_attempts(recorded).values()), chosen=False).attempt.id == 3 and not pending(recorded, ())
    # Once; and graded by force it is graded as the hand-in that counts.
    assert not chosen(ada, recorded).again
    forced = graded(chosen(ada, [first, second], force=True), number=3)
    assert latest(list(select_attempts([first, second, forced]).values()), chosen=False).attempt.id == 3
    # Back and forth, and where times say what came last, they say it.
    (ada.folder / "silu.py").write_text("2")
    assert chosen(ada, recorded).again[0].of == 2
    timed_ = [attempt.model_copy(update={"submitted_at": at}) for attempt, at in ((first, TWICE), (second, ONCE))]
    assert not chosen(ada, timed_, time=ONCE).again


def test_a_file_that_is_gone_is_recorded_once(ada: Submission) -> None:
    first = graded(chosen(ada, []))
    (ada.folder / "silu.py").unlink()
    gone = graded(chosen(ada, [first]), "missing", 2)
    assert not chosen(ada, [first, gone]).again and not chosen(ada, [first, gone]).drafts
    (ada.folder / "silu.py").write_text("1")
    assert [attempt.of for attempt in chosen(ada, [first, gone]).again] == [1]


def test_hashes_follow_what_they_are_of(tmp_path: Path) -> None:
    folder = tmp_path / "assignments" / "silu"
    folder.mkdir(parents=True)
    (folder / "assignment.py").write_text("1")
    course, seen = Course(), {hash_of_tests("silu", Course(), tmp_path)}
    (folder / "handout.md").write_text("words")
    assert hash_of_tests("silu", course, tmp_path) in seen
    for path in (folder / "assignment.py", folder / "hidden.toml"):
        path.write_text(f"{path} changed")
        found = hash_of_tests("silu", course, tmp_path)
        assert found not in seen
        seen.add(found)
    assert hash_of_rules("silu", course) == hash_of_rules("silu", Course(limits=LimitsTable(call_seconds=5)))
    assert hash_of_rules("silu", course) != hash_of_rules("silu", Course(points=PointsTable(performance=1)))
    assert hash_of_rules("silu", course) != hash_of_rules("silu", Course(policy=Policy(violation="flag")))
    assert hash_of_tests("silu", course) != hash_of_tests("silu", Course(policy=Policy(assembly="refuse")))
    assert hash_of_tests("silu", course) != hash_of_tests("silu", Course(structure={"silu": {"one_pass": True}}))
    assert hash_of_tests("silu", course) != hash_of_tests("silu", Course(points=PointsTable(structure=10)))
    assert hash_of_tests("silu", Course(points=PointsTable(structure=20))) == hash_of_tests(
        "silu", Course(points=PointsTable(structure=10)))
    # A table that is new decides checks or points, or is one of these.
    assert set(Course.model_fields) == {
        "points", "thresholds", "structure", "limits", "gpu", "policy", "assignments", "languages", "both", "isolation",
        "late", "hints", "page", "records", "submissions", "sha256"}
    assert hash_of_environment(HERE, False) != hash_of_environment(HERE, True)
    other = HERE.model_copy(update={"seed": "1", "platform": "Linux 7", "course": "2"})
    assert hash_of_environment(other, False) == hash_of_environment(HERE, False)
    weaker = HERE.model_copy(update={"isolation": "0 none"})
    assert hash_of_environment(weaker, False) != hash_of_environment(HERE, False)


def test_words_of_the_judge_make_no_grade_stale_and_its_version_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "assignments" / "silu"
    folder.mkdir(parents=True)
    (folder / "assignment.py").write_text("1")
    course = Course()
    tests, rules = hash_of_tests("silu", course, tmp_path), hash_of_rules("silu", course)
    for name in ("judging/judge.py", "kit/inputs.py", "course/scoring.py"):
        path = tmp_path / "grader" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# a comment")
        assert hash_of_tests("silu", course, tmp_path) == tests
    monkeypatch.setattr("grader.classroom.attempts.attempt.JUDGE_VERSION", JUDGE_VERSION + 1)
    assert hash_of_tests("silu", course, tmp_path) != tests and hash_of_rules("silu", course) == rules
    monkeypatch.undo()
    # Other points for the same checks need nobody's code.
    monkeypatch.setattr("grader.classroom.attempts.attempt.POINTS_VERSION", POINTS_VERSION + 1)
    assert hash_of_tests("silu", course, tmp_path) == tests and hash_of_rules("silu", course) != rules


def test_a_grade_of_another_version_of_the_judge_is_run_beside(
    ada: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = graded(chosen(ada, []))
    assert not chosen(ada, [first]).drafts
    # So is one that was made when a hash of the judge's sources stood in its place.
    for old in (first.model_copy(update={"tests": "0" * 64}), first):
        monkeypatch.setattr("grader.classroom.attempts.attempt.JUDGE_VERSION", JUDGE_VERSION + (old is first))
        again = graded(chosen(ada, [old]), "wrong_answer", 2)
        assert again.of is None and again.tests != old.tests
        (stands,) = select_attempts([old, again])
        assert stands == old.hand_in and select_attempts([old, again])[stands].attempt == old
        assert [(before.id, after.id) for before, after in pending([old, again], [])] == [(1, 2)]


def test_whose_a_folder_is_and_when_it_came_is_what_the_intake_says(tmp_path: Path, ada: Submission) -> None:
    bob = Submission("bob", tmp_path / "bob", "bob")
    assert deliveries([ada, bob]) == {ada: Delivery(), bob: Delivery()}
    manifest = Manifest(kind="canvas", source="download.zip", submissions=[ManifestEntry(
        folder="ada", members=[Member(id="17"), Member(id="18")], submitted_at=ONCE, late=True, origin=["x"])])
    assert absent([ada, bob]) == []
    manifest.missing.append(Member(id="19"))
    (tmp_path / "intake.json").write_text(manifest.model_dump_json(by_alias=True))
    assert absent([ada, bob]) == [Member(id="19")]
    assert deliveries([ada, bob]) == {ada: Delivery((Member(id="17"), Member(id="18")), ONCE, True), bob: Delivery()}
    (tmp_path / "intake.json").write_text("{")
    with pytest.raises(UserError, match=r"intake\.json"):
        deliveries([ada])
