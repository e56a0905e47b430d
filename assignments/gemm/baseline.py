"""The matrix product by PyTorch: the vendor's library, or what torch.compile makes of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor


def eager(a: Tensor, b: Tensor, out: Tensor) -> None:
    torch.mm(a, b, out=out)


def _mm(a: Tensor, b: Tensor, out: Tensor) -> None:
    torch.mm(a, b, out=out)


@cache
def _fused() -> Callable[..., None]:
    # Late: torch.compile imports for seconds.
    return torch.compile(_mm, dynamic=False)


def compiled(a: Tensor, b: Tensor, out: Tensor) -> None:
    _fused()(a, b, out)
