# Leaves PyTorch through tolist and computes in Python.
# expect: reads the values of a tensor
import math

import torch


def silu(x, out):
    rows = [[v / (1.0 + math.exp(min(-v, 700.0))) for v in row] for row in x.tolist()]
    out.copy_(torch.tensor(rows))
