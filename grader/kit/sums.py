"""Wrong sums along the last axis, as kernels make them that add by blocks: a family of mistakes for reductions.

Each function takes the terms, float64 of shape (…, N), and a block size. It returns the wrong sum, of shape (…, 1) or
(…, N), or None if the sum would be right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.course.assignment import Mistake

WrongSum = Callable[[Tensor, int], Tensor | None]


def wrong_sums(
    families: Iterable[tuple[str, str, WrongSum]], blocks: Sequence[int], terms: Callable[..., Tensor],
    finish: Callable[..., Tensor],
) -> Iterator[Mistake]:
    """Yield a mistake for each family (name, hint, wrong sum) and block size. `terms(**inputs)` returns the terms of
    the sum, and `finish(total, **inputs)` the answer that follows from a sum."""
    for name, hint, wrong in families:
        for block in blocks:
            def answer(_wrong: WrongSum = wrong, _block: int = block, **inputs: Any) -> Tensor | None:
                total = _wrong(terms(**inputs), _block)
                return None if total is None else finish(total, **inputs)

            yield Mistake(name=name, hint=hint, answer=answer)


def first_block(terms: Tensor, block: int) -> Tensor | None:
    sums = _of_blocks(terms, block)
    return None if sums is None else sums[..., :1]


def last_block(terms: Tensor, block: int) -> Tensor | None:
    sums = _of_blocks(terms, block)
    return None if sums is None else sums[..., -1:]


def all_but_first(terms: Tensor, block: int) -> Tensor | None:
    return None if terms.shape[-1] == 1 else _sum(terms[..., 1:])


def all_but_last(terms: Tensor, block: int) -> Tensor | None:
    return None if terms.shape[-1] == 1 else _sum(terms[..., :-1])


def largest_block(terms: Tensor, block: int) -> Tensor | None:
    sums = _of_blocks(terms, block)
    # If there are few blocks, the largest is mostly the first, which is a mistake of its own.
    return None if sums is None or sums.shape[-1] < 4 else sums.amax(-1, keepdim=True)


def own_block(terms: Tensor, block: int) -> Tensor | None:
    sums = _of_blocks(terms, block)
    return None if sums is None else sums.repeat_interleave(block, dim=-1)[..., : terms.shape[-1]]


def mean_of_own_block(terms: Tensor, block: int) -> Tensor | None:
    sums, ones = own_block(terms, block), own_block(torch.ones_like(terms), block)
    return None if sums is None or ones is None else sums / ones * terms.shape[-1]


def blocks_so_far(terms: Tensor, block: int) -> Tensor | None:
    sums = _of_blocks(terms, block)
    return None if sums is None else sums.cumsum(-1).repeat_interleave(block, dim=-1)[..., : terms.shape[-1]]


def whole_blocks(terms: Tensor, block: int) -> Tensor | None:
    n = terms.shape[-1]
    return None if n % block == 0 else _sum(terms[..., : n // block * block])


def overlap_twice(terms: Tensor, block: int) -> Tensor | None:
    n = terms.shape[-1]
    if n % block == 0 or n < block:
        return None
    return _sum(terms[..., : n // block * block]) + _sum(terms[..., n - block :])


def own_warp(terms: Tensor, block: int) -> Tensor | None:
    """Return, for each element, the sum of its own warp."""
    sums = _of_warps(terms, block)
    return None if sums is None else sums[..., torch.arange(terms.shape[-1]) % block // 32]


def first_warp(terms: Tensor, block: int) -> Tensor | None:
    sums = _of_warps(terms, block)
    return None if sums is None else sums[..., :1]


def half_of_warps(terms: Tensor, block: int) -> Tensor | None:
    sums = _of_warps(terms, block)
    # In a single round it is the sum of a block of half the size.
    return None if sums is None or block < 128 or terms.shape[-1] <= block else _sum(sums[..., : block // 64])


def ones_after_the_end(terms: Tensor, block: int) -> Tensor | None:
    n = terms.shape[-1]
    return None if n % block == 0 else _sum(terms) + (-n % block)


def _sum(terms: Tensor) -> Tensor:
    return terms.sum(dim=-1, keepdim=True)


def _of_warps(terms: Tensor, block: int) -> Tensor | None:
    """Return the sum of each warp of a block whose threads take turns; None if there is only one."""
    n, warps = terms.shape[-1], block // 32
    if warps < 2 or block % 32 or n <= 32:
        return None
    rounds = torch.nn.functional.pad(terms, (0, -n % block)).view(*terms.shape[:-1], -1, warps, 32)
    return rounds.sum((-3, -1))


def _of_blocks(terms: Tensor, block: int) -> Tensor | None:
    """Return the sum of each block; None if there is only one."""
    n = terms.shape[-1]
    if n <= block:
        return None
    padded = torch.nn.functional.pad(terms, (0, -n % block))
    return padded.view(*terms.shape[:-1], -1, block).sum(dim=-1)


def not_rescaled(x: Tensor, block: int) -> Tensor | None:
    """Return the sum of exp(x − maximum), block by block, where the maximum in each block is that of all x so far."""
    if x.shape[-1] <= block:
        return None
    blocks = torch.nn.functional.pad(x, (0, -x.shape[-1] % block), value=-math.inf).view(*x.shape[:-1], -1, block)
    tops = blocks.amax(-1).cummax(-1).values
    return torch.exp(x - tops.repeat_interleave(block, dim=-1)[..., : x.shape[-1]]).sum(-1, keepdim=True)


def lanes_not_scaled(x: Tensor, block: int) -> Tensor | None:
    """Return the sum of exp(x − maximum), lane by lane of a loop over blocks, where each lane subtracts its own
    maximum."""
    if x.shape[-1] == 1:
        return None
    lanes = torch.nn.functional.pad(x, (0, -x.shape[-1] % block), value=-math.inf).view(*x.shape[:-1], -1, block)
    # A lane without elements adds nothing.
    tops = lanes.amax(-2, keepdim=True).clamp(min=torch.finfo(x.dtype).min)
    return torch.exp(lanes - tops).sum((-2, -1))[..., None]


OF_WARPS = (
    ("own warp only", "Each sum is that of one warp's elements: the warps of a block store theirs to shared memory, "
     "and add them up behind a barrier.", own_warp),
    ("first warp only", "Only the elements of the first warp are in the sum: the warps of a block store their sums to "
     "shared memory, and add them up behind a barrier.", first_warp),
    ("half of the warps", "Only half of the warps' sums are added: a block has as many as its threads divided by 32.",
     half_of_warps),
)
"""Families for `wrong_sums`: reductions by shuffles that end within a warp."""
