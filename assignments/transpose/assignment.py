"""Transpose of a matrix: the same bytes in another order, and either the reads or the writes lie far apart."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from grader.assignment import Assignment, Baseline, Case, Input, Inputs, Mistake, Output, TimedCase, Work
from grader.kit.inputs import Bits, Distribution, Spread, maker

CASES = (
    Case(name="1x1", sizes={"M": 1, "N": 1}),
    Case(name="1x37", sizes={"M": 1, "N": 37}),
    Case(name="41x1-bits", sizes={"M": 41, "N": 1}, values="bits"),
    Case(name="5x9", sizes={"M": 5, "N": 9}),
    Case(name="31x33-bits", sizes={"M": 31, "N": 33}, values="bits"),
    Case(name="1031x3", sizes={"M": 1031, "N": 3}),
    Case(name="7x521", sizes={"M": 7, "N": 521}),
    Case(name="64x64", sizes={"M": 64, "N": 64}),
    Case(name="129x65-bits", sizes={"M": 129, "N": 65}, values="bits"),
    Case(name="389x353", sizes={"M": 389, "N": 353}),
    Case(name="2097169x3", sizes={"M": 2097169, "N": 3}, needs="gpu"),
    Case(name="4099x4093-bits", sizes={"M": 4099, "N": 4093}, values="bits", needs="gpu"),
    Case(name="8192x8192", sizes={"M": 8192, "N": 8192}, needs="gpu"),
)
TIMED = (
    TimedCase(name="8192x8192", sizes={"M": 8192, "N": 8192}, smaller=({"M": 4096, "N": 4096}, {"M": 2048, "N": 2048})),
    TimedCase(
        name="16384x4096", sizes={"M": 16384, "N": 4096}, smaller=({"M": 8192, "N": 2048}, {"M": 4096, "N": 1024})),
)


def distributions(case: Case) -> Mapping[str, Distribution]:
    """x (M, N) of a random scale and offset, or for "bits" every pattern that is a finite number."""
    return {"x": Bits() if case.values == "bits" else
            Spread(scale=(0.5, 10.5), offset=2.0, axis=None, even=True, absolute=True)}


def work(sizes: Mapping[str, int]) -> Work:
    """x is read and out written, 4 bytes an element."""
    return Work(bytes=8 * sizes["M"] * sizes["N"])


def rows(inputs: Inputs, index: slice | Tensor) -> Inputs:
    """Rows of out are columns of x."""
    return {"x": inputs["x"][:, index]}


def _reshaped(x: Tensor) -> Tensor | None:
    m, n = x.shape
    return None if 1 in (m, n) or m == n else x.reshape(n, m).double()


def _identity(x: Tensor) -> Tensor | None:
    m, n = x.shape
    return x.double() if m == n > 1 else None


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
        name="tiles not turned",
        hint="Each tile is in its right place, but its own elements are not transposed: see tl.trans.",
        answer=answer,
    )


def _tiles_not_moved(tile: int) -> Mistake:
    def answer(x: Tensor) -> Tensor | None:
        m, n = x.shape
        if m != n or m <= tile or m % tile:
            return None
        return x.double().view(m // tile, tile, n // tile, tile).permute(0, 3, 2, 1).reshape(m, n)

    return Mistake(
        name="tiles not moved",
        hint="Each tile is transposed, but stored where it came from: exchange the tile's two indices.",
        answer=answer,
    )


TILES = (8, 16, 32, 64, 128)
MISTAKES = (
    Mistake(
        name="reshaped",
        hint="The elements are in the order of x: element (i, j) of x lies at i · N + j, and goes to j · M + i.",
        answer=_reshaped,
    ),
    Mistake(
        name="copied",
        hint="This is x itself: element (i, j) goes to (j, i).",
        answer=_identity,
    ),
    *(_tiles_in_place(tile) for tile in TILES),
    *(_tiles_not_moved(tile) for tile in TILES),
)

PARAMETERS = (Input(name="x", shape=("M", "N")), Output(name="out", shape=("N", "M")))
ASSIGNMENT = Assignment(
    name="transpose",
    title="Transpose",
    formula="out[j, i] = x[i, j]",
    order=5,
    parameters=PARAMETERS,
    cases=CASES,
    baseline=Baseline(name="out.copy_(x.t())", compiled="torch.compile of the same"),
    distributions=distributions,
    make_inputs=maker(PARAMETERS, distributions),
    mistakes=MISTAKES,
    rows=rows,
    timed=TIMED,
    work=work,
)
