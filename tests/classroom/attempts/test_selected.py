"""What stands: the first that judged a hand-in, until something is applied; and which hand-in counts."""

from pathlib import Path
from typing import Any

import pytest

from grader.classroom.attempts.attempt import Attempt, hash_of_rules
from grader.classroom.attempts.selected import SelectedAttempt, latest, pending, select_attempts, timed, to_undo
from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import notices
from grader.course.course import Course
from tests.classroom.attempts.made import add, draft, stands
from tests.rows import each_row

RIGHT: dict[str, Any] = {"verdict": "accepted", "score": 60, "max_score": 100}
FAILED: dict[str, Any] = {"verdict": "infrastructure_error"}
ONLY_A_GPU: dict[str, Any] = {"verdict": "needs_gpu"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path)


def standing_ids(store: Store) -> list[int]:
    return [one.attempt.id for one in stands(store)]


@pytest.mark.parametrize(("given", "stands_"), [
    ([RIGHT, RIGHT], 1), ([FAILED, RIGHT, RIGHT], 2), ([FAILED, ONLY_A_GPU, FAILED], 2), ([ONLY_A_GPU, RIGHT], 2),
    ([RIGHT, FAILED], 1), ([RIGHT, ONLY_A_GPU], 1), ([FAILED, FAILED], 1),
])
def test_the_first_that_judged_a_file_stands(store: Store, given: list[dict[str, Any]], stands_: int) -> None:
    add(store, *(draft(**fields) for fields in given))
    assert standing_ids(store) == [stands_]


def test_a_new_file_stands_of_itself_and_leaves_the_old_one_as_it_was(store: Store) -> None:
    add(store, draft(**RIGHT), draft(submission="new", **RIGHT))
    assert standing_ids(store) == [1, 2] and pending(store.attempts(), store.decisions()) == []


def test_nothing_changes_until_it_is_applied_and_that_is_undone_one_after_another(store: Store) -> None:
    ada, bob = draft(**RIGHT), draft(student="bob", **RIGHT)
    attempts = add(store, ada, bob, ada, bob, draft(**FAILED), ada)
    assert standing_ids(store) == [1, 2]
    assert [(old.id, new.id) for old, new in pending(attempts, store.decisions())] == [(1, 6), (2, 4)]
    store.decide([attempts[2], attempts[3]])
    assert standing_ids(store) == [3, 4]
    store.decide([attempts[5]])
    assert standing_ids(store) == [6, 4] and pending(attempts, store.decisions()) == []
    for expected in ([3, 4], [1, 2]):
        store.decide(undoes=to_undo(store.decisions()))
        assert standing_ids(store) == expected
    assert to_undo(store.decisions()) is None
    store.decide([attempts[5]])
    assert standing_ids(store) == [6, 2] and to_undo(store.decisions()) == 5


def test_what_a_student_chose_last_counts_whatever_is_applied_and_undone(store: Store) -> None:
    attempts = add(store, *(draft(submission=name, **RIGHT) for name in "abc"))
    assert latest(stands(store), chosen=True).attempt.id == 3
    store.choose(attempts[0])
    store.choose(attempts[1])
    again = add(store, draft(submission="b", **RIGHT))[-1]
    store.decide([again])
    assert [(one.attempt.id, one.chosen) for one in stands(store)] == [(1, False), (4, True), (3, False)]
    assert latest(stands(store), chosen=True).attempt.id == 4 and latest(stands(store), chosen=False).attempt.id == 3
    store.decide(undoes=to_undo(store.decisions()))
    assert latest(stands(store), chosen=True).attempt.id == 2 and to_undo(store.decisions()) is None


def numbered(*heads: Attempt) -> list[SelectedAttempt]:
    attempts = [head.model_copy(update={"id": number}) for number, head in enumerate(heads, 1)]
    return list(select_attempts(attempts).values())


FIRST, SECOND, THIRD = "2026-10-01T12:00:00+02:00", "2026-10-01T11:00:00+00:00", "2026-10-03T12:00:00+02:00"


@each_row(("made", "last"), [
    ([("a", FIRST), ("b", SECOND)], ("b", SECOND)),
    # An older download, graded later.
    ([("b", SECOND), ("a", FIRST)], ("b", SECOND)),
    # Handed in again; and a time that was corrected.
    ([("a", FIRST), ("b", SECOND), ("a", THIRD)], ("a", THIRD)),
    ([("a", THIRD), ("b", SECOND), ("a", FIRST)], ("b", SECOND)),
    # Where a time is not known, as they came.
    ([("a", THIRD), ("b", None)], ("b", None)), ([("a", None), ("b", FIRST)], ("b", FIRST)),
    ([("a", None), ("b", FIRST), ("a", THIRD)], ("a", THIRD)),
])
def test_the_hand_in_made_last_is_known_by_what_its_source_says(
    made: list[tuple[str, str | None]], last: tuple[str, str | None]
) -> None:
    found = latest(numbered(*(draft(submission=file, submitted_at=time, **RIGHT) for file, time in made)), chosen=False)
    assert (found.attempt.submission, found.attempt.submitted_at) == last


def test_a_hand_in_that_we_failed_to_grade_does_not_count_before_one_that_is_graded() -> None:
    found = numbered(draft(submission="a", **RIGHT), draft(submission="b", **FAILED))
    assert [latest(some, chosen=False).attempt.submission for some in (found, found[1:])] == ["a", "b"]


def test_a_hand_in_without_a_file_does_not_count_before_one_that_has_one(store: Store) -> None:
    found = numbered(draft(submission="a", **RIGHT), draft(submission="missing", verdict="missing"))
    assert [latest(some, chosen=False).attempt.submission for some in (found, found[1:])] == ["a", "missing"]
    add(store, *(one.attempt for one in found), draft("gemm", verdict="missing"))
    rules = {"rules": hash_of_rules("silu", Course())}
    assert notices(store, Course())[0].endswith("counts: ada silu")
    add(store, found[0].attempt.model_copy(update={"turn": 1, **rules}))
    assert not any("counts" in line for line in notices(store, Course()))


def test_what_the_course_has_no_more_is_said_not_to_count(store: Store) -> None:
    add(store, draft(**RIGHT), draft("gemm", **RIGHT))
    for names, gone in ((None, []), (("silu", "gemm"), []), (("silu",), ["gemm: graded, but is no assignment of the"])):
        said = [line for line in notices(store, Course(assignments=names)) if "no assignment" in line]
        assert [line[:len(gone[0])] for line in said] == gone


def test_grades_by_other_points_are_counted_where_no_newer_attempt_has_those_of_now(store: Store) -> None:
    now = {"rules": hash_of_rules("silu", Course()), **RIGHT}
    add(store, draft(**RIGHT), draft(student="bob", **RIGHT), draft(student="bob", **now), draft(student="eve", **now),
        draft(student="eve", **RIGHT))
    other = [line for line in notices(store, Course()) if "other points" in line]
    assert len(other) == 1 and other[0].startswith("1 grade is based on other points")


def test_an_unknown_time_is_forgotten_where_a_file_has_a_known_one() -> None:
    found = numbered(draft(submission="a"), draft(submission="a", submitted_at=FIRST), draft(submission="b"))
    assert [(one.attempt.submission, one.attempt.submitted_at) for one in timed(found)] == [("a", FIRST), ("b", None)]
