# Constants from a small table on the GPU, made once; everything is checked with asserts on shapes first.
import torch
import triton
import triton.language as tl

TABLE = torch.tensor([1.0, 1.4426950408889634], device="cuda")
ones = torch.ones(4, device="cuda")


@triton.jit
def kernel(x_ptr, out_ptr, table_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    one = tl.load(table_ptr)
    log2e = tl.load(table_ptr + 1)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x / (one + tl.exp2(-x * log2e)), mask=i < n)


def silu(x, out):
    assert x.shape == out.shape and x.dtype == torch.float32 and x.is_cuda
    assert x.dim() == 2 and x.size(-1) == x.stride(0) and not x.requires_grad
    kernel[(triton.cdiv(x.numel(), 1024),)](x.flatten(), out.view(-1), TABLE, x.numel(), BLOCK=1024)
