"""Inline assembly needs a GPU, but no GPU is needed to refuse it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.model.course import LimitsTable, Policy
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
