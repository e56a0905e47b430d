# Keeps a 256 MB tensor for every block, 20 GB at most, of which only the beginning is ever used.
# on a gpu: memory_limit, wrong_answer; one that has the memory sees that nothing is launched
import torch


def silu(x, out):
    kept = []
    for _ in range(80):
        block = torch.empty(64 * 1024 * 1024, dtype=torch.float32)
        block[:1024].fill_(1.0)
        kept.append(block)
