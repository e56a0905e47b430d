"""The k largest of each row and where they stand: a selection, an order, and a rule for equal numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

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
    Mistake,
    OneOf,
    Output,
    Scalar,
    Spread,
    Whole,
    assignment,
    cases,
    timed,
)

BLOCKS = (32, 64, 128, 256, 512, 1024, 2048, 4096)
"""Sizes of the blocks that mistaken kernels look at."""
CONTENTS: Mapping[str, Distribution] = {
    "mixed": Spread(scale=(0.3, 3.0), offset=1.0),
    "negative": Whole(-300, -1),
    "ties": OneOf((-3.0, -2.0, -1.0, -0.0, 0.0, 1.0)),
    "bits": Bits(),
}
"""By the values of a case. Of bits the largest number of float32 comes often."""

Taken = tuple[Tensor, Tensor]
"""Numbers and their places, each of shape (M, k)."""
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
    """The first k of each row in the order of `keys`, of equal ones the earlier first; x itself where there are none."""
    # Every device sorts −0 as 0 then.
    order = x + 0.0 if keys is None else keys
    places = torch.sort(order, dim=1, descending=descending, stable=True).indices[:, :k]
    return x.gather(1, places).double(), places


def _part(x: Tensor, k: int, first: int, end: int) -> Taken | None:
    """The largest among the columns from `first` on and before `end`; None if that is all of them, or too few."""
    if not k <= end - first < x.shape[1]:
        return None
    values, places = _largest(x[:, first:end], k)
    return values, places + first


def _first_block(block: int) -> Take:
    return lambda x, k: _part(x, k, 0, min(block, x.shape[1]))


def _last_block(block: int) -> Take:
    return lambda x, k: _part(x, k, (x.shape[1] - 1) // block * block, x.shape[1])


def _whole_blocks(block: int) -> Take:
    return lambda x, k: _part(x, k, 0, x.shape[1] // block * block)


def _by_place(x: Tensor, k: int) -> Taken:
    places = _largest(x, k)[1].sort(dim=1).values
    return x.gather(1, places).double(), places


def _distinct(x: Tensor, k: int) -> Taken | None:
    values, places = _largest(x, x.shape[1])
    new = torch.ones_like(values, dtype=torch.bool)
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    if int(new.sum(dim=1).min()) < k:
        return None
    kept = new.to(torch.int8).sort(dim=1, descending=True, stable=True).indices[:, :k]
    return values.gather(1, kept), places.gather(1, kept)


def _zeros_beyond(x: Tensor, k: int) -> Taken | None:
    missing = (1 << (x.shape[1] - 1).bit_length()) - x.shape[1]
    return _largest(torch.nn.functional.pad(x, (0, missing)), k) if missing else None


def _without_first(x: Tensor, k: int) -> Taken | None:
    if k == x.shape[1]:
        return None
    values, places = _largest(x, k + 1)
    return values[:, 1:], places[:, 1:]


def _removed_by_0(x: Tensor, k: int) -> Tensor:
    values = _largest(x, k)[0]
    later = torch.arange(k, device=x.device) > 0
    return torch.where(later & (values < 0), 0.0, values)


def _first_again(x: Tensor, k: int) -> Taken:
    values, places = _largest(x, 1)
    return values.expand(-1, k), places.expand(-1, k)


def _first_columns(x: Tensor, k: int) -> Taken:
    return x[:, :k].double(), torch.arange(k, device=x.device).expand(len(x), k)


def _rising(x: Tensor, k: int) -> Taken:
    values, places = _largest(x, k)
    return values.flip(1), places.flip(1)


def _later_first(x: Tensor, k: int) -> Tensor:
    return x.shape[1] - 1 - _largest(x.flip(1), k)[1]


def _by_bits(x: Tensor, k: int) -> Tensor:
    bits = x.view(torch.int32)
    return _largest(x, k, keys=bits ^ ((bits >> 31) & 0x7FFFFFFF))[1]


def _of_matrix(x: Tensor, k: int) -> Tensor:
    rows = torch.arange(len(x), device=x.device)[:, None]
    return _largest(x, k)[1] + rows * x.shape[1]


TAKEN: tuple[tuple[str, str, Take], ...] = (
    ("smallest", "These are the smallest of each row: the largest are asked for.",
     lambda x, k: _largest(x, k, descending=False)),
    ("rising", "The order rises: the largest comes first.", _rising),
    ("by absolute value", "The order is that of |x|: −5 is smaller than 1.",
     lambda x, k: _largest(x, k, keys=x.abs())),
    ("in order of place", "The right numbers stand in the order of their places: the largest comes first.", _by_place),
    ("equal ones once", "Of equal numbers only one was taken: when the largest is removed, remove a single place, the "
     "first that holds it.", _distinct),
    ("the largest again", "The largest of each row stands in all k places: remove it before you look for the next.",
     _first_again),
    ("without the first", "The largest of each row is missing: begin with it.", _without_first),
    ("first columns", "These are the first k columns of x as they are.", _first_columns),
    ("zeros beyond the end", "Lanes beyond the end of the row took part as zeros: give the load other=-float('inf').",
     _zeros_beyond),
    *((name, hint, make(block)) for name, hint, make in (
        ("first block only", "Only the first columns, one block of them, were looked at: it goes over the whole row.",
         _first_block),
        ("last block only", "Only the last block was looked at: keep the best of all blocks before.", _last_block),
        ("last block missing", "The last columns, a partial block, were not looked at: it needs N / BLOCK blocks, "
         "rounded up, the last one masked.", _whole_blocks),
    ) for block in BLOCKS),
)
PLACES: tuple[tuple[str, str, Callable[[Tensor, int], Tensor | None]], ...] = (
    ("later first", "Of equal numbers the later stands first: the one with the smaller index does.", _later_first),
    ("−0 below 0", "−0 was put below 0: they are equal, so the one with the smaller index stands first.", _by_bits),
    ("counted from 1", "The indices are one too large: they count from 0.", lambda x, k: _largest(x, k)[1] + 1),
    ("of the matrix", "These are places in the whole matrix, row · N + column: the column is asked for.", _of_matrix),
    *(("place in a block", "These are places in a block of columns: add where the block begins.",
       lambda x, k, block=block: _largest(x, k)[1] % block if x.shape[1] > block else None) for block in BLOCKS),
)


def _mistakes() -> Iterator[Mistake]:
    for name, hint, take in TAKEN:
        for number, output in enumerate(("values", "indices")):
            def answer(x: Tensor, k: int, _take: Take = take, _number: int = number) -> Tensor | None:
                taken = _take(x, k)
                return None if taken is None else taken[_number]

            yield Mistake(name=name, hint=hint, answer=answer, output=output)
    yield Mistake(name="removed by 0", hint="The largest was taken out by a 0 in its place, which beats negative numbers: "
                  "take -float('inf').", answer=_removed_by_0)
    for name, hint, places in PLACES:
        yield Mistake(name=name, hint=hint, answer=places, output="indices")


ASSIGNMENT = assignment(
    name="topk",
    title="The k largest of each row",
    formula="values[i, r], indices[i, r] = the r-th largest of row i of x, from r = 0, and its column; of equal numbers "
            "the one in the smaller column first",
    order=7,
    parameters=(Input(name="x", shape=("M", "N")), Scalar(name="k", type="int"),
                Output(name="values", shape=("M", "k")), Output(name="indices", shape=("M", "k"), dtype="int64")),
    choices={"k": (1, 2, 8, 50)},
    oracle=oracle,
    cases=cases(
        "M N k", "1x1x1 5x9x2 37x32x8-ties 3x257x50 149x31x8-negative 3x4099x50-bits 5x1009x50-negative 2x20011x8 101x128x50",
        gpu="70001x33x8-ties 129x4093x50-negative 17x128256x50-bits 4096x256x8"),
    timed=timed("M N k", "65536x128x8 32768x128x8 16384x128x8", "256x131072x50 128x131072x50 64x131072x50"),
    baseline=Baseline(name="torch.topk", compiled="torch.compile of topk"),
    distributions=distributions,
    tolerance={"values": by_value},
    rows="x",
    mistakes=tuple(_mistakes()),
)
