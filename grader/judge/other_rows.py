"""Rows and columns of a wrong answer that are right ones of others."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

# Fewest rows, and elements of one, that exclude chance.
FEW = 4
# Share of the elements in which a row agrees with the one that it holds.
MOST = 0.9


def rows_of_others(got: Tensor, right: Tensor) -> Iterator[tuple[str, Tensor]]:
    """For the rows of a matrix and for its columns: the answer in which each that is not 0 is the right one nearest to
    it, and words for it with the first that holds another's. None where none does, or there are too few to tell."""
    for unit in ("row", "column") if min(right.shape) >= FEW else ():
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
    """Which rows agree in nearly all elements."""
    return torch.isclose(made, among, rtol=1e-2, atol=1e-6).double().mean(1) > MOST
