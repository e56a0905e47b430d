"""The first column of a matrix on the host: gather it there, so that only rows * 4 bytes cross the bus."""

import torch


def copy_first_column(matrix: torch.Tensor, out: torch.Tensor) -> None:
    column = matrix[:, 0].contiguous()
    out.copy_(column, non_blocking=False)
