"""Hints that are true: what students get wrong, and what they are told of it.

Each member of `tests/submissions/` that must get `wrong_answer` or `runtime_error` is a mistake. Its notes `expect` are
words that the message or the hint of its assignment must hold, `never` those that nothing it is told may hold. `proved`
must stand in what is told of a change that mends it, where that change names the mistake and no hint has to. A member
must get the hint that tests/verdicts.json has kept. For members with such a note, and for a sample of the others, `make
test-all` also looks for a change, under another seed: the whole search for one in so many of them, for the rest the
changes alone of which the note's words would be told.
"""

import math
import zlib
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from functools import partialmethod
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest

from grader.course.catalogue import assignments
from grader.course.course import LimitsTable, read_course
from grader.course.submission import read_source_file
from grader.home import ROOT
from grader.judging.checks import SOURCE, TARGET, case_check, results
from grader.judging.explain import explain_assignment
from grader.judging.explain.summary import Summary
from grader.judging.explain.wording import say
from grader.judging.judge import judge
from grader.judging.prepared import PreparedTask, Task
from grader.judging.repair import repaired
from grader.judging.repair.proof import proved
from grader.judging.repair.search import failed_case
from grader.judging.repair.trial import Trial
from grader.judging.repair.words import change_fact
from grader.languages import by_suffix
from grader.plan.edits import Edit, difference, edited
from grader.plan.plan import Malformed
from grader.results.result import CheckResult, decisive
from tests.corpus import MemberOutcome, Taking, name_of
from tests.graded import FILES, unfit
from tests.members import Member, select

MEMBERS = select("wrong_answer", "runtime_error")
SEEDS = b"one", b"two", b"three"
COURSE = read_course(ROOT / "course.toml", frozenset(assignments())).model_copy(update={
    "limits": LimitsTable(call_seconds=40, assignment_seconds=150, memory_mb=2048)})
SMALL = 1 << 17
"""Multiply-adds or elements of a case that shows most mistakes; larger ones are graded where it shows none."""
# A change of each of these kinds is found soonest in these members.
SEARCHED = {
    "extra": "silu_arange_with_a_step", "comparison": "silu_less_or_equal", "mask": "silu_missing_mask",
    "operator": "silu_floats_divided_by_floor", "grid": "silu_called_without_grid",
    "place": "copy_first_column_host_pointer", "name": "silu_row_stride", "function": "silu_subscripts_a_pointer",
}  # fmt: skip
EVERY_TIME = {SEARCHED[kind] for kind in ("comparison", "place")}
SAMPLED, WHOLE, CUDA = 64, 16, 2
"""One in SAMPLED of the members without a note of a change is searched all the same, and one in CUDA of those in CUDA
C++ with a note, whose builds take long; one in WHOLE of those with a note is searched as a whole."""


def _sampled(member: Member, one_in: int) -> bool:
    return member.title in SEARCHED.values() or zlib.crc32(member.title.encode()) % one_in == 0


MENDED = [member for member in MEMBERS if _sampled(member, SAMPLED)
          or (member.notes("proved") and (not member.title.startswith("cuda_") or _sampled(member, CUDA)))]
EVERY_EDIT = Trial.edits
LEAST = 120, 20
"""Mistakes in all, and for each assignment of the course."""


class JudgedMember(NamedTuple):
    """A member's file under one seed: the task, its checks, and its hint."""

    prepared: PreparedTask
    checks: list[CheckResult]
    got: MemberOutcome


def prepared_for(member: Member, file: str, seed: bytes) -> PreparedTask:
    """A file of a member, ready to be judged."""
    source = read_source_file(member.folder(), file, 1 << 20)
    return PreparedTask(Task(assignments()[FILES[file]], source, COURSE, seed, "cpu"))


