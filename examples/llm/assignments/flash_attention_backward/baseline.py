"""Attention and its gradients by PyTorch: the kernels that scaled_dot_product_attention and its backward call call."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

HOPPER = 9

Answers = tuple[Tensor, ...]


def eager(
    Q: Tensor, K: Tensor, V: Tensor, is_causal: bool, dO: Tensor, O: Tensor, L: Tensor, dQ: Tensor, dK: Tensor,
    dV: Tensor,
) -> Answers:
    if not Q.is_cuda:
        return _in_float32(Q, K, V, is_causal, dO)
    # Heads stand beside each other, as one batch of many.
    q, k, v, do = (one[None] for one in (Q, K, V, dO))
    if torch.cuda.get_device_capability(Q.device)[0] >= HOPPER:
        out, lse, first, second, most_q, most_k, seed, offset, _ = torch.ops.aten._scaled_dot_product_cudnn_attention(
            q, k, v, None, True, 0.0, is_causal)
        found = torch.ops.aten._scaled_dot_product_cudnn_attention_backward(
            do, q, k, v, out, lse, seed, offset, None, first, second, most_q, most_k, 0.0, is_causal)
    else:
        out, lse, first, second, most_q, most_k, seed, offset, _ = torch.ops.aten._scaled_dot_product_flash_attention(
            q, k, v, 0.0, is_causal)
        found = torch.ops.aten._scaled_dot_product_flash_attention_backward(
            do, q, k, v, out, lse, first, second, most_q, most_k, 0.0, is_causal, seed, offset)
    return out[0], lse.view(L.shape), *(one[0] for one in found)


def _in_float32(Q: Tensor, K: Tensor, V: Tensor, is_causal: bool, dO: Tensor) -> Answers:
    # The processor's own way has exponentials of twenty bits.
    q, k, v, do = (one.float() for one in (Q, K, V, dO))
    scale = Q.shape[-1] ** -0.5
    scores = q @ k.mT * scale
    if is_causal:
        scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    out = weights @ v
    ds = weights * (do @ v.mT - (do * out).sum(dim=-1, keepdim=True))
    return out, torch.logsumexp(scores, dim=-1), ds @ k * scale, ds.mT @ q * scale, weights.mT @ do


@cache
def _fused() -> Callable[..., Answers]:
    # Late: torch.compile imports for seconds.
    return torch.compile(eager, dynamic=False)


def compiled(
    Q: Tensor, K: Tensor, V: Tensor, is_causal: bool, dO: Tensor, O: Tensor, L: Tensor, dQ: Tensor, dK: Tensor,
    dV: Tensor,
) -> Answers:
    return _fused()(Q, K, V, is_causal, dO, O, L, dQ, dK, dV)
