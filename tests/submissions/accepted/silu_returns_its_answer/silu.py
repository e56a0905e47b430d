# Wrapped for autograd, the kernel writes to a tensor of its own, which is returned and put into out.
import torch
# shared: triton
# shared: masked_kernel
class SiLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        n = x.numel()
        silu_kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad * s * (1 + x * (1 - s))


def silu(x, out):
    if x.shape[0] % 2:
        out.copy_(SiLU.apply(x))
    else:
        out[:] = SiLU.apply(x)
