# Products from torch.ops, added into a zeroed out.
import torch


def gemm(a, b, out):
    out.zero_()
    out.add_(torch.ops.aten.mm.default(a, b))
