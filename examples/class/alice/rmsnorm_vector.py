"""RMSNorm of one long vector in two launches.

1. Every program writes the sum of squares of its own block.
2. Every program adds up all of these sums (there are few) and scales its block.
"""

import torch
import triton
import triton.language as tl

BLOCK_SIZE = 4096


@triton.jit
def partial_squares_kernel(x_ptr, partial_ptr, n, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(partial_ptr + pid, tl.sum(x * x, axis=0))


@triton.jit
def scale_kernel(x_ptr, weight_ptr, partial_ptr, out_ptr, n, num_partials, eps,
                 BLOCK_SIZE: tl.constexpr, PARTIALS: tl.constexpr):
    i = tl.arange(0, PARTIALS)
    partials = tl.load(partial_ptr + i, mask=i < num_partials, other=0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(partials, axis=0) / n + eps)

    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    weight = tl.load(weight_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * rstd * weight, mask=mask)


def rmsnorm_vector(x: torch.Tensor, weight: torch.Tensor, eps: float, out: torch.Tensor) -> None:
    n = x.numel()
    blocks = triton.cdiv(n, BLOCK_SIZE)
    partial = torch.empty(blocks, device=x.device, dtype=torch.float32)
    partial_squares_kernel[(blocks,)](x, partial, n, BLOCK_SIZE=BLOCK_SIZE)
    scale_kernel[(blocks,)](x, weight, partial, out, n, blocks, eps,
                            BLOCK_SIZE=BLOCK_SIZE, PARTIALS=triton.next_power_of_2(blocks))
