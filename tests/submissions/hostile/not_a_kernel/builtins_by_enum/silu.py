# Reaches exec by the name under which another module holds Python's built-in functions.
# verdict: policy_violation
# expect: enum.bltns.exec
import enum

import torch
import triton
import triton.language as tl


@triton.jit
def ghost(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < 0), mask=offsets < 0)


TEXT = """
import torch
with torch.utils._python_dispatch._disable_current_modes():
    torch.mul(x, torch.sigmoid(x), out=out)
"""


def silu(x, out):
    ghost[(1,)](x, out, 1, BLOCK=16)
    enum.bltns.exec(TEXT, {"x": x, "out": out})
