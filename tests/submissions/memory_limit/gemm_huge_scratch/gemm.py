# One scratch tensor of 4 TB in a single request, which no machine grants.
import torch


def gemm(a, b, out):
    scratch = torch.empty(1 << 40, dtype=torch.float32, device=a.device)
    scratch.zero_()
