"""The k largest of each row and where they stand: a selection, an order, and a rule for equal numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from grader.kit.author import (
    Baseline,
    Bits,
    Case,
    Distribution,
    Fixed,
    Input,
    Inputs,
    OneOf,
    Output,
    Scalar,
    Spread,
    Whole,
    assignment,
    cases,
    mistakes,
    timed,
)

BLOCKS = (32, 64, 128, 256, 512, 1024, 2048, 4096)
"""Sizes of the blocks that mistaken kernels look at."""
CONTENTS: Mapping[str, Distribution] = {
    "mixed": Spread(scale=(0.3, 3.0), offset=1.0, distinct=True),
    "negative": Whole(-100_300, -100_001),
    "ties": OneOf((*(-n - 0.1 for n in range(1, 12)), -0.0, 0.0, 1.1)),
    "bits": Bits(),
}
"""By the values of a case. Of bits the largest number of float32 comes often. Timed rows have no ties, which torch.topk
decides in any way."""

Taken = tuple[Tensor, Tensor]
"""Numbers and their columns, each of shape (M, k)."""
Take = Callable[[Tensor, int], Taken | None]


def oracle(x: Tensor, k: int) -> Taken:
    """The right values, float64 of shape (M, k), and indices, int64 of the same shape."""
    return _largest(x, k)


def distributions(case: Case) -> Mapping[str, Distribution]:
    return {"x": CONTENTS[case.values], "k": Fixed(case.sizes["k"])}


def by_value(inputs: Inputs, expected: Tensor) -> Tensor:
    """No error; but −0 equals 0, whichever of them is given."""
    return torch.zeros_like(expected)


def _largest(x: Tensor, k: int, keys: Tensor | None = None, descending: bool = True) -> Taken:
    """The first k of each row in the order of `keys`, or of x; of equal ones the earlier first."""
    # Every device sorts −0 as 0 then.
    order = x + 0.0 if keys is None else keys
    columns = torch.sort(order, dim=1, descending=descending, stable=True).indices[:, :k]
    return x.gather(1, columns).double(), columns


def _part(first: Callable[[int], int], end: Callable[[int], int]) -> Take:
    """The largest among some columns of N; None if that is all of them, or too few."""
    def take(x: Tensor, k: int) -> Taken | None:
        at, stop = first(x.shape[1]), min(end(x.shape[1]), x.shape[1])
        if not k <= stop - at < x.shape[1]:
            return None
        values, columns = _largest(x[:, at:stop], k)
        return values, columns + at

    return take


def _by_column(x: Tensor, k: int) -> Taken:
    columns = _largest(x, k)[1].sort(dim=1).values
    return x.gather(1, columns).double(), columns


def _equal_ones_once(x: Tensor, k: int) -> Taken | None:
    values, columns = _largest(x, x.shape[1])
    new = torch.ones_like(values, dtype=torch.bool)
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    if int(new.sum(dim=1).min()) < k:
        return None
    kept = new.to(torch.int8).sort(dim=1, descending=True, stable=True).indices[:, :k]
    return values.gather(1, kept), columns.gather(1, kept)


def _zeros_beyond(x: Tensor, k: int) -> Taken | None:
    missing = (1 << (x.shape[1] - 1).bit_length()) - x.shape[1]
    return _largest(torch.nn.functional.pad(x, (0, missing)), k) if missing else None


def _ranks(first: int, end: int) -> Take:
    """Those of some ranks, k of them or one for all."""
    def take(x: Tensor, k: int) -> Taken | None:
        if k + first > x.shape[1]:
            return None
        values, columns = _largest(x, k + first)
        return values[:, first : end or None].expand(-1, k), columns[:, first : end or None].expand(-1, k)

    return take


def _later_block(block: int) -> Callable[[Tensor, int], Tensor | None]:
    """The largest numbers where, if several are equal, those of a later block come first."""
    def answer(x: Tensor, k: int) -> Tensor | None:
        n = x.shape[1]
        order = torch.cat([torch.arange(first, min(first + block, n), device=x.device)
                           for first in reversed(range(0, n, block))])
        return order[_largest(x[:, order], k)[1]] if n > block else None

    return answer


def _by_bits(x: Tensor, k: int) -> Tensor:
    bits = x.view(torch.int32)
    return _largest(x, k, keys=bits ^ ((bits >> 31) & 0x7FFFFFFF))[1]


def _removed_by_0(x: Tensor, k: int) -> Tensor:
    later = torch.arange(k, device=x.device) > 0
    values = _largest(x, k)[0]
    return torch.where(later & (values < 0), 0.0, values)


ASSIGNMENT = assignment(
    name="topk",
    title="The k largest of each row",
    formula="values[i, r], indices[i, r] = the r-th largest of row i of x, and its column; of equal ones the first",
    order=7,
    parameters=(Input(name="x", shape=("M", "N")), Scalar(name="k", type="int"),
                Output(name="values", shape=("M", "k")), Output(name="indices", shape=("M", "k"), dtype="int64")),
    choices={"k": (1, 8, 50)},
    fits=lambda sizes: sizes["k"] <= sizes["N"],
    oracle=oracle,
    cases=cases(
        "M N k", "1x1x1 5x9x1 37x32x8-ties 3x900x50 149x31x8-negative 3x4099x50-bits 5x1009x50-negative 2x20016x8 "
        "19x50x50-bits 2x9001x8-ties",
        gpu="70001x33x8-ties 17x128256x50-bits"),
    timed=timed("M N k", "65536x128x8 32768x128x8 16384x128x8", "256x131072x50 128x131072x50 64x131072x50"),
    baseline=Baseline(name="torch.topk", compiled="torch.compile of topk"),
    distributions=distributions,
    tolerance={"values": by_value},
    rows="x",
    right_by_nature={
        **dict.fromkeys(("1x1x1: values: the input", "1x1x1: values: the mean"), "one element is the largest"),
        **{f"1x1x1: indices: {name}": "the only column is 0" for name in (
            "zeros", "the input", "the mean", "an earlier answer", "the answer of values")},
        "2x9001x8-ties: values: an earlier answer": "1.1 stands more than 8 times in each row"},
    mistakes=(
        *mistakes(
            ("smallest", "These are the smallest of each row: the largest are asked for.",
             lambda x, k: _largest(x, k, descending=False)),
            ("rising", "The order rises: the largest comes first.",
             lambda x, k: tuple(one.flip(1) for one in _largest(x, k))),
            ("by absolute value", "The order is that of |x|: −5 is smaller than 1.",
             lambda x, k: _largest(x, k, keys=x.abs())),
            ("in order of columns", "The right numbers stand in the order of their columns: the largest comes first.",
             _by_column),
            ("equal ones once", "Only one of equal numbers was taken: when the largest is removed, remove a single "
             "column, the first that holds it.", _equal_ones_once),
            ("the largest again", "The largest of each row stands in all k places: remove it before you look for the "
             "next.", _ranks(0, 1)),
            ("without the first", "The largest of each row is missing: begin with it.", _ranks(1, 0)),
            ("first columns", "These are the first k columns of x as they are.",
             lambda x, k: (x[:, :k].double(), torch.arange(k, device=x.device).expand(len(x), k))),
            ("zeros beyond the end", "Lanes beyond the end of the row took part as zeros: give the load "
             "other=-float('inf').", _zeros_beyond),
            ("last column missing", "The last column was not looked at: the mask is column < N.",
             _part(lambda n: 0, lambda n: n - 1)),
            *(mistake for block in BLOCKS for mistake in (
                ("first block only", "Only the first columns, one block of them, were looked at: it goes over the "
                 "whole row.", _part(lambda n: 0, lambda n, block=block: block)),
                ("last block only", "Only the last block was looked at: keep the best of all blocks before.",
                 _part(lambda n, block=block: (n - 1) // block * block, lambda n: n)),
                ("last block missing", "The last columns, a partial block, were not looked at: it needs N / BLOCK "
                 "blocks, rounded up, the last one masked.",
                 _part(lambda n: 0, lambda n, block=block: n // block * block)),
            )),
            output="values indices"),
        *mistakes(
            ("removed by 0", "The largest was taken out by a 0 in its place, which beats negative numbers: take "
             "-float('inf').", _removed_by_0), output="values"),
        *mistakes(
            ("later first", "The later of equal numbers stands first: the one with the smaller index should.",
             lambda x, k: x.shape[1] - 1 - _largest(x.flip(1), k)[1]),
            *(("later block first", "The later of equal numbers in two blocks won: as you join blocks, a later "
               "number takes the place of an earlier one only if it is larger, > and not >=.", _later_block(block))
              for block in BLOCKS),
            ("−0 below 0", "−0 was put below 0: they are equal, so the one with the smaller index is first.", _by_bits),
            ("counted from 1", "The indices are one too large: they count from 0.", lambda x, k: _largest(x, k)[1] + 1),
            ("of the matrix", "These are places in the whole matrix, row · N + column: the column is asked for.",
             lambda x, k: _largest(x, k)[1] + torch.arange(len(x), device=x.device)[:, None] * x.shape[1]),
            *(("column in a block", "These are columns of a block: add where the block begins.",
               lambda x, k, block=block: _largest(x, k)[1] % block if x.shape[1] > block else None)
              for block in BLOCKS),
            output="indices"),
    ),
)
