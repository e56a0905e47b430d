"""Attention by PyTorch, with the logarithms that its backward pass needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

HOPPER = 9


def eager(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float, out: Tensor, lse: Tensor
) -> tuple[Tensor, Tensor]:
    # What scaled_dot_product_attention calls; itself it returns out alone.
    if not q.is_cuda:
        # The processor's own way has exponentials of twenty bits.
        scores = q.float() @ k.float().transpose(-1, -2) * scale
        if causal:
            scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
        found = torch.softmax(scores, dim=-1) @ v.float(), torch.logsumexp(scores, dim=-1)
    elif torch.cuda.get_device_capability(q.device)[0] >= HOPPER:
        found = torch.ops.aten._scaled_dot_product_cudnn_attention(
            q, k, v, None, True, 0.0, causal, False, scale=scale)
    else:
        found = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, scale=scale)
    return found[0], found[1].view(lse.shape)


@cache
def _fused() -> Callable[..., tuple[Tensor, Tensor]]:
    # Late: torch.compile imports for seconds.
    return torch.compile(eager, dynamic=False)


def compiled(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float, out: Tensor, lse: Tensor
) -> tuple[Tensor, Tensor]:
    return _fused()(q, k, v, causal, scale, out, lse)
