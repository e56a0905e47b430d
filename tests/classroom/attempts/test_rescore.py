"""Points anew from what is on record: as a grading would have given them, beside the old ones, and once."""

import subprocess
import sys
from pathlib import Path

import pytest

from grader.classroom.attempts import compare
from grader.classroom.attempts.attempt import hash_of_rules
from grader.classroom.attempts.recording import record, rescore
from grader.classroom.attempts.selected import pending
from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import notices, refresh, under_another_course_file
from grader.course.course import Course, HintsTable, PointsTable, Policy, Threshold, Thresholds
from grader.course.late import LatePolicy
from grader.course.scoring import earlier_shares, scored
from grader.home import ROOT
from grader.pages.load import load_results
from grader.results.result import Result
from tests.classroom.attempts.made import draft, scores
from tests.pages import samples

BEFORE = Course()
NOW = Course(points=PointsTable(correctness=30, performance=80, credit="per_case"))


def class_of_one(store: Store, out: Path, result: Result, course: Course = BEFORE) -> None:
    drafts = {name: draft(name, rules=hash_of_rules(name, course)) for name in result.assignments}
    assert record(store, out, LatePolicy(), drafts, result, "log") == []


def given(result: Result, course: Course) -> Result:
    """As it would have been graded by that course file."""
    for name, assignment in result.assignments.items():
        result.assignments[name] = scored(name, assignment, course, result.environment.device)
    return result


@pytest.fixture
def mixed() -> Result:
    return given(samples.result("ada", {"gemm": "wrong_answer", "transpose": "policy_violation"}, speed=True), BEFORE)


def test_points_are_those_that_a_grading_would_have_given(tmp_path: Path, mixed: Result) -> None:
    with Store.create(tmp_path) as store:
        class_of_one(store, tmp_path, mixed)
        before = (tmp_path / "ada" / "result.json").read_bytes(), scores(store)
        count = rescore(store, NOW)
        assert count == len(mixed.assignments)
        # Beside the old ones, and once.
        assert refresh(store, tmp_path, LatePolicy()) == []
        assert (tmp_path / "ada" / "result.json").read_bytes() == before[0]
        assert scores(store) == before[1] and rescore(store, NOW) == 0
        assert len(notices(store, NOW)) == 1 and len(notices(store, BEFORE)) == 1
        expected = given(mixed.model_copy(deep=True), NOW)
        for _, after in pending(store.attempts(), store.decisions()):
            record = store.result(after)
            assert record is not None and record.assignments == {after.assignment: expected.assignments[
                after.assignment]}
            assert after.of is not None and (after.score, after.max_score) == (
                expected.assignments[after.assignment].score, 110)
        store.decide(after for _, after in pending(store.attempts(), store.decisions()))
        assert refresh(store, tmp_path, LatePolicy()) == []
        shown = Result.model_validate_json((tmp_path / "ada" / "result.json").read_bytes())
        assert shown.assignments == expected.assignments and shown.score != mixed.score
        assert shown.max_score == 110 * len(mixed.assignments)


def test_what_only_a_gpu_can_judge_has_no_points_to_give_anew(tmp_path: Path) -> None:
    result = given(samples.result("ada", {"silu": "needs_gpu"}), BEFORE)
    with Store.create(tmp_path) as store:
        class_of_one(store, tmp_path, result)
        assert rescore(store, NOW) == len(result.assignments) - 1 and rescore(store, NOW) == 0


