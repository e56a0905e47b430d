# x * torch.sigmoid(x) into out.
# expect: sigmoid
import torch


def silu(x, out):
    torch.mul(x, torch.sigmoid(x), out=out)
