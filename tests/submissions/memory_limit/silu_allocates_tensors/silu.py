# Keeps a 256 MB tensor for every block, 20 GB at most, of which only the beginning is ever used.
import torch


def silu(x, out):
    kept = []
    for _ in range(80):
        block = torch.empty(64 * 1024 * 1024, dtype=torch.float32)
        block[:1024].fill_(1.0)
        kept.append(block)
