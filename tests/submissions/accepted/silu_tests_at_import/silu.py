# A test that runs at import: it computes, but nothing that the graded function uses.
import torch
# shared: triton
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=offsets < n)


def silu(x, out):
    n = x.numel()
    kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)


x = torch.randn(8, 8, device="cuda")
out = torch.empty_like(x)
silu(x, out)
print("ok", torch.allclose(out, torch.nn.functional.silu(x), atol=1e-5))
