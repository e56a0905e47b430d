"""Transpose of a matrix: the same bytes in another order, and either the reads or the writes lie far apart."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from grader.kit.author import (
    Baseline,
    Bits,
    Case,
    Distribution,
    Input,
    Mistake,
    Output,
    Spread,
    assignment,
    cases,
    mistakes,
    timed,
)

TILES = (8, 16, 32, 64, 128)


def distributions(case: Case) -> Mapping[str, Distribution]:
    """x (M, N) of a random scale and offset, or for "bits" every pattern that is a finite number."""
    return {"x": Bits() if case.values == "bits" else
            Spread(scale=(0.5, 10.5), offset=2.0, axis=None, even=True, absolute=True)}


def _reshaped(x: Tensor) -> Tensor | None:
    m, n = x.shape
    return None if 1 in (m, n) or m == n else x.reshape(n, m).double()


def _tiles_in_place(tile: int) -> Mistake:
    def answer(x: Tensor) -> Tensor | None:
        m, n = x.shape
        if max(m, n) <= tile:
            return None
        # Element (i, j) of the tile at (p, q) of out is element (i, j) of the tile at (q, p) of x; 0 beyond its end.
        row, column = torch.arange(n, device=x.device)[:, None], torch.arange(m, device=x.device)[None, :]
        source_row = column // tile * tile + row % tile
        source_column = row // tile * tile + column % tile
        inside = (source_row < m) & (source_column < n)
        found = x.double()[source_row.clamp(max=m - 1), source_column.clamp(max=n - 1)]
        return torch.where(inside, found, 0.0)

    return Mistake(
        name="tiles not turned", answer=answer,
        hint="Each tile is in its right place, but its own elements are not transposed. {turned_once}.")


def _tiles_not_moved(tile: int) -> Mistake:
    def answer(x: Tensor) -> Tensor | None:
        m, n = x.shape
        if m != n or m <= tile or m % tile:
            return None
        return x.double().view(m // tile, tile, n // tile, tile).permute(0, 3, 2, 1).reshape(m, n)

    return Mistake(
        name="tiles not moved", answer=answer,
        hint="Each tile is transposed, but stored where it came from: exchange the tile's two indices.")


ASSIGNMENT = assignment(
    name="transpose",
    title="Transpose",
    formula="out[j, i] = x[i, j]",
    order=5,
    parameters=(Input(name="x", shape=("M", "N")), Output(shape=("N", "M"))),
    forms={"cuda": "transpose(input=x, output=out, rows=M, cols=N)", "numba": "transpose(x, out)"},
    oracle=lambda x: x.double().t(),
    cases=cases(
        "M N", "1x1 1x37 41x1-bits 5x9 31x33-bits 1031x3 8x521 64x64 129x65-bits 388x356",
        gpu="2097169x3 4099x4093-bits 8192x8192"),
    timed=timed("M N", "8192x8192 4096x4096 2048x2048", "16384x4096 8192x2048 4096x1024"),
    structure={"one_pass": True, "writes_at_most": 1.1, "coalesced": True, "bank_conflicts_at_most": 1},
    baseline=Baseline(name="out.copy_(x.t())", compiled="torch.compile of the same"),
    distributions=distributions,
    # Rows of out are columns of x.
    rows=lambda inputs, index: {"x": inputs["x"][:, index]},
    columns=lambda inputs, index: {"x": inputs["x"][index]},
    right_by_nature={
        **dict.fromkeys(("1x1: the input", "1x1: the mean"), "one element: its mean and its transpose are itself"),
        **dict.fromkeys(("1x37: the input", "41x1-bits: the input"),
                        "a single row or column has the same order in memory once transposed"),
    },
    mistakes=mistakes(
        ("reshaped", "The elements are in the order of x: element (i, j) of x lies at i · N + j, and goes to "
         "j · M + i.", _reshaped),
        ("copied", "This is x itself: element (i, j) goes to (j, i).",
         lambda x: x.double() if x.shape[0] == x.shape[1] > 1 else None),
        *map(_tiles_in_place, TILES),
        *map(_tiles_not_moved, TILES),
    ),
)
