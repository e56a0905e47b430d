"""What only a GPU can tell: inline assembly, which can be refused without one, and kernels that compile for long."""

from pathlib import Path

import pytest

from grader.course.course import LimitsTable, Policy
from grader.judging.plans import preparing
from grader.judging.running.allowance import Allowance
from grader.sandbox.forkserver.conversation import Lost
from tests.graded import results, told

ASSEMBLY = '''
import triton
import triton.language as tl

@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    x = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)

def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
'''


@pytest.mark.parametrize(("assembly", "verdict"), [("show", "needs_gpu"), ("refuse", "policy_violation")])
def test_assembly_is_refused_where_the_course_says_so(tmp_path: Path, assembly: str, verdict: str) -> None:
    (tmp_path / "silu.py").write_text(ASSEMBLY)
    found = results(tmp_path, LimitsTable(), policy=Policy.model_validate({"assembly": assembly}))["silu"]
    assert found.verdict == verdict and found.score == 0, told(found)
    assert ("`silu_kernel` uses inline assembly" in told(found)) == (assembly == "refuse"), told(found)


def test_a_right_kernel_that_compiles_for_long_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where compiling takes all the time that it has, no point is lost: a GPU has no such limit."""
    allowances: list[Allowance] = []

    def made(seconds: float) -> Allowance:
        allowances.append(Allowance(seconds))
        return allowances[-1]

    def long(*_: object, **__: object) -> Lost:
        for one in allowances:
            one.left = 0
        return Lost("time_out", "ended")

    monkeypatch.setattr(preparing, "Allowance", made)
    monkeypatch.setattr(preparing, "compile_kernels", long)
    (tmp_path / "silu.py").write_text("\n".join(line for line in ASSEMBLY.splitlines() if "asm" not in line))
    found = results(tmp_path, LimitsTable())["silu"]
    assert found.verdict == "needs_gpu" and "compiling for a GPU took all the time" in told(found), told(found)
