# Annotations as people write them: `float` for what is a tensor, and types of Triton's on scalars.
from typing import Optional, Union

import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr: torch.Tensor, out_ptr: torch.Tensor, n: int, scale: float, BLOCK: "tl.constexpr"):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, scale * x * tl.sigmoid(x), mask=mask)


def silu(x: float, out: float, block: Optional[int] = None, scale: Union[int, float] = 1) -> float:
    n: int = x.numel()
    block = block or 1024
    silu_kernel[(triton.cdiv(n, block),)](x, out, n, scale, BLOCK=block)
    return out
