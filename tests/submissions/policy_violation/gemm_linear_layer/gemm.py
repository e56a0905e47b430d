# A product in a linear layer's clothes.
import torch.nn.functional as F


def gemm(a, b, out):
    out.copy_(F.linear(a, b.t()))
