# A torch.nn module, made at import.
import torch

layer = torch.nn.SiLU()


def silu(x, out):
    out.copy_(layer(x))
