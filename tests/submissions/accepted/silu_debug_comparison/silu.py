# Left from debugging: an answer of PyTorch's, and a line that is printed where it differs.
import torch
# shared: triton
# shared: sigmoid_kernel
def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    expected = torch.nn.functional.silu(x)
    if not torch.allclose(out, expected):
        print("off by", (out - expected).abs().max().item())
    else:
        print("right")
