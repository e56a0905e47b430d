"""From raw points to a grade: examples, and what holds of every policy."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.classroom.attempts.policy import Grade, class_grades, grade
from grader.classroom.attempts.selected import SelectedAttempt, select_attempts
from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import shown_attempts
from grader.commands.attempts import grades
from grader.course.course import read_course
from grader.course.late import LatePolicy
from grader.course.roster import Student
from grader.errors import UserError
from grader.results.result import with_assignments
from tests.classroom.attempts.made import add, draft
from tests.command import kernelmark, refused
from tests.pages import samples
from tests.rows import beside, each_row

NAMES = ("silu", "gemm", "transpose")
BOOK = ("tests", "rules")
DUE = datetime.datetime(2026, 10, 1, 21, 59, tzinfo=datetime.UTC)
Work = dict[str, list[SelectedAttempt]]


def late(**fields: Any) -> LatePolicy:
    return LatePolicy.model_validate({"deadlines": dict.fromkeys(NAMES, DUE), **fields})


def hand_in(number: int, hours: float | None, points: float = 60, name: str = "silu", **fields: Any) -> SelectedAttempt:
    """Hours after the deadline; None: nobody knows."""
    when = None if hours is None else (DUE + datetime.timedelta(hours=hours)).isoformat()
    head = draft(name, submission=f"file {number}", submitted_at=when, **{
        "verdict": "accepted", "score": points, "max_score": 100, **fields})
    return SelectedAttempt(number, head.model_copy(update={"id": number}))


def stands_in(out: Path) -> list[SelectedAttempt]:
    with Store.existing(out) as store:
        return list(select_attempts(store.attempts(), store.decisions()).values())


def graded(policy: LatePolicy, *made: SelectedAttempt, late_days: int | None = None) -> Grade:
    work: Work = {}
    for one in made:
        work.setdefault(one.attempt.assignment, []).append(one)
    return grade("ada", work, late_days, policy, dict.fromkeys(NAMES, 100.0), dict.fromkeys(NAMES, BOOK))


def points(policy: LatePolicy, *made: SelectedAttempt, late_days: int | None = None) -> float | None:
    return graded(policy, *made, late_days=late_days).lines[0].points


def test_a_folder_shows_what_counts_beside_work_in_a_group(tmp_path: Path) -> None:
    """The only grace day goes to the group's product, so alone the attempt in time counts."""
    policy = late(count="best", grace_days=1, percent=100)
    made = [hand_in(1, -1, 6), hand_in(2, 1, 8), *(
        hand_in(number, hours, points, "gemm", slug="pair", members=("ada", "ben"))
        for number, hours, points in ((3, -1, 0), (4, 1, 60)))]
    with Store.create(tmp_path) as store:
        add(store, *(one.attempt for one in made))
        everybody = shown_attempts(store, policy)
        assert {slug: [attempt.score for attempt in attempts] for slug, attempts in everybody.items()} == {
            "ada": [6], "pair": [60]}
        assert {slug: shown_attempts(store, policy, slug)[slug] for slug in everybody} == everybody


