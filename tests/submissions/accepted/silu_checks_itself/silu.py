# Compares its answer with PyTorch's before it returns.
# expect: Skipped in lines 19, 20 and 21 (`silu` and `isnan`): host code has no numbers to print or check
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    assert torch.allclose(out, torch.nn.functional.silu(x), atol=1e-5), "wrong"
    assert not torch.isnan(out).any()
    expected = torch.nn.functional.silu(x)
    error = (out - expected).abs().max().item()
    print(f"largest error {error:.2e}")
