"""Gradients of LayerNorm by PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor


def eager(
    dout: Tensor, x: Tensor, weight: Tensor, mean: Tensor, rstd: Tensor, dx: Tensor, dweight: Tensor, dbias: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    # It wants a bias to have a gradient for it, and reads nothing of it.
    return torch.ops.aten.native_layer_norm_backward(
        dout, x, (x.shape[1],), mean[:, None], rstd[:, None], weight, weight, (True, True, True))


@cache
def _fused() -> Callable[..., tuple[Tensor, Tensor, Tensor]]:
    # Late: torch.compile imports for seconds.
    return torch.compile(eager, dynamic=False)


def compiled(
    dout: Tensor, x: Tensor, weight: Tensor, mean: Tensor, rstd: Tensor, dx: Tensor, dweight: Tensor, dbias: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    return _fused()(dout, x, weight, mean, rstd, dx, dweight, dbias)
