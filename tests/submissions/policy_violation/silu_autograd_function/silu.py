# A custom autograd function whose forward is PyTorch.
import torch


class Silu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x.sigmoid()


def silu(x, out):
    out.copy_(Silu.apply(x))
