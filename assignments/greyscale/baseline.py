"""Greyscale by PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor


def eager(x: Tensor, out: Tensor) -> None:
    grey = torch.mul(x[0], 0.299)
    grey.add_(x[1], alpha=0.587).add_(x[2], alpha=0.114)
    torch.ops.aten.round.out(grey, out=grey)
    out.copy_(grey)


def _grey(x: Tensor, out: Tensor) -> None:
    out.copy_((0.299 * x[0] + 0.587 * x[1] + 0.114 * x[2]).round())


@cache
def _fused() -> Callable[..., None]:
    # Late: torch.compile imports for seconds.
    return torch.compile(_grey, dynamic=False)


def compiled(x: Tensor, out: Tensor) -> None:
    _fused()(x, out)
