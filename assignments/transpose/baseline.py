"""The transpose by PyTorch: a strided copy, eager or compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor


def eager(x: Tensor, out: Tensor) -> None:
    out.copy_(x.t())


def _transpose(x: Tensor, out: Tensor) -> None:
    out.copy_(x.t())


@cache
def _fused() -> Callable[..., None]:
    # Late: torch.compile imports for seconds.
    return torch.compile(_transpose, dynamic=False)


def compiled(x: Tensor, out: Tensor) -> None:
    _fused()(x, out)
