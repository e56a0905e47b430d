"""Rows, columns and elements of a wrong answer that hold the right values of other rows, columns and elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from grader.languages.phrases import Fact, fact

# Fewest rows and columns, or elements, that exclude chance.
FEW = 4
# Share of a row's elements that agree with the right row that it seems to hold; share of the wrong elements that are
# explained.
MOST = 0.9


def answers_of_others(got: Tensor, right: Tensor) -> Iterator[tuple[Fact, Tensor]]:
    """Yield candidate answers, each with a fact that names its first example: every row of a matrix holds the right
    values of some row, every column of some column, or else some elements those of others. Yields nothing if none does,
    or there are too few to exclude chance."""
    lines = [*_lines(got, right)] if right.ndim == 2 and min(right.shape) >= FEW else []
    yield from lines or (_elements(got, right) if right.numel() >= FEW else ())


def _elements(got: Tensor, right: Tensor) -> Iterator[tuple[Fact, Tensor]]:
    """Yield the answer in which wrong elements hold the right value of exactly one other element."""
    values, order = right.flatten().sort()
    tensor = got.to(values).flatten()
    at = torch.searchsorted(values, tensor).clamp(max=len(values) - 1)
    held = (values[at] == tensor) & (tensor != right.flatten())
    alone = torch.ones_like(held)
    alone[1:] &= values[1:] != values[:-1]
    alone[:-1] &= values[1:] != values[:-1]
    held &= alone[at]
    if int(held.sum()) >= max(FEW, MOST * int((tensor != right.flatten()).sum())):
        first = int(held.int().argmax())
        places = (np.unravel_index(index, right.shape) for index in (first, int(order[at[first]])))
        here, there = (", ".join(map(str, place)) for place in places)
        yield (fact("value.other_element", here=here, there=there),
               torch.where(held, values[at], right.flatten()).view(right.shape))


def _lines(got: Tensor, right: Tensor) -> Iterator[tuple[Fact, Tensor]]:
    """Yield the answers by rows and by columns: in place of each row that is not 0 stands the right row nearest to
    it."""
    for unit in ("row", "column"):
        tensor, among = (matrix if unit == "row" else matrix.mT for matrix in (got.nan_to_num(0), right))
        # Sums of two rows, weighted by the same random factors, are near if all elements are.
        factors = torch.rand(len(among.mT), generator=torch.Generator().manual_seed(0)).to(among)
        sums, order = (among @ factors).sort()
        taken = order[torch.searchsorted((sums[1:] + sums[:-1]) / 2, tensor @ factors)]
        there = tensor.any(1)
        moved = among[taken] * there[:, None]
        held = there & _alike(tensor, moved) & ~_alike(tensor, among)
        if bool(held.any()):
            at, name = int(held.int().argmax()), "other_line" if bool(there.all()) else "other_line_or_zero"
            yield (fact(f"value.{name}", unit=unit, at=at, other=int(taken[at])), moved if unit == "row" else moved.mT)


def _alike(tensor: Tensor, among: Tensor) -> Tensor:
    """Return a bool tensor of the rows that agree in nearly all elements."""
    return torch.isclose(tensor, among, rtol=1e-2, atol=1e-6).double().mean(1) > MOST
