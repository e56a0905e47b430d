# Compares its answer with PyTorch's before it returns.
# expect: Skipped in lines 19, 20 and 21 (`silu` and `isnan`): host code has no values to print or check
import torch
# shared: triton
# shared: masked_kernel
def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    assert torch.allclose(out, torch.nn.functional.silu(x), atol=1e-5), "wrong"
    assert not torch.isnan(out).any()
    expected = torch.nn.functional.silu(x)
    error = (out - expected).abs().max().item()
    print(f"largest error {error:.2e}")
