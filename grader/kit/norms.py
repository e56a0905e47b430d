"""RMSNorm along the last axis as kernels get it wrong: a family of mistakes for vectors and matrices.

x is (…, N), weight (N,); answers are float64, of x's shape, or None where a mistake cannot be told apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from grader.model.assignment import Mistake

FIXED = (1e-3, 1e-5, 1e-6, 1e-8)
"""What is written for eps where the argument is forgotten."""


def mean_square(x: Tensor) -> Tensor:
    """Along the last axis, (…, 1)."""
    return x.double().square().mean(dim=-1, keepdim=True)


def scaled(x: Tensor, weight: Tensor, divisor: Tensor) -> Tensor:
    return x.double() * weight.double() / divisor


def by_mean(mean: Tensor, x: Tensor, weight: Tensor, eps: float | Tensor) -> Tensor:
    """The answer made of a mean square."""
    return scaled(x, weight, torch.sqrt(mean + eps))


def by_sum(total: Tensor, x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """The answer made of a sum of squares."""
    return by_mean(total / x.shape[-1], x, weight, eps)


def norm_mistakes(size: str, blocks: Sequence[int]) -> Iterator[Mistake]:
    """Mistakes of eps, weight, mean and root. `size` is what the mean divides by, `blocks` are sizes of blocks."""
    for name, hint, answer in (
        ("no eps", "eps is missing: it is added to the mean of the squares, and matters where x is small.",
         lambda x, weight, eps: by_mean(mean_square(x), x, weight, 0)),
        ("eps outside the root", "eps was added to the root: it belongs inside, √(mean + eps).",
         lambda x, weight, eps: scaled(x, weight, torch.sqrt(mean_square(x)) + eps)),
        ("eps in the sum", f"eps was added to the sum of the squares: divide by {size} first, then add it.",
         lambda x, weight, eps: by_mean(mean_square(x), x, weight, eps / x.shape[-1])),
        ("no weight", "The weight is missing: multiply element i of each row by weight[i].",
         lambda x, weight, eps: scaled(x, torch.ones_like(weight), torch.sqrt(mean_square(x) + eps))),
        ("1 + weight", "Elements were multiplied by 1 + weight, as in Gemma: multiply by the weight itself.",
         lambda x, weight, eps: by_mean(mean_square(x), x, 1 + weight.double(), eps)),
        ("first weight only", "All elements were multiplied by weight[0]: the load of the weight needs offsets.",
         lambda x, weight, eps: by_mean(mean_square(x), x, weight[:1].expand_as(weight), eps)),
        ("sum for mean", f"The sum of the squares was used for their mean: divide it by {size}.",
         lambda x, weight, eps: by_mean(mean_square(x) * x.shape[-1], x, weight, eps)),
        ("no root", "The square root is missing: divide by √(mean + eps).",
         lambda x, weight, eps: scaled(x, weight, mean_square(x) + eps)),
        ("times the root", "x was multiplied by the root: divide by it, or multiply by tl.rsqrt.",
         lambda x, weight, eps: scaled(x, weight, torch.rsqrt(mean_square(x) + eps))),
        ("squares forgotten", "The sum is of x itself, squared after the mean: square each element, then add.",
         lambda x, weight, eps: by_mean(x.double().mean(dim=-1, keepdim=True).square(), x, weight, eps)),
        ("layer norm", "The mean of x was subtracted, as in LayerNorm: RMSNorm does not centre.", _layer_norm),
    ):
        yield Mistake(name=name, hint=hint, answer=answer)
    for fixed in FIXED:
        yield Mistake(
            name="fixed eps",
            hint=f"eps is written into the kernel as 1e-{-round(math.log10(fixed))}: use the argument eps.",
            answer=lambda x, weight, eps, _fixed=fixed: by_mean(mean_square(x), x, weight, _fixed))
    # 0 for the power of two that is not smaller than a row.
    for block in (0, *blocks):
        yield Mistake(
            name="mean over the block", hint=f"The sum was divided by the size of the block: divide by {size}.",
            answer=_divided_by(block))
    for block in blocks:
        yield Mistake(
            name="first weights again", hint=f"Every block of x was multiplied by the first {block:,} weights: in the "
            "loop the load of the weight needs the same columns as x.", answer=_weights_again(block))


def _layer_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    centred = x.double() - x.double().mean(dim=-1, keepdim=True)
    return by_mean(mean_square(centred), centred, weight, eps)


def _divided_by(block: int) -> Callable[[Tensor, Tensor, float], Tensor | None]:
    def answer(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
        n = x.shape[-1]
        size = block or 1 << (n - 1).bit_length()
        return None if size == n else by_mean(mean_square(x) * n / size, x, weight, eps)

    return answer


def _weights_again(block: int) -> Callable[[Tensor, Tensor, float], Tensor | None]:
    def answer(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
        n = x.shape[-1]
        if n <= block:
            return None
        return by_mean(mean_square(x), x, weight[torch.arange(n, device=weight.device) % block], eps)

    return answer
