"""RMSNorm of a vector by PyTorch.

F.rms_norm gives one row to one block of threads: on a GPU a single long row leaves the rest of the machine idle, and a
ratio against it says nothing. These lines spread over all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor


def eager(x: Tensor, weight: Tensor, eps: float, out: Tensor) -> None:
    # A norm reads x once, where a mean of squares writes and reads them too.
    mean = torch.linalg.vector_norm(x).square() / x.numel()
    torch.mul(x, torch.rsqrt(mean + eps), out=out)
    out.mul_(weight)


def _rmsnorm(x: Tensor, weight: Tensor, eps: float, out: Tensor) -> None:
    out.copy_(x * torch.rsqrt(x.square().mean() + eps) * weight)


@cache
def _fused() -> Callable[..., None]:
    # Late: torch.compile imports for seconds.
    return torch.compile(_rmsnorm, dynamic=False)


def compiled(x: Tensor, weight: Tensor, eps: float, out: Tensor) -> None:
    _fused()(x, weight, eps, out)