def judged(member: Member, file: str, seed: bytes) -> JudgedMember:
    """Judge a file of a member, and hold what is said of it against the member's notes."""
    prepared = prepared_for(member, file, seed)
    summary, checks = _checked(prepared)
    must, never, proof = (member.notes(word) for word in ("expect", "never", "proved"))
    assert must or proof, f"{member.name}: give it a note `expect` or `proved`"
    output = f"{summary.message} {summary.hint}".lower()
    assert decisive(checks)[0] == member.verdict, output
    assert [words for words in must if words.lower() not in output] == [], output
    assert [words for words in never if words.lower() in output] == [], output
    return JudgedMember(prepared, checks, MemberOutcome.of(member.verdict, None, summary.hint))


def _checked(prepared: PreparedTask) -> tuple[Summary, list[CheckResult]]:
    assignment = prepared.task.assignment
    small, large = ([case_check(case) for case in assignment.cases_for("cpu")
                     if (math.prod(case.sizes.values()) > SMALL) == which] for which in (False, True))
    checks: list[CheckResult] = []
    with closing(judge(prepared, (SOURCE, *small, *large, TARGET))) as outcomes:
        # Small cases show most, and the target alone what is wrong at sizes that only a GPU runs.
        for some in ([SOURCE], small, large, [TARGET]):
            checks += results(islice(outcomes, len(some)))
            if decisive(checks)[0] is not None:
                break
    return explain_assignment(assignment, checks), checks


@pytest.mark.parametrize("member", [pytest.param(member, id=member.name) for member in MEMBERS if member not in MENDED])
def test_a_mistake_is_named_and_nothing_else(member: Member, got: Taking) -> None:
    if reason := unfit(member.folder()):
        pytest.skip(reason)
    got({name_of("hinted", member, FILES[file]): judged(member, file, SEEDS[0]).got for file in _files(member)})


@pytest.mark.parametrize("member", [
    pytest.param(one, id=one.name, marks=[pytest.mark.full] * (one.title not in EVERY_TIME)) for one in MENDED])
def test_a_mistake_is_named_and_a_change_mends_it(
    member: Member, got: Taking, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in _files(member):
        first = judged(member, file, SEEDS[1])
        got({name_of("hinted", member, FILES[file]): first.got})
        text, case = first.prepared.task.text, failed_case(first.prepared, first.checks)
        words = member.notes("proved")

        if words and not _sampled(member, WHOLE):
            monkeypatch.setattr(Trial, "edits", partialmethod(_told_so, text, Path(file).suffix, words))
        repair = repaired(first.prepared, first.checks)
        assert [word for word in words if repair is None or word not in repair.told] == [], repair
        if member.title in SEARCHED.values():
            assert repair is not None and SEARCHED[repair.kind] == member.title, repair
        if repair is None or case is None or words:
            continue
        changed = next(one for edit in EVERY_EDIT(Trial(first.prepared, case))
                       if difference(text, one := edited(text, edit)) == repair.diff)
        assert proved(prepared_for(member, file, SEEDS[2]), case, changed), repair


def _told_so(trial: Trial, text: str, suffix: str, words: list[str], lines: Sequence[int] = ()) -> list[Edit]:
    """The edits of a trial that would be told in these words; all of them, if none would."""
    edits = EVERY_EDIT(trial, lines)
    return [edit for edit in edits if _would_tell(text, suffix, edit, words)] or edits


def _would_tell(text: str, suffix: str, edit: Edit, words: list[str]) -> bool:
    try:
        sentence = say(by_suffix(suffix).phrases, change_fact(text, [edit], "edit"))
    except Malformed:
        return False
    return all(word in sentence for word in words)


def _files(member: Member) -> list[str]:
    found = [file for file in member.files if file in FILES]
    assert found, f"{member.name}: no file of an assignment"
    return found


def test_each_assignment_of_the_course_has_its_mistakes() -> None:
    of = Counter(FILES[file] for member in MEMBERS for file in member.files if file in FILES)
    course = COURSE.assignments or ()
    assert sum(of[name] for name in course) >= LEAST[0] and min(of[name] for name in course) >= LEAST[1], of
