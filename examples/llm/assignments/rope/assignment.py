"""Rotary position embedding of queries and keys, in place: pairs of elements half a head apart, turned by tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor

from grader.kit.author import (
    EPS32,
    Baseline,
    Case,
    Distribution,
    Indices,
    Input,
    Inputs,
    Mistake,
    Spread,
    Update,
    Work,
    assignment,
    cases,
    rounding,
    timed,
)

BLOCKS = (2, 4, 8, 16, 32, 64)
"""Tokens that a mistaken program turns by one position."""
BASE = 10_000.0
"""Of the angles in the first paper, which kernels that compute their own mostly use."""

Turn = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor | None]
"""(x, positions, cos, sin) to a wrong answer, x being q or k."""


def oracle(q: Tensor, k: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """q and k as they have to be afterwards, in float64."""
    return _turned(q, positions, cos, sin), _turned(k, positions, cos, sin)


def distributions(case: Case) -> Mapping[str, Distribution]:
    """The tables hold any numbers, not those of an angle: what computes its own is wrong."""
    numbers = Spread(scale=(0.3, 3.0))
    return {"q": numbers, "k": numbers, "positions": Indices("P"), "cos": Spread(), "sin": Spread()}


def tolerance(name: str) -> Callable[[Inputs, Tensor], Tensor]:
    def allowed(inputs: Inputs, expected: Tensor) -> Tensor:
        # Two products and their sum are rounded to float32, by EPS32 of both products at most: allowed twice. The sum
        # is then rounded to bfloat16.
        sizes = {table: inputs[table].abs() for table in ("cos", "sin")}
        early, late = _halves(inputs[name].abs())
        c, s = (_of(table, inputs["positions"]) for table in sizes.values())
        products = torch.cat((early * c + late * s, late * c + early * s), dim=-1)
        return rounding(expected, torch.bfloat16) + 2 * EPS32 * products

    return allowed


def work(sizes: Mapping[str, int]) -> Work:
    """q and k are read and written; of the tables each position that occurs is read once."""
    t, h, g, d, p = (sizes[name] for name in "THGDP")
    positions = -p * math.expm1(0.75 * t * math.log1p(-1 / p)) if p > 1 else 1
    return Work(bytes=4 * t * (h + g) * d + 4 * t + 4 * d * positions)


def _halves(x: Tensor) -> tuple[Tensor, Tensor]:
    early, late = x.double().chunk(2, dim=-1)
    return early, late


def _of(table: Tensor, positions: Tensor) -> Tensor:
    """A table's rows for tokens, of shape (T, 1, D / 2)."""
    return table[positions.long()].double()[:, None]


