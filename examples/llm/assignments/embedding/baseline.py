"""Embedding by PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor


def eager(indices: Tensor, table: Tensor, out: Tensor) -> None:
    torch.index_select(table, 0, indices, out=out)


def _embedding(indices: Tensor, table: Tensor, out: Tensor) -> None:
    out.copy_(table[indices])


@cache
def _fused() -> Callable[..., None]:
    # Late: torch.compile imports for seconds.
    return torch.compile(_embedding, dynamic=False)


def compiled(indices: Tensor, table: Tensor, out: Tensor) -> None:
    _fused()(indices, table, out)
