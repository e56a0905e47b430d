"""GELU by PyTorch: one kernel, eager or compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor


def eager(x: Tensor, out: Tensor) -> None:
    torch.ops.aten.gelu.out(x, approximate="tanh", out=out)


def _gelu(x: Tensor, out: Tensor) -> None:
    out.copy_(torch.nn.functional.gelu(x, approximate="tanh"))


@cache
def _fused() -> Callable[..., None]:
    # Late: torch.compile imports for seconds.
    return torch.compile(_gelu, dynamic=False)


def compiled(x: Tensor, out: Tensor) -> None:
    _fused()(x, out)