def test_the_class_page_marks_who_stands_under_an_older_course_file(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        for student, assignment, rules in (("ada", "silu", "old"), ("bo", "silu", "new"), ("ada", "gemm", "old")):
            store.add([(draft(assignment, student, rules=rules, verdict="accepted"), None)], "log")
        assert under_another_course_file(store, LatePolicy()) == {("ada", "silu")}
        store.add([(draft("silu", "ada", rules="new", verdict="accepted"), None)], "log")
        # It stands beside the old one until it is applied.
        assert under_another_course_file(store, LatePolicy()) == {("ada", "silu")}
        store.decide([store.attempts()[-1]])
        assert under_another_course_file(store, LatePolicy()) == set()


def test_a_violation_that_costs_nothing_any_more_is_not_said_to_cost() -> None:
    assignment = scored("silu", samples.assignment("silu", "policy_violation"), BEFORE, "cpu")
    assignment = assignment.model_copy(update={"message": assignment.message})
    assert assignment.flags[0].points == 60 and assignment.message.endswith("costs 60 points.")
    free = scored("silu", assignment, Course(points=PointsTable(correctness=0)), "cpu")
    assert free.flags[0].points == 0 and "points" not in free.message
    assert scored("silu", free, BEFORE, "cpu").message == assignment.message
    flagged = Course(policy=Policy(violation="flag"), points=PointsTable(credit="per_case"))
    assert scored("silu", assignment, flagged, "cpu").score >= assignment.score


def test_a_share_that_was_kept_is_kept_where_thresholds_are_the_same(mixed: Result) -> None:
    silu = mixed.assignments["silu"]
    assert silu.performance.speedup is not None
    share = round(silu.performance.points / silu.performance.max_points - 0.01, 2)
    silu = silu.model_copy(update={"performance": silu.performance.model_copy(update={"points": 40 * share})})
    mixed.assignments["silu"] = silu
    again = scored("silu", silu, NOW, mixed.environment.device, earlier_shares(mixed)["silu"])
    assert again.performance.points == pytest.approx(80 * share) and again.performance.notes
    moved = NOW.model_copy(update={"thresholds": Thresholds(floor=0.1, target=0.2)})
    assert scored("silu", silu, moved, mixed.environment.device, earlier_shares(mixed)["silu"]).performance.points == 80


def test_thresholds_move_points_and_a_difference_says_so(tmp_path: Path, mixed: Result) -> None:
    with Store.create(tmp_path) as store:
        class_of_one(store, tmp_path, mixed)
        harder = Course(thresholds=Thresholds(assignments={"silu": Threshold(floor=99, target=100)}))
        assert rescore(store, harder) == 1
        (move,) = compare.moves(store, LatePolicy())
        assert move.before.assignment == "silu" and move.points == -mixed.assignments["silu"].performance.points < 0
        assert move.why == ("specification: other points or thresholds",) and move.checks == ()


@pytest.mark.parametrize(("course", "level", "count"), [
    (NOW, "kind", 6), (BEFORE, "kind", 0), (BEFORE.model_copy(update={"hints": HintsTable(level="place")}), "kind", 0),
    (BEFORE.model_copy(update={"hints": HintsTable(level="edit")}), "edit", 1),
], ids=["points are others", "nothing is", "less is told", "changes are told"])
def test_a_change_is_kept_and_told_once_the_course_tells_it(
    tmp_path: Path, mixed: Result, course: Course, level: str, count: int
) -> None:
    mixed.assignments["gemm"].repair = samples.REPAIR
    with Store.create(tmp_path) as store:
        class_of_one(store, tmp_path, mixed)
        # Once.
        assert [rescore(store, course), rescore(store, course)] == [count, 0]
        assert [move.moved for move in compare.moves(store, LatePolicy())
                if move.after.rules == move.before.rules] == [False] * (count == 1)
        store.decide(after for _, after in pending(store.attempts(), store.decisions()))
        assert refresh(store, tmp_path, LatePolicy()) == []
    repair = load_results(tmp_path).entries[0].result.assignments["gemm"].repair
    assert repair == samples.REPAIR.model_copy(update={"level": level})
    added = samples.REPAIR.diff.splitlines()[1][1:].strip()
    assert (added in (tmp_path / "ada" / "report.html").read_text()) == (level == "edit")


def test_it_runs_and_imports_nothing_that_could_run_code(tmp_path: Path, mixed: Result) -> None:
    with Store.create(tmp_path) as store:
        class_of_one(store, tmp_path, mixed)
    (tmp_path / "course.toml").write_text("[points]\ncorrectness = 1\n")
    result = subprocess.run(
        [sys.executable, "-c", "import sys; from grader.commands.cli import app; app(standalone_mode=False); "
         "print({'torch', 'triton', 'grader.judging', 'grader.grading.lanes'} & set(sys.modules))",
         "rescore", "--out", tmp_path, "--course", tmp_path / "course.toml"],
        cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.startswith("6 attempts scored again\n") and result.stdout.endswith("set()\n"), result