EXAMPLES: dict[str, tuple[dict[str, Any], list[SelectedAttempt], float | None]] = {
    "no policy": ({"deadlines": {}}, [hand_in(1, 999)], 60),
    "in time": ({"percent": 10}, [hand_in(1, 0)], 60),
    "each day begun": ({"percent": 10}, [hand_in(1, 24.1)], 48),
    "to the second": ({"percent": 10, "by": "linear"}, [hand_in(1, 36)], 51),
    "at most so much is taken": ({"percent": 10, "most": 15}, [hand_in(1, 240)], 51),
    "never below nought": ({"percent": 40}, [hand_in(1, 240)], 0),
    "a cap of late work": ({"cap": 50}, [hand_in(1, 1)], 50),
    "no cap in time": ({"cap": 50}, [hand_in(1, -1)], 60),
    "grace days": ({"percent": 10, "grace_days": 2}, [hand_in(1, 30)], 60),
    "grace days that do not do": ({"percent": 10, "grace_days": 2}, [hand_in(1, 60)], 54),
    "the last": ({"percent": 10}, [hand_in(1, -9), hand_in(2, 1, 40)], 36),
    "the best": ({"percent": 10, "count": "best"}, [hand_in(1, -9), hand_in(2, 1, 65)], 60),
    "the best, though late": ({"percent": 10, "count": "best"}, [hand_in(1, -9), hand_in(2, 1, 80)], 72),
    "the chosen": ({"percent": 10, "count": "chosen"}, [
        hand_in(1, -9)._replace(chosen=True), hand_in(2, 1, 80)], 60),
    "nothing chosen": ({"percent": 10, "count": "chosen"}, [hand_in(1, -9), hand_in(2, 1, 80)], 72),
    "chosen where the last counts": ({"percent": 10}, [hand_in(1, -9)._replace(chosen=True), hand_in(2, 1, 80)], 72),
    "nobody knows when": ({"percent": 10}, [hand_in(1, None)], 60),
    "late by its source, nobody knows when": ({"percent": 10}, [hand_in(1, None, late=True)], 60),
    "an extension": ({"percent": 10, "extensions": [
        {"student": "ADA", "assignment": "silu", "until": DUE + datetime.timedelta(1)}]}, [hand_in(1, 20)], 60),
    "an extension of everything": ({"percent": 10, "extensions": [
        {"student": "ada", "until": DUE + datetime.timedelta(1)}]}, [hand_in(1, 20)], 60),
    "another student's extension": ({"percent": 10, "extensions": [
        {"student": "bob", "until": DUE + datetime.timedelta(1)}]}, [hand_in(1, 20)], 54),
    "given by a person": ({"overrides": [
        {"student": "ada", "assignment": "silu", "points": 70, "reason": "r", "by": "b"}]}, [hand_in(1, 1)], 70),
    "excused": ({"excused": [{"student": "ada", "assignment": "silu", "reason": "r", "by": "b"}]}, [hand_in(1, 1)],
                None),
    "not judged": ({}, [hand_in(1, 0, verdict="needs_gpu")], None),
    "nothing": ({}, [], None),
}


@each_row(("fields", "made", "expected"), EXAMPLES.values(), ids=EXAMPLES)
def test_examples(fields: dict[str, Any], made: list[SelectedAttempt], expected: float | None) -> None:
    line = graded(late(**fields), *made).lines[0]
    assert line.points == expected
    # The last step says what the grade says.
    assert line.steps[-1].points == pytest.approx(expected)


def test_a_hand_in_without_a_file_is_none_of_those_that_could_count() -> None:
    line = graded(late(), hand_in(1, -9, 40), hand_in(2, -8), hand_in(3, None, 0, verdict="missing")).lines[0]
    assert line.points == 60 and "the last of 2 hand-ins" in line.steps[0].text


def test_grace_days_go_where_they_save_most_and_the_roster_has_the_last_word() -> None:
    made = hand_in(1, 20, 10), hand_in(2, 20, 90, "gemm")
    one = graded(late(percent=10, grace_days=1), *made)
    assert [line.grace_days for line in one.lines] == [0, 1, 0] and one.points == 99
    assert graded(late(percent=10, grace_days=1), *made, late_days=2).points == 100
    assert graded(late(percent=10, grace_days=1), *made, late_days=0).points == 90
    # In time, none is spent, nor where it would save nothing.
    assert graded(late(percent=10, grace_days=9), hand_in(1, 20, 0)).grace_days == 0
    assert graded(late(percent=10, grace_days=9), hand_in(1, -1)).grace_days == 0


def test_what_a_person_decided_counts_and_what_is_excused_is_of_nought() -> None:
    decided = {"excused": [{"student": "ada", "assignment": "silu", "reason": "ill", "by": "T. Assistant"}]}
    found = graded(late(**decided), hand_in(1, 0), hand_in(2, 0, 50, "gemm"))
    assert (found.points, found.max_score) == (50, 200)
    assert [step.text for step in found.lines[0].steps[1:]] == ["excused by T. Assistant, in place of 60: ill"]


@pytest.mark.parametrize(("zone", "local", "utc"), [
    ("Europe/Berlin", "2026-10-01T23:59:00", "2026-10-01T21:59:00"),
    ("Europe/Berlin", "2026-12-01T23:59:00", "2026-12-01T22:59:00"),
    ("Europe/Berlin", "2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00"),
    ("Europe/Berlin", "2026-03-29T03:00:00", "2026-03-29T01:00:00"),
    ("America/New_York", "2026-10-01T23:59:00-07:00", "2026-10-02T06:59:00"),
])
def test_deadlines_have_a_zone(zone: str, local: str, utc: str) -> None:
    policy = LatePolicy(zone=zone, deadlines={"silu": datetime.datetime.fromisoformat(local)})
    assert policy.deadline("ada", "silu") == datetime.datetime.fromisoformat(f"{utc}+00:00")


