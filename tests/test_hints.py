"""Hints that are true: what students get wrong, and what they are told of it.

Each member of `tests/submissions/wrong_answer` and `runtime_error` is a mistake. A line `# expect: words` in its file
names words that the message or the hint of its assignment must hold, `# never: words` those that nothing it is told may
hold. `# proved: words` must stand in what is told of a change that mends it, where that change names the mistake and no
hint has to. A member must get the hint that tests/verdicts.json has kept. Members with such a note, and a sample of the
others, are judged again under a second seed in `make test-all`, and searched for a change. One that mends a member of
the sample is held against a third.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest

from grader.home import ROOT
from grader.judge.checks import SOURCE, TARGET, case_check, results
from grader.judge.explain import explain_assignment
from grader.judge.explain.summary import Summary
from grader.judge.judge import judge
from grader.judge.prepared import Prepared, Task
from grader.judge.repair import repaired
from grader.judge.repair.proof import proved
from grader.judge.repair.search import failed_case
from grader.judge.repair.trial import Trial
from grader.model.catalogue import assignments
from grader.model.course import LimitsTable, read_course
from grader.model.result import CheckResult, decisive
from grader.model.submission import read_source_file
from grader.plan.edits import difference, edited
from tests.corpus import Got, Taking, name_of
from tests.graded import FILES
from tests.members import notes, whole

HERE = Path(__file__).parent / "submissions"
VERDICTS = ("wrong_answer", "runtime_error")
MEMBERS = sorted(path for verdict in VERDICTS for path in (HERE / verdict).iterdir() if path.is_dir())
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
SAMPLED = 32
"""One in so many of the members without a note of a change is judged again and searched all the same."""
MENDED = [path for path in MEMBERS if path.name in SEARCHED.values() or zlib.crc32(path.name.encode()) % SAMPLED == 0
          or any("# proved: " in text or "// proved: " in text for text in (
              file.read_text(encoding="utf-8", errors="replace") for file in path.iterdir() if file.is_file()))]
LEAST = 120, 20
"""Mistakes in all, and for each assignment of the course."""


class Judged(NamedTuple):
    """A member's file under one seed: the task, its checks, and its hint."""

    prepared: Prepared
    checks: list[CheckResult]
    got: Got


def prepared_for(folder: Path, file: str, seed: bytes) -> Prepared:
    """A file of a member, ready to be judged."""
    source = read_source_file(whole(folder), file, 1 << 20)
    return Prepared(Task(assignments()[FILES[file]], source, COURSE, seed, "cpu"))


def judged(folder: Path, file: str, seed: bytes) -> Judged:
    """Judge a file of a member, and hold what is said of it against the file's notes."""
    prepared = prepared_for(folder, file, seed)
    summary, checks = _checked(prepared)
    must, never, proof = (notes(prepared.task.text, word) for word in ("expect", "never", "proved"))
    assert must or proof, f"{file}: a line `# expect: words` or `# proved: words` expected"
    said = f"{summary.message} {summary.hint}".lower()
    assert decisive(checks)[0] == folder.parent.name, said
    assert [words for words in must if words.lower() not in said] == [], said
    assert [words for words in never if words.lower() in said] == [], said
    return Judged(prepared, checks, Got.of(folder.parent.name, None, summary.hint))


def _checked(prepared: Prepared) -> tuple[Summary, list[CheckResult]]:
    assignment = prepared.task.assignment
    small, large = ([case_check(case) for case in assignment.cases_for("cpu")
                     if (math.prod(case.sizes.values()) > SMALL) == which] for which in (False, True))
    found: list[CheckResult] = []
    with closing(judge(prepared, (SOURCE, *small, *large, TARGET))) as judged:
        # Small cases show most, and the target alone what is wrong at sizes that only a GPU runs.
        for some in ([SOURCE], small, large, [TARGET]):
            found += results(islice(judged, len(some)))
            if decisive(found)[0] is not None:
                break
    return explain_assignment(assignment, found), found


@pytest.mark.parametrize("folder", [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in MEMBERS])
def test_a_mistake_is_named_and_nothing_else(folder: Path, got: Taking) -> None:
    got({name_of("hinted", folder, FILES[file]): judged(folder, file, SEEDS[0]).got for file in _files(folder)})


@pytest.mark.parametrize("folder", [
    pytest.param(path, id=f"{path.parent.name}/{path.name}", marks=[pytest.mark.full] * (path.name not in EVERY_TIME))
    for path in MENDED])
def test_it_is_under_another_seed_and_a_change_mends_it(folder: Path, got: Taking) -> None:
    for file in _files(folder):
        first = judged(folder, file, SEEDS[1])
        got({name_of("hinted", folder, FILES[file]): first.got})
        found = repaired(first.prepared, first.checks)
        text = first.prepared.task.text
        assert [words for words in notes(text, "proved") if found is None or words not in found.told] == [], found
        if folder.name in SEARCHED.values():
            assert found is not None and SEARCHED[found.kind] == folder.name, found
        case = failed_case(first.prepared, first.checks)
        if found is None or case is None or notes(text, "proved"):
            continue
        changed = next(one for edit in Trial(first.prepared, case).edits()
                       if difference(text, one := edited(text, edit)) == found.diff)
        assert proved(prepared_for(folder, file, SEEDS[2]), case, changed), found


def _files(folder: Path) -> list[str]:
    found = [one.name for one in folder.iterdir() if one.name in FILES]
    assert found, f"{folder}: no file of an assignment"
    return found


def test_each_assignment_of_the_course_has_its_mistakes() -> None:
    of = Counter(FILES[one.name] for folder in MEMBERS for one in folder.iterdir() if one.name in FILES)
    course = COURSE.assignments or ()
    assert sum(of[name] for name in course) >= LEAST[0] and min(of[name] for name in course) >= LEAST[1], of