def _turned(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    (early, late), c, s = _halves(x), _of(cos, positions), _of(sin, positions)
    return torch.cat((early * c - late * s, late * c + early * s), dim=-1)


def _neighbours(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    even, odd, c, s = x[..., 0::2].double(), x[..., 1::2].double(), _of(cos, positions), _of(sin, positions)
    return torch.stack((even * c - odd * s, odd * c + even * s), dim=-1).flatten(-2)


def _from_new(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    (early, late), c, s = _halves(x), _of(cos, positions), _of(sin, positions)
    new = (early * c - late * s).to(x.dtype).double()
    return torch.cat((new, late * c + new * s), dim=-1)


def _in_bfloat16(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    early, late = x.chunk(2, dim=-1)
    c, s = (table[positions.long()].to(x.dtype)[:, None] for table in (cos, sin))
    return torch.cat((early * c - late * s, late * c + early * s), dim=-1).double()


def _own_angles(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = cos.shape[1]
    pairs = torch.arange(half, device=x.device, dtype=torch.float64)
    angles = positions.double()[:, None] * BASE ** (-pairs / half)
    own = torch.arange(len(x), device=x.device)
    return _turned(x, own, angles.cos(), angles.sin())


def _parts(early: bool, late: bool) -> Turn:
    """Only one of the halves is written."""
    def turn(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        new, old = _halves(_turned(x, positions, cos, sin)), _halves(x)
        return torch.cat((new[0] if early else old[0], new[1] if late else old[1]), dim=-1)

    return turn


def _first_of(block: int) -> Turn:
    def turn(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor | None:
        first = torch.arange(len(x), device=x.device) // block * block
        return _turned(x, positions[first], cos, sin) if len(x) > block else None

    return turn


def _by_row(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor | None:
    own = torch.arange(len(x), device=x.device)
    return _turned(x, own, cos, sin) if 1 < len(x) <= len(cos) else None


def _by_head(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor | None:
    tokens, heads, _ = x.shape
    return _turned(x.transpose(0, 1), positions[:heads], cos, sin).transpose(0, 1) if 1 < heads <= tokens else None


TURNS: tuple[tuple[str, str, Turn], ...] = (
    ("not changed", "is as it was before the call: q and k are both to be turned, in place.",
     lambda x, positions, cos, sin: x.double()),
    ("neighbours", "was turned in pairs of neighbours, 2 j and 2 j + 1: here j and j + D / 2 are a pair.", _neighbours),
    ("other direction", "was turned the other way: the early half is x · cos − late · sin, the late one late · cos + x · "
     "sin.", lambda x, positions, cos, sin: _turned(x, positions, cos, -sin)),
    ("from the new half", "has a late half that was computed from the new early one: load both before you store "
     "either.", _from_new),
    ("only the early half", "has its old late half: both halves of a head are turned.", _parts(True, False)),
    ("only the late half", "has its old early half: both halves of a head are turned.", _parts(False, True)),
    ("cos and sin swapped", "was turned with cos and sin swapped.",
     lambda x, positions, cos, sin: _turned(x, positions, sin, cos)),
    ("no sin", "is x · cos alone: the other half of the pair, times sin, is missing.",
     lambda x, positions, cos, sin: _turned(x, positions, cos, torch.zeros_like(sin))),
    ("turned twice", "was turned twice: do two programs take the same head, or is the kernel tuned? Each trial of a "
     "tuner changes q and k again, unless restore_value names them.",
     lambda x, positions, cos, sin: _turned(_turned(x, positions, cos, sin).to(x.dtype), positions, cos, sin)),
    ("own angles", "was turned by angles of its own, position / 10000^(2 j / D): take cos and sin from the tables.",
     _own_angles),
    ("number of the row", "was turned by the number of each token: its position is positions[t].", _by_row),
    ("position 0", "was turned by position 0 everywhere: load positions[t], and begin at position · D / 2 of the tables.",
     lambda x, positions, cos, sin: _turned(x, torch.zeros_like(positions), cos, sin) if len(cos) > 1 else None),
    ("position by head", "was turned by the positions of the first tokens, one for each head: all heads of a token have "
     "its position.", _by_head),
    ("in bfloat16", "was computed in bfloat16: convert q, k to float32, and leave cos and sin in it; only the result is "
     "rounded.", _in_bfloat16),
    *(("one position for a block", "was turned by one position for several tokens, that of the first: load one for each.",
       _first_of(block)) for block in BLOCKS),
)


def _mistakes() -> Iterator[Mistake]:
    for name, hint, turn in TURNS:
        for output in ("q", "k"):
            def answer(_turn: Turn = turn, _output: str = output, **inputs: Tensor) -> Tensor | None:
                return _turn(*(inputs[key] for key in (_output, "positions", "cos", "sin")))

            yield Mistake(name=name, hint=f"{output} {hint}", answer=answer, output=output)


ASSIGNMENT = assignment(
    name="rope",
    title="Rotary embedding, in place",
    formula="q[t, h, j], q[t, h, j + D/2] = q[t, h, j] · c − q[t, h, j + D/2] · s, q[t, h, j + D/2] · c + q[t, h, j] · s, "
            "k likewise; c = cos[positions[t], j], s = sin[positions[t], j]",
    order=4,
    parameters=(Update(name="q", shape=("T", "H", "D"), dtype="bfloat16"),
                Update(name="k", shape=("T", "G", "D"), dtype="bfloat16"),
                Input(name="positions", shape=("T",), dtype="int32"),
                Input(name="cos", shape=("P", "D // 2")), Input(name="sin", shape=("P", "D // 2"))),
    choices={"D": (16, 64, 80, 128)},
    oracle=oracle,
    cases=cases(
        "T H G D P", "1x1x1x16x1 5x3x1x16x9 7x32x8x128x100 3x5x2x80x50 149x4x4x64x1009 257x2x1x80x31 33x1x1x64x20011",
        gpu="4099x32x8x128x8192 70001x3x1x80x1009"),
    timed=timed("T H G D P", "16384x32x8x128x8192 8192x32x8x128x8192 4096x32x8x128x8192",
                "32768x16x16x64x4096 16384x16x16x64x4096 8192x16x16x64x4096"),
    baseline=Baseline(name="products and sums of halves, copied back", compiled="torch.compile of the same"),
    distributions=distributions,
    tolerance={"q": tolerance("q"), "k": tolerance("k")},
    rows={"q": "q k positions", "k": "q k positions"},
    work=work,
    mistakes=tuple(_mistakes()),
)