@pytest.mark.parametrize(("deadline", "handed_in", "fields", "expected", "step"), [
    # A day of 25 hours, and one of 23.
    ("2026-10-24T20:00:00", "2026-10-25T19:30:00+01:00", {}, 54, "24 h 30 min after 2026-10-24T20:00:00+02:00"),
    ("2026-10-24T20:00:00", "2026-10-25T20:00:00+01:00", {}, 54, "1 day after 2026-10-24T20:00:00+02:00"),
    ("2026-10-24T20:00:00", "2026-10-25T20:00:01+01:00", {}, 48, "1 day 1 s after 2026-10-24T20:00:00+02:00"),
    ("2026-10-24T20:00:00", "2026-10-25T19:30:00+01:00", {"grace_days": 1}, 60, "1 grace day: 0 s late"),
    ("2026-10-24T20:00:00", "2026-10-26T08:00:00+01:00", {"grace_days": 1}, 54, "1 grace day: 12 h late"),
    ("2026-10-24T20:00:00", "2026-10-25T07:30:00+01:00", {"by": "linear"}, 57, "5 % off: 0.5 days at 10 % each"),
    ("2026-03-28T20:00:00", "2026-03-29T19:30:00+02:00", {}, 54, "22 h 30 min after 2026-03-28T20:00:00+01:00"),
    ("2026-03-28T20:00:00", "2026-03-29T20:30:00+02:00", {}, 48, "1 day 30 min after 2026-03-28T20:00:00+01:00"),
    # The next day's 02:30 is skipped, or comes twice: until the later moment.
    ("2026-03-28T02:30:00", "2026-03-29T03:30:00+02:00", {}, 54, "1 day after 2026-03-28T02:30:00+01:00"),
    ("2026-10-24T02:30:00", "2026-10-25T02:30:00+01:00", {}, 54, "1 day after 2026-10-24T02:30:00+02:00"),
    ("2026-10-24T20:00:00+02:00", "2026-10-25T19:30:00+01:00", {"zone": None}, 48,
     "1 day 30 min after 2026-10-24T18:00:00+00:00"),
])
def test_days_are_those_of_the_courses_clock(
    deadline: str, handed_in: str, fields: dict[str, Any], expected: float, step: str
) -> None:
    due = datetime.datetime.fromisoformat(deadline)
    policy = late(**{"percent": 10, "zone": "Europe/Berlin", "deadlines": {"silu": due}, **fields})
    hours = (datetime.datetime.fromisoformat(handed_in) - DUE) / datetime.timedelta(hours=1)
    line = graded(policy, hand_in(1, hours)).lines[0]
    assert line.points == expected and step in [step.text for step in line.steps]


WRONG = beside(__file__)


@pytest.mark.parametrize(("text", "says"), WRONG.values(), ids=WRONG)
def test_a_policy_that_is_wrong_is_one_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "course.toml").write_text(f'assignments = ["silu", "gemm"]\n[late]\n{text}\n')
    with pytest.raises(UserError) as info:
        read_course(tmp_path / "course.toml", frozenset(NAMES))
    assert says in str(info.value) and len(str(info.value).splitlines()) == 1


HOURS = st.one_of(st.none(), st.integers(-50, 200), st.floats(-50, 200))
POLICIES = st.fixed_dictionaries({
    "count": st.sampled_from(["latest", "best"]), "by": st.sampled_from(["day", "linear"]),
    "percent": st.sampled_from([0, 5, 10, 33.3, 100]), "most": st.sampled_from([0, 30, 100]),
    "cap": st.sampled_from([0, 50, 80, 100]), "grace_days": st.integers(0, 4)})
MADE = st.lists(st.tuples(st.sampled_from(NAMES), HOURS, st.integers(0, 100)), max_size=6)


def work_of(made: list[tuple[str, float | None, int]]) -> list[SelectedAttempt]:
    return [hand_in(number, hours, got, name) for number, (name, hours, got) in enumerate(made, 1)]


