"""Cross entropy of rows by PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor


def eager(logits: Tensor, labels: Tensor, loss: Tensor, lse: Tensor) -> None:
    # log_softmax converts to float32 as it reads; cross_entropy of bfloat16 rounds its losses to that.
    at = labels[:, None]
    logarithms = torch.log_softmax(logits, dim=1, dtype=torch.float32)
    torch.neg(logarithms.gather(1, at).view(-1), out=loss)
    torch.add(loss, logits.gather(1, at).view(-1), out=lse)


def _cross_entropy(logits: Tensor, labels: Tensor, loss: Tensor, lse: Tensor) -> None:
    wide = logits.float()
    found = torch.logsumexp(wide, dim=1)
    lse.copy_(found)
    loss.copy_(found - wide.gather(1, labels[:, None]).view(-1))


@cache
def _fused() -> Callable[..., None]:
    # Late: torch.compile imports for seconds.
    return torch.compile(_cross_entropy, dynamic=False)


def compiled(logits: Tensor, labels: Tensor, loss: Tensor, lse: Tensor) -> None:
    _fused()(logits, labels, loss, lse)
