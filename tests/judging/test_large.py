"""How much of the sizes that only a GPU runs whole is looked at without one, and what comes of it.

Submissions that are wrong there alone are in the corpus: `hostile/weak_inputs`.
"""

import shutil
from pathlib import Path

import pytest

from grader.course.catalogue import assignments
from grader.course.course import LimitsTable
from grader.home import ROOT
from grader.judging.evidence.large import told as said_of_all
from grader.judging.evidence.sampling import LATE, SLOW, SampledCase
from grader.languages.triton.phrases import PHRASES
from tests.graded import results, told
from tests.members import Member


@pytest.mark.parametrize(("folder", "name", "said"), [
    (ROOT / "reference", "transpose", "of 16,384 programs of 8192x8192"),
    (ROOT / "reference", "rmsnorm_matrix", "of 257 programs of 257x30011"),
    (Member("accepted/copy_first_column_copy").folder(), "copy_first_column",
     "Run here as a whole: 1000003x17-bits, 8192x8192,"),
    # Rows and columns of a product are taken in blocks.
    (Member("accepted/gemm_plain").folder(), "gemm", "programs of 2048x1999x2053"),
    (Member("accepted/gemm_tuned_split_k").folder(), "gemm", "(programs build on what others have stored)"),
    (Member("accepted/rmsnorm_vector_two_kernels").folder(), "rmsnorm_vector",
     "(each element of the answer depends on all of the input)"),
])
def test_the_result_says_what_was_looked_at(tmp_path: Path, folder: Path, name: str, said: str) -> None:
    shutil.copy(folder / assignments()[name].file, tmp_path)
    (found,) = results(tmp_path, LimitsTable()).values()
    (note,) = [check.note for check in found.correctness.checks if check.stage == "target"]
    assert found.verdict == "accepted" and said in note, (note, told(found))


def test_what_is_left_to_a_gpu_is_said_once() -> None:
    first, second, third, *_ = assignments()["silu"].cases
    looks = [SampledCase(first, unseen=LATE), SampledCase(second, unseen=SLOW), SampledCase(third, unseen=LATE)]
    assert said_of_all(looks, PHRASES) == (
        f"Left to a GPU: {first.name}, {third.name} (sampling took longer than 20 s); {second.name} (the "
        "simulator takes too long for a part of it, whatever its speed on a GPU).")


ONE_PROGRAM = """
import triton
import triton.language as tl

@triton.jit
def silu_kernel(x_ptr, out_ptr, n, WRONG: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    right = x * tl.sigmoid(x)
    wrong = (n > 1000000) & (pid == (tl.num_programs(0) - 1 if WRONG else 0))
    tl.store(out_ptr + i, tl.where(wrong, x, right), mask=i < n)

def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), WRONG=__WRONG__, BLOCK=1024)
"""


@pytest.mark.parametrize("wrong", [0, 1])
def test_the_first_and_the_last_program_are_always_looked_at(tmp_path: Path, wrong: int) -> None:
    (tmp_path / "silu.py").write_text(ONE_PROGRAM.replace("__WRONG__", str(wrong)))
    (found,) = results(tmp_path, LimitsTable()).values()
    assert found.verdict == "wrong_answer" and found.score == 0
    assert "At 4099x4093-extreme: " in found.message and "elements that one program stores are wrong" in found.message


IN_TWO = """
import triton
import triton.language as tl

@triton.jit
def silu_kernel(x_ptr, out_ptr, n, first, SKIP: tl.constexpr, BLOCK: tl.constexpr):
    i = (first + tl.program_id(0)) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x) if not SKIP else x, mask=i < n)

def silu(x, out):
    programs = triton.cdiv(x.numel(), 1024)
    silu_kernel[(programs,)](x, out, x.numel(), 0, SKIP=True, BLOCK=1024)
    silu_kernel[(programs,)](x, out, x.numel(), 0, SKIP=False, BLOCK=1024)
"""


def test_what_a_later_launch_puts_right_is_right(tmp_path: Path) -> None:
    (tmp_path / "silu.py").write_text(IN_TWO)
    (found,) = results(tmp_path, LimitsTable()).values()
    assert found.verdict == "accepted", told(found)