@given(POLICIES, MADE)
def test_a_grade_is_never_negative_never_above_its_cap_and_spends_no_more_than_there_is(
    policy: dict[str, Any], made: list[tuple[str, float | None, int]]
) -> None:
    rules = late(**policy)
    found = graded(rules, *work_of(made))
    assert found.grace_days <= rules.grace_days
    for line in found.lines:
        raw = [got for name, _, got in made if name == line.assignment]
        assert line.points is None if not raw else 0 <= (line.points or 0) <= max(raw)
        hours = [when for name, when, _ in made if name == line.assignment]
        if raw and all(when is not None and when > 24 * rules.grace_days for when in hours):
            assert line.points is not None and line.points <= rules.cap


@given(POLICIES, MADE, st.data())
def test_more_points_are_never_less(
    policy: dict[str, Any], made: list[tuple[str, float | None, int]], data: st.DataObject
) -> None:
    before = graded(late(**policy), *work_of(made)).points
    better = [(name, hours, data.draw(st.integers(got, 100))) for name, hours, got in made]
    assert graded(late(**policy), *work_of(better)).points >= before


@settings(max_examples=300)
@given(POLICIES, MADE, st.sampled_from([None, *NAMES]), st.integers(1, 300))
def test_an_extension_never_hurts(
    policy: dict[str, Any], made: list[tuple[str, float | None, int]], name: str | None, hours: int
) -> None:
    until = {"student": "ada", "assignment": name, "until": DUE + datetime.timedelta(hours=hours)}
    without, with_ = late(**policy), late(**policy, extensions=[until])
    assert graded(with_, *work_of(made)).points >= graded(without, *work_of(made)).points


@given(POLICIES, MADE, st.integers(0, 300))
def test_a_later_deadline_never_hurts_and_one_moved_back_and_forth_is_as_if_it_had_not_been(
    policy: dict[str, Any], made: list[tuple[str, float | None, int]], hours: int
) -> None:
    first = graded(late(**policy), *work_of(made))
    moved = late(**policy, deadlines=dict.fromkeys(NAMES, DUE + datetime.timedelta(hours=hours)))
    assert graded(moved, *work_of(made)).points >= first.points
    assert graded(late(**policy), *work_of(made)) == first


@given(POLICIES, MADE)
def test_the_order_of_recording_does_not_matter_where_times_are_known(
    policy: dict[str, Any], made: list[tuple[str, float | None, int]]
) -> None:
    # Each at a time of its own.
    known: list[tuple[str, float | None, int]] = [
        (name, (hours or 0) + number / 9, got) for number, (name, hours, got) in enumerate(made)]
    assert graded(late(**policy), *work_of(known)).points == graded(late(**policy), *reversed(work_of(known))).points


def test_a_groups_work_counts_for_each_with_days_of_their_own_and_the_roster_is_complete() -> None:
    group = [hand_in(1, 20, 60, members=("Ada", "bob"))]
    roster = [Student("ada", late_days=1), Student("carol")]
    found = class_grades(group, roster, late(percent=10), dict.fromkeys(NAMES, 100.0), {})
    assert [(grade.student, grade.points) for grade in found] == [("ada", 60), ("carol", 0), ("bob", 54)]
    assert found[1].lines[0].points is None


