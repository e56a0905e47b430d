"""Hints that are true: what students get wrong, and what they are told of it.

Each member of `tests/submissions/wrong_answer` and `runtime_error` is a mistake. A line `# expect: words` in its file
names words that the message or the hint of its assignment must hold, `# never: words` those that nothing it is told may
hold. `# proved: words` must stand in what is told of a change that mends it, where that change names the mistake and no
hint has to. A member is simulated with the contents of one of two seeds, in `make test-all` with those of the other and
of a third as well: all must get the hint that tests/verdicts.json has kept.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from grader.home import ROOT
from grader.judge.checks import SOURCE, TARGET, case_check, results
from grader.judge.explain import explain_assignment
from grader.judge.explain.summary import Summary
from grader.judge.inputs import Draws
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
from tests.members import notes, repeats, whole

HERE = Path(__file__).parent / "submissions"
VERDICTS = ("wrong_answer", "runtime_error")
MEMBERS = sorted(path for verdict in VERDICTS for path in (HERE / verdict).iterdir() if path.is_dir())
SEEDS = b"one", b"two", b"three"
COURSE = read_course(ROOT / "course.toml", frozenset(assignments())).model_copy(update={
    "limits": LimitsTable(call_seconds=10, assignment_seconds=60, memory_mb=2048)})
SMALL = 1 << 17
"""Multiply-adds or elements of a case that shows most mistakes; larger ones are graded where it shows none."""
# A change of each of these kinds is looked for every time, where it is found soonest; `make test-all` looks in all.
SEARCHED = {
    "extra": "silu_arange_with_a_step", "comparison": "silu_less_or_equal", "mask": "silu_missing_mask",
    "operator": "silu_floats_divided_by_floor", "grid": "silu_called_without_grid",
    "place": "copy_first_column_host_pointer", "name": "silu_row_stride", "function": "silu_subscripts_a_pointer",
}  # fmt: skip
# Of files in a language that is compiled first, those that say so.
MENDED = [path for path in MEMBERS if any(path.glob("*.py")) or any(
    "// proved: " in file.read_text(encoding="utf-8", errors="replace") for file in path.glob("*.cu"))]
LEAST = 120, 20
"""Mistakes in all, and for each assignment of the course."""


def graded(
    folder: Path, file: str, seeds: Sequence[bytes]
) -> tuple[str, list[tuple[Summary, list[CheckResult]]]]:
    """The text of a member's file, and what is said of it for each seed."""
    assignment = assignments()[FILES[file]]
    source = read_source_file(whole(folder), file, 1 << 20)
    prepared = Prepared(Task(assignment, source, COURSE, SEEDS[0], "cpu"))
    told = []
    for seed in seeds:
        prepared.draws = Draws(assignment, SEEDS[0], cuda=False, contents=seed)
        told.append(_checked(prepared))
    return (source.content or b"").decode("utf-8", "replace"), told


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


def _seeded(folder: Path) -> list[ParameterSet]:
    """A member with the seed of every time, by its name, and with the others."""
    first = zlib.crc32(folder.name.encode()) % 2
    full, name = pytest.mark.full, f"{folder.parent.name}/{folder.name}"
    return [pytest.param(folder, SEEDS[first:first + 1], id=name, marks=[full] * repeats("hinted", folder)),
            pytest.param(folder, (SEEDS[1 - first], SEEDS[2]), id=f"{name}-others", marks=full)]


@pytest.mark.parametrize(("folder", "seeds"), [one for path in MEMBERS for one in _seeded(path)])
def test_a_mistake_is_named_and_nothing_else(folder: Path, seeds: tuple[bytes, ...], got: Taking) -> None:
    found = {}
    for file in (one.name for one in folder.iterdir() if one.name in FILES):
        text, told = graded(folder, file, seeds)
        must, never, proof = (notes(text, word) for word in ("expect", "never", "proved"))
        assert must or proof, f"{file}: a line `# expect: words` or `# proved: words` expected"
        for summary, checks in told:
            said = f"{summary.message} {summary.hint}".lower()
            assert decisive(checks)[0] == folder.parent.name, said
            assert [words for words in must if words.lower() not in said] == [], said
            assert [words for words in never if words.lower() in said] == [], said
        hints = {Got.of(folder.parent.name, None, summary.hint) for summary, _ in told}
        assert len(hints) == 1, [one.hint for one, _ in told]
        found[name_of("hinted", folder, FILES[file])] = hints.pop()
    got(found)


@pytest.mark.parametrize("folder", [
    pytest.param(path, id=f"{path.parent.name}/{path.name}",
                 marks=[pytest.mark.full] * (path.name not in SEARCHED.values()))
    for path in MENDED])
def test_a_change_that_mends_a_mistake_mends_it_for_another_seed(folder: Path) -> None:
    for file in (one.name for one in folder.iterdir() if one.name in FILES):
        assignment, source = assignments()[FILES[file]], read_source_file(whole(folder), file, 1 << 20)
        first, second = (Prepared(Task(assignment, source, COURSE, seed, "cpu")) for seed in SEEDS[:2])
        found = repaired(first, _checked(first)[1])
        must = notes((source.content or b"").decode("utf-8", "replace"), "proved")
        assert [words for words in must if found is None or words not in found.told] == [], found
        if folder.name in SEARCHED.values():
            assert found is not None and SEARCHED[found.kind] == folder.name, found
        checks = _checked(second)[1]
        if found is None or (case := failed_case(second, checks)) is None:
            continue
        changed = next(text for edit in Trial(first, case).edits()
                       if difference(first.task.text, text := edited(first.task.text, edit)) == found.diff)
        assert proved(second, case, changed), found


def test_each_assignment_of_the_course_has_its_mistakes() -> None:
    of = Counter(FILES[one.name] for folder in MEMBERS for one in folder.iterdir() if one.name in FILES)
    course = COURSE.assignments or ()
    assert sum(of[name] for name in course) >= LEAST[0] and min(of[name] for name in course) >= LEAST[1], of
