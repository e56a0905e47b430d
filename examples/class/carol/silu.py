# Carol, week 3. Checked with 1024 x 1024, looks good!
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    block_start = tl.program_id(0) * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    output = x * tl.sigmoid(x)
    tl.store(out_ptr + offsets, output, mask=mask)


def silu(x: torch.Tensor, out: torch.Tensor):
    n_elements = x.numel()
    # at least one program, for the very small inputs
    grid = (max(1, n_elements // 1024),)
    silu_kernel[grid](x, out, n_elements, BLOCK_SIZE=1024)
