"""Judgements that only a GPU can make: how much of the sizes for one is looked at without it, inline assembly, and
kernels that compile for long. Submissions that are wrong at such sizes alone are in `hostile/weak_inputs`."""

import shutil
from pathlib import Path

import pytest

from grader.course.catalogue import assignments
from grader.course.course import LimitsTable, Policy
from grader.home import ROOT
from grader.judging.evidence.large import sampling_note
from grader.judging.evidence.sampling import LATE, SLOW, SampledCase
from grader.judging.plans import toolchain
from grader.judging.running.time_budget import TimeBudget
from grader.languages.triton.phrases import PHRASES
from grader.sandbox.forkserver.conversation import LostAnswer
from tests.graded import results, told
from tests.members import Member
from tests.rows import beside


@pytest.mark.parametrize(("folder", "name", "said"), [
    (ROOT / "reference", "transpose", "of 16,384 programs of 8192x8192"),
    (ROOT / "reference", "rmsnorm_matrix", "of 257 programs of 257x30011"),
    (Member("accepted/copy_first_column_copy").folder(), "copy_first_column",
     "Run here as a whole: 1000003x17-bits, 8192x8192,"),
    # Rows and columns of a product are taken in blocks.
    (Member("accepted/gemm_plain").folder(), "gemm", "programs of 2048x1999x2053"),
    (Member("accepted/gemm_tuned_split_k").folder(), "gemm", "(its programs read what others have stored"),
    (Member("accepted/rmsnorm_vector_two_kernels").folder(), "rmsnorm_vector",
     "(each element of the answer depends on all of the input)"),
])
def test_the_result_says_what_was_looked_at(tmp_path: Path, folder: Path, name: str, said: str) -> None:
    shutil.copy(folder / assignments()[name].file, tmp_path)
    (assignment,) = results(tmp_path, LimitsTable()).values()
    (note,) = [check.note for check in assignment.correctness.checks if check.stage == "target"]
    assert assignment.verdict == "accepted" and said in note, (note, told(assignment))


def test_what_is_left_to_a_gpu_is_said_once() -> None:
    first, second, third, *_ = assignments()["silu"].cases
    samples = [SampledCase(case, unsampled=why) for case, why in ((first, LATE), (second, SLOW), (third, LATE))]
    assert sampling_note(samples, PHRASES) == (
        f"Left to a GPU: {first.name}, {third.name} (sampling took longer than 20 s); {second.name} (the "
        "simulator is too slow for even a part of it, which says nothing about a GPU).")


@pytest.mark.parametrize("wrong", [0, 1])
def test_the_first_and_the_last_program_are_always_looked_at(text: str, tmp_path: Path, wrong: int) -> None:
    (tmp_path / "silu.py").write_text(text.replace("__WRONG__", str(wrong)))
    (result,) = results(tmp_path, LimitsTable()).values()
    assert result.verdict == "wrong_answer" and result.score == 0
    assert "At 4099x4093-extreme: " in result.message and "elements that one program stores are wrong" in result.message


def test_what_a_later_launch_puts_right_is_right(text: str, tmp_path: Path) -> None:
    (tmp_path / "silu.py").write_text(text)
    (assignment,) = results(tmp_path, LimitsTable()).values()
    assert assignment.verdict == "accepted", told(assignment)


DATA = beside(__file__)
ASSEMBLY: str = DATA["assembly"]


@pytest.mark.parametrize(("assembly", "verdict"), [("show", "needs_gpu"), ("refuse", "policy_violation")])
def test_assembly_is_refused_where_the_course_says_so(tmp_path: Path, assembly: str, verdict: str) -> None:
    (tmp_path / "silu.py").write_text(ASSEMBLY)
    assignment = results(tmp_path, LimitsTable(), policy=Policy.model_validate({"assembly": assembly}))["silu"]
    assert assignment.verdict == verdict and assignment.score == 0, told(assignment)
    assert ("`silu_kernel` uses inline assembly" in told(assignment)) == (assembly == "refuse"), told(assignment)


def test_a_right_kernel_that_compiles_for_long_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where compiling takes all the time that it has, no point is lost: a GPU has no such limit."""
    allowances: list[TimeBudget] = []

    def made(seconds: float) -> TimeBudget:
        allowances.append(TimeBudget(seconds))
        return allowances[-1]

    def long(*_: object, **__: object) -> LostAnswer:
        for allowance in allowances:
            allowance.left = 0
        return LostAnswer("time_out", "ended")

    monkeypatch.setattr(toolchain, "TimeBudget", made)
    monkeypatch.setattr(toolchain, "compile_kernels", long)
    (tmp_path / "silu.py").write_text("\n".join(line for line in ASSEMBLY.splitlines() if "asm" not in line))
    result = results(tmp_path, LimitsTable())["silu"]
    assert result.verdict == "needs_gpu" and "compiling for a GPU took all the time" in told(result), told(result)
