"""RMSNorm along the last axis, of vectors and matrices: inputs, the right answer, and a family of mistakes.

x is (…, N), weight (N,). An answer is float64 of x's shape; a mistake's is None in a case where it does not show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from grader.course.assignment import Mistake
from grader.course.cases import Case
from grader.course.parameters import Inputs
from grader.kit.author import EPS32, SMALLEST_NORMAL32
from grader.kit.inputs import Distribution, Number, Outliers, Spread

SCALES = {"mixed": (0.05, 10.0), "extreme": (1.0, 100.0), "tiny": (1e-4, 3e-3)}
"""Lowest and highest standard deviation of a row. In "tiny" rows, eps (1e-6 to 1e-4) outweighs the mean square."""
FIXED = (1e-3, 1e-5, 1e-6, 1e-8)
"""Values that a kernel may have in place of the argument eps."""


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Return distributions where each row of x has its own scale, offset and outliers; the weights have both signs."""
    x = Spread(scale=SCALES[case.values], offset=2.0, outliers=Outliers(256, times=30))
    return {"x": x, "weight": Spread(), "eps": Number(1e-6, 1e-4)}


def oracle(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Return the right answer."""
    return by_mean(mean_square(x), x, weight, eps)


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """Return the absolute error allowed for each element."""
    return allowed(expected, expected.shape[-1])


def allowed(expected: Tensor, n: int) -> Tensor:
    """Return the absolute error allowed for these elements of rows of length `n`."""
    # Squares, mean, eps, reciprocal root and the two products err by about 8 units of EPS32 together; a GPU's rsqrt
    # alone errs by 2. In the worst sensible order, n squares are added one after another: each addition errs by EPS32/2
    # of the sum at random, √n/2 units together, which the root halves. Sums by blocks err far less.
    return EPS32 * (8 + math.sqrt(n) / 4) * expected.abs() + SMALLEST_NORMAL32


def mean_square(x: Tensor) -> Tensor:
    """Return the mean square along the last axis, (…, 1)."""
    return x.double().square().mean(dim=-1, keepdim=True)


def scaled(x: Tensor, weight: Tensor, divisor: Tensor) -> Tensor:
    return x.double() * weight.double() / divisor


def by_mean(mean: Tensor, x: Tensor, weight: Tensor, eps: float | Tensor) -> Tensor:
    """Return the answer that follows from a mean square."""
    return scaled(x, weight, torch.sqrt(mean + eps))


def by_sum(total: Tensor, x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Return the answer that follows from a sum of squares."""
    return by_mean(total / x.shape[-1], x, weight, eps)


def norm_mistakes(size: str, blocks: Sequence[int]) -> Iterator[Mistake]:
    """Yield mistakes with eps, weight, mean and root. `size` is the mean's divisor in words, `blocks`: block sizes."""
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
        ("mean rounded down", "The mean was rounded down to a whole number: divide floats, and keep it so.", _floor),
        ("no root", "The square root is missing: divide by √(mean + eps).",
         lambda x, weight, eps: scaled(x, weight, mean_square(x) + eps)),
        ("times the root", "x was multiplied by the root: divide by it, or multiply by {rsqrt}.",
         lambda x, weight, eps: scaled(x, weight, torch.rsqrt(mean_square(x) + eps))),
        ("squares forgotten", "The sum is of x itself, squared after the mean: square each element, then add.",
         lambda x, weight, eps: by_mean(x.double().mean(dim=-1, keepdim=True).square(), x, weight, eps)),
        ("weight added", "The weight was added: multiply by it.",
         lambda x, weight, eps: oracle(x, torch.ones_like(weight), eps) + weight.double()),
        ("variance", "The variance was used, of x less its mean: RMSNorm takes the mean of x² itself.",
         lambda x, weight, eps: by_mean(x.double().var(dim=-1, keepdim=True, correction=0), x, weight, eps)),
        ("square of the sum", "The sum of x was squared: square each element, then add.",
         lambda x, weight, eps: by_mean(x.double().sum(dim=-1, keepdim=True).square() / x.shape[-1], x, weight, eps)),
        ("mean of |x|", "x was divided by the mean of |x|: the root of the mean of the squares is asked for.",
         lambda x, weight, eps: scaled(x, weight, x.double().abs().mean(dim=-1, keepdim=True) + eps)),
        ("largest square", f"The largest square was taken: add the squares, and divide by {size}.",
         lambda x, weight, eps: by_mean(x.double().square().amax(dim=-1, keepdim=True), x, weight, eps)),
        ("divided outside the root", f"The root of the sum was divided by {size}: the mean is taken under the root.",
         lambda x, weight, eps: scaled(x, weight, torch.sqrt(mean_square(x) / x.shape[-1]) + eps)),
        ("one less", f"The sum was divided by {size} − 1: divide by {size}.",
         lambda x, weight, eps: by_sum(mean_square(x) * x.shape[-1] ** 2 / (x.shape[-1] - 1), x, weight, eps)
         if x.shape[-1] > 1 else None),
        ("one more in the sum", "The sum of the squares is 1 too large: does it begin at 0?",
         lambda x, weight, eps: by_sum(mean_square(x) * x.shape[-1] + 1, x, weight, eps)),
        ("eps subtracted", "eps was subtracted: it is added to the mean of the squares.",
         lambda x, weight, eps: by_mean(mean_square(x), x, weight, -eps)),
        ("layer norm", "The mean of x was subtracted, as in LayerNorm: RMSNorm does not centre.", _layer_norm),
    ):
        yield Mistake(name=name, hint=hint, answer=answer)
    for fixed in FIXED:
        yield Mistake(
            name="fixed eps",
            hint=f"eps is written into the kernel as 1e-{-round(math.log10(fixed))}: use the argument eps.",
            answer=lambda x, weight, eps, _fixed=fixed: by_mean(mean_square(x), x, weight, _fixed))
    # 0 stands for the smallest power of two that holds a row.
    for block in (0, *blocks):
        yield Mistake(
            name="mean over the block", answer=_divided_by(block),
            hint=f"The sum was divided by the size of the block, or of all blocks together: divide by {size}.")
    for block in blocks:
        yield Mistake(
            name="first weights again", hint=f"Every block of x was multiplied by the first {block:,} weights: in the "
            "loop the load of the weight needs the same columns as x.", answer=_weights_again(block))


def _floor(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return by_mean(mean_square(x).floor(), x, weight, eps)


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
