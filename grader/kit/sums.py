"""Sums along the last axis as kernels get them wrong that add by blocks: a family of mistakes for reductions.

Each function takes the terms (…, N), float64, and a block size, and returns what they are taken to add up to, (…, 1) or
(…, N), or None where that is the right sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.model.assignment import Mistake

WrongSum = Callable[[Tensor, int], Tensor | None]


def wrong_sums(
    families: Iterable[tuple[str, str, WrongSum]], blocks: Sequence[int], terms: Callable[..., Tensor],
    finish: Callable[..., Tensor],
) -> Iterator[Mistake]:
    """A mistake for each family (name, hint, wrong sum) and block size. `terms(**inputs)` are what is added,
    `finish(total, **inputs)` is the answer made of a sum."""
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


def ones_after_the_end(terms: Tensor, block: int) -> Tensor | None:
    n = terms.shape[-1]
    return None if n % block == 0 else _sum(terms) + (-n % block)


def _sum(terms: Tensor) -> Tensor:
    return terms.sum(dim=-1, keepdim=True)


def _of_blocks(terms: Tensor, block: int) -> Tensor | None:
    """The sum of each block; None if there is only one block."""
    n = terms.shape[-1]
    if n <= block:
        return None
    padded = torch.nn.functional.pad(terms, (0, -n % block))
    return padded.view(*terms.shape[:-1], -1, block).sum(dim=-1)
