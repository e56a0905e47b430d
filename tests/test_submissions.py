"""Whole submissions get the verdict that their name begins with: members of `tests/submissions/`.

The real judge decides, in real workers. A note `expect` has words that a member's hint or message must hold. Honest
members must also come out with full points and no flag but those of a note `flag`.
"""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grader.course.catalogue import assignments
from grader.course.course import LimitsTable
from grader.home import ROOT
from grader.judging import case as judged_case
from grader.judging.explain import ExplainedCall, accesses, explain_case
from grader.results.result import Detail
from grader.results.verdicts import VERDICTS as ROWS
from tests import members
from tests.corpus import MemberOutcome, Taking, name_of
from tests.graded import needs_numba, results, told, unfit
from tests.languages.cuda.compiling import needs_nvcc
from tests.members import Member

# Hostile ones are told apart by what they try, and graded by tests/test_hostile.py.
HONEST = [member for member in members.select() if member.verdict != "hostile"]
# Mistakes are many, and tests/test_hints.py judges them: here some of one assignment are graded to the end.
MISTAKES = {"wrong_answer": "silu_grid_", "runtime_error": "transpose_s"}
MEMBERS = [member for member in HONEST if member.title.startswith(MISTAKES.get(member.verdict, ""))]
# The assembler takes half a minute for their largest kernel.
SLOW = {"rmsnorm_matrix_stages_that_fit", "rmsnorm_matrix_tile_of_rows"}
# Those that must be accepted are, whatever Triton is installed.
CASES = [pytest.param(member, id=member.name,
                      marks=[pytest.mark.newest] * (member.verdict == "accepted" and member.title not in SLOW))
         for member in MEMBERS]
LIMITS = LimitsTable(call_seconds=10, assignment_seconds=40, memory_mb=2048)
# Endless loops are ended by the judge: no need to wait as long as for an honest student.
BRIEF = LimitsTable(call_seconds=2, assignment_seconds=6, memory_mb=2048)
# The reference kernels use at most half of the error allowed: an honest kernel of another make has room.
WORST_RATIO = 0.5
AT_LEAST = {"accepted": 15, "wrong_answer": 30, "policy_violation": 15}


@pytest.fixture
def accused(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the loads and stores of the kernels that are graded would be blamed for, were an answer wrong."""
    found: list[str] = []

    def listen(called: ExplainedCall, *compared: Any) -> Detail | None:
        if (blamed := accesses.misplaced(called.accesses)) is not None:
            found.append(f"{called.case.name}: {blamed.text}")
        return explain_case(called, *compared)

    monkeypatch.setattr(judged_case, "explain_case", listen)
    return found


@pytest.mark.parametrize("member", CASES)
def test_verdict(member: Member, accused: list[str], got: Taking) -> None:
    if reason := unfit(member.folder()):
        pytest.skip(reason)
    limits = BRIEF if member.verdict == "time_limit" else LIMITS
    found = results(member.folder(), limits)
    for result in found.values():
        output = told(result)
        assert result.verdict == member.verdict, output
        for words in member.notes("expect"):
            assert words.lower() in output.lower(), output
        if result.verdict == "accepted":
            assert result.score == result.correctness.max_points
            assert [flag.what for flag in result.flags] == member.notes("flag")
            assert not [words for words in member.notes("never") if words in output], output
            assert not accused
        else:
            assert result.score == 0 and result.message
        if result.verdict == "policy_violation":
            (flag,) = result.flags
            assert flag.points == result.correctness.max_points
            assert f"against the rules of the course and costs {flag.points:g} points" in result.message
            # A line of code, in a function.
            assert flag.place is not None and member.source.splitlines()[flag.place.line - 1].startswith("    "), output
        else:
            assert "policy" not in output and not [flag for flag in result.flags if flag.points]
    got({name_of("graded", member, name): MemberOutcome.of(assignment.verdict, assignment.score, assignment.hint)
         for name, assignment in found.items()})


def test_the_corpus_is_large_enough_and_named_by_verdicts() -> None:
    counts = Counter(member.verdict for member in HONEST)
    assert set(counts) <= set(ROWS)
    for verdict, least in AT_LEAST.items():
        assert counts[verdict] >= least, counts


@pytest.mark.parametrize("folder", [
    pytest.param("reference", marks=pytest.mark.newest), pytest.param("reference/numba", marks=needs_numba)])
def test_the_references_get_full_marks(folder: str, accused: list[str]) -> None:
    for name, result in results(ROOT / folder, LIMITS).items():
        assert result.verdict == "accepted", (name, told(result))
        assert result.score == result.correctness.max_points and not result.flags
        ratios = {check.case: check.worst_ratio for check in result.correctness.checks}
        assert all(ratio is None or ratio <= WORST_RATIO for ratio in ratios.values()), ratios
    assert not accused


@pytest.mark.parametrize("folder", [
    "student_template", pytest.param("student_template/cuda", marks=needs_nvcc),
    pytest.param("student_template/numba", marks=needs_numba)])
def test_the_template_is_not_attempted_yet(folder: str, tmp_path: Path) -> None:
    for file in (ROOT / folder).iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    found = results(tmp_path, LIMITS)
    assert len(found) == len(assignments())
    for name, result in found.items():
        assert (result.verdict, result.score) == ("missing", 0), (name, told(result))
        assert "not_attempted" in {check.detail.kind for check in result.correctness.checks if check.detail}
