"""Rows, columns and elements of a wrong answer that are right ones of others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

# Fewest rows, and elements of one, that exclude chance.
FEW = 4
# Share of the elements in which a row agrees with the one that it holds.
MOST = 0.9


def answers_of_others(got: Tensor, right: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield, for the rows of a matrix and for its columns, else for the elements of any tensor, the answer in which
    each is that of another, and words for it with the first that holds another's. Yields nothing where none does, or
    there are too few to tell."""
    lines = [*_lines(got, right)] if right.ndim == 2 and min(right.shape) >= FEW else []
    yield from lines or (_elements(got, right) if right.numel() >= FEW else ())


def _elements(got: Tensor, right: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield the answer by elements that are equal to one other right one."""
    values, order = right.flatten().sort()
    made = got.to(values).flatten()
    at = torch.searchsorted(values, made).clamp(max=len(values) - 1)
    held = (values[at] == made) & (made != right.flatten())
    alone = torch.ones_like(held)
    alone[1:] &= values[1:] != values[:-1]
    alone[:-1] &= values[1:] != values[:-1]
    held &= alone[at]
    if int(held.sum()) >= max(FEW, MOST * int((made != right.flatten()).sum())):
        first = int(held.int().argmax())
        places = (np.unravel_index(one, right.shape) for one in (first, int(order[at[first]])))
        here, there = (", ".join(map(str, place)) for place in places)
        yield (f"that of another element: element [{here}] holds what belongs to [{there}]",
               torch.where(held, values[at], right.flatten()).view(right.shape))


def _lines(got: Tensor, right: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield the answer by rows and by columns: each that is not 0 is the right one nearest to it."""
    for unit in ("row", "column"):
        made, among = (one if unit == "row" else one.mT for one in (got.nan_to_num(0), right))
        # Sums with the same random factors are near where all elements are.
        factors = torch.rand(len(among.mT), generator=torch.Generator().manual_seed(0)).to(among)
        sums, order = (among @ factors).sort()
        taken = order[torch.searchsorted((sums[1:] + sums[:-1]) / 2, made @ factors)]
        there = made.any(1)
        moved = among[taken] * there[:, None]
        held = there & _alike(made, moved) & ~_alike(made, among)
        if bool(held.any()):
            at, zero = int(held.int().argmax()), "" if bool(there.all()) else ", or 0"
            yield (f"that of another {unit}{zero}: {unit} {at} holds what belongs to {unit} {int(taken[at])}",
                   moved if unit == "row" else moved.mT)


def _alike(made: Tensor, among: Tensor) -> Tensor:
    """Return which rows agree in nearly all elements."""
    return torch.isclose(made, among, rtol=1e-2, atol=1e-6).double().mean(1) > MOST