def test_grades_under_another_course_file_are_marked(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        fields: dict[str, Any] = {"verdict": "accepted", "score": 60, "max_score": 100}
        add(store, draft(rules="old", **fields), draft(student="bob", **fields))
    policy = read_course_of(tmp_path, "")
    marked = {one.student: [line.other_course for line in one.lines] for one in grades(stands_in(tmp_path), policy)}
    assert marked == {"ada": [True], "bob": [False]}


def read_course_of(folder: Path, text: str) -> Any:
    (folder / "course.toml").write_text(text)
    return read_course(folder / "course.toml", frozenset(NAMES))


STEPS = """silu
         80  80 of 100 points, accepted, the last of 2 hand-ins (2026-10-02T12:00:00+02:00)
         80  12 h 1 min after 2026-10-01T23:59:00+02:00
         72  10 % off: 1 day at 10 % each
ada: 72 of 100
"""


def test_explain_grade_prints_every_step(tmp_path: Path) -> None:
    made: dict[str, Any] = {"verdict": "accepted", "max_score": 100}
    with Store.create(tmp_path) as store:
        add(store, draft(submission="1", submitted_at="2026-09-30T12:00:00+02:00", score=60, **made),
            draft(submission="2", submitted_at="2026-10-02T12:00:00+02:00", score=80, **made))
    (tmp_path / "course.toml").write_text(
        'assignments = ["silu"]\n[late]\nzone = "Europe/Berlin"\npercent = 10\n[late.deadlines]\n'
        "silu = 2026-10-01T23:59:00\n")
    asked = ("--out", tmp_path, "--course", tmp_path / "course.toml")
    result = kernelmark("explain-grade", "ada", *asked)
    assert (result.returncode, result.stdout, result.stderr) == (0, STEPS, "")
    assert kernelmark("explain-grade", *asked).stdout == "ada: 72 of 100\n"
    (tmp_path / "roster.csv").write_text("id,late_days\nada,1\neve,\n")
    result = kernelmark("explain-grade", *asked, "--roster", tmp_path / "roster.csv")
    assert result.stdout == "ada: 80 of 100, 1 of 1 grace days used\neve: 0 of 100\n"
    refused("'mallory': no such student", "explain-grade", "mallory", *asked)


def test_of_a_kernel_that_failed_explain_grade_shows_the_change_that_mends_it(tmp_path: Path) -> None:
    result = samples.result("ada", {"silu": "wrong_answer", "gemm": "wrong_answer"})
    result.assignments["silu"].repair = samples.REPAIR
    with Store.create(tmp_path) as store:
        for name in ("silu", "gemm"):
            add(store, draft(name, verdict="wrong_answer", max_score=100), result=with_assignments(
                result, {name: result.assignments[name]}))
    process = kernelmark("explain-grade", "ada", "--out", tmp_path)
    taken, added = samples.REPAIR.diff.splitlines()
    assert process.returncode == 0 and f"\n             {taken}\n             {added}\n" in process.stdout
    # Once, where there is one.
    assert process.stdout.count("makes every case right") == 1
    assert "makes every case right" not in kernelmark("explain-grade", "--out", tmp_path).stdout


def test_a_student_is_found_by_folder_and_by_id(tmp_path: Path) -> None:
    made: dict[str, Any] = {"slug": "byronada_7", "student": "byronada_7", "members": ("ada", "bob"), "score": 60,
                            "verdict": "accepted", "max_score": 100}
    with Store.create(tmp_path) as store:
        add(store, draft(**made))
        add(store, draft(**made | {"score": 90}))
    asked = ("--out", tmp_path)
    for name in ("byronada_7", "ada", "ADA"):
        assert kernelmark("diff", *asked, "--student", name).stdout.count("(+30)") == 1
        assert "ada (byronada_7): 60 of 100" in kernelmark("explain-grade", name, *asked).stdout
    bob = kernelmark("explain-grade", "bob", *asked).stdout
    assert bob.endswith("\nbob (byronada_7): 60 of 100\n") and "ada (" not in bob
    both = kernelmark("explain-grade", "byronada_7", *asked).stdout
    assert "\nada (byronada_7): 60" in both and "\nbob (byronada_7): 60" in both
    for verb in ("diff", "apply"):
        result = kernelmark(verb, *asked, "--student", "mallory")
        assert result.returncode == 2 and "--student 'mallory': no such student" in result.stderr and not result.stdout
    assert kernelmark("apply", *asked, "--student", "bob").stdout.startswith("1 newer attempt counts now")


def test_who_is_named_and_has_no_grade_is_told(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        add(store, draft(verdict="accepted", score=60, max_score=100))
    (tmp_path / "course.toml").write_text(
        '[[late.extensions]]\nstudent = "Ada"\nuntil = 2026-10-08T23:59:00Z\n'
        '[[late.excused]]\nstudent = "adda"\nassignment = "silu"\nreason = "ill"\nby = "me"\n'
        '[late.deadlines]\nsilu = 2026-10-01T12:00:00Z\n')
    done = kernelmark("explain-grade", "--out", tmp_path, "--course", tmp_path / "course.toml")
    assert done.returncode == 0 and done.stderr.count("names") == 1 and "[late] names 'adda', who has no" in done.stderr


def test_what_stands_for_policy_is_what_was_applied(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        fields: dict[str, Any] = {"verdict": "accepted", "max_score": 100}
        attempts = add(store, draft(score=60, **fields), draft(score=90, **fields))
        assert [grade.points for grade in grades(stands_in(tmp_path), read_course_of(tmp_path, ""))] == [60]
        store.decide(attempts[1:])
    assert [grade.points for grade in grades(stands_in(tmp_path), read_course_of(tmp_path, ""))] == [90]
