"""Rotary embedding by PyTorch, in place."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor


def eager(q: Tensor, k: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> None:
    c, s = cos[positions][:, None], sin[positions][:, None]
    for x in (q, k):
        early, late = x.chunk(2, dim=-1)
        # Both are computed, in float32, before either is written.
        new_early = torch.addcmul(early * c, late, s, value=-1)
        new_late = torch.addcmul(late * c, early, s)
        early.copy_(new_early)
        late.copy_(new_late)


@cache
def _fused() -> Callable[..., None]:
    # Late: torch.compile imports for seconds.
    return torch.compile(eager, dynamic=False)


def compiled(q: Tensor, k: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> None:
    _fused()(q, k, positions, cos, sin)
