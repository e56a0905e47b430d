# Left from debugging: an answer of PyTorch's, and a line that is printed where it differs.
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    expected = torch.nn.functional.silu(x)
    if not torch.allclose(out, expected):
        print("off by", (out - expected).abs().max().item())
    else:
        print("right")
