"""Rotary position embedding of queries and keys, in place: pairs of elements half a head apart, turned by tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

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
    Spread,
    Update,
    Work,
    assignment,
    cases,
    mistakes,
    rounding,
    timed,
)

BLOCKS = (2, 4, 8, 16, 32, 64)
"""Tokens that a mistaken program turns by one position."""
BASE = 10_000.0
"""The base of the angles in the first paper, which kernels that compute their own mostly use."""

Turn = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor | None]
"""x, which is q or k, positions, cos and sin to x as a kernel leaves it."""


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
        x, cos, sin = (inputs[of].abs() for of in (name, "cos", "sin"))
        (early, late), c, s = _halves(x), _of(cos, inputs["positions"]), _of(sin, inputs["positions"])
        products = torch.cat((early * c + late * s, late * c + early * s), dim=-1)
        return rounding(expected, torch.bfloat16) + 2 * EPS32 * products

    return allowed


def work(sizes: Mapping[str, int]) -> Work:
    """q and k are read and written; of the tables each position that occurs is read once."""
    t, h, g, d, p = (sizes[name] for name in "THGDP")
    # Three in four positions are drawn alone.
    rows = -p * math.expm1(0.75 * t * math.log1p(-1 / p)) if p > 1 else 1
    return Work(bytes=4 * t * (h + g) * d + 4 * t + 4 * d * rows)


def _halves(x: Tensor) -> tuple[Tensor, Tensor]:
    early, late = x.double().chunk(2, dim=-1)
    return early, late


def _of(table: Tensor, positions: Tensor) -> Tensor:
    """A table's rows for tokens, of shape (T, 1, D / 2)."""
    return table[positions.long()].double()[:, None]


def _turned(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    (early, late), c, s = _halves(x), _of(cos, positions), _of(sin, positions)
    return torch.cat((early * c - late * s, late * c + early * s), dim=-1)


def _with_signs(x: Tensor, first: int, second: int, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    (early, late), c, s = _halves(x), _of(cos, positions), _of(sin, positions)
    return torch.cat((early * c + first * late * s, late * c + second * early * s), dim=-1)


def _neighbours(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    even, odd, c, s = x[..., 0::2].double(), x[..., 1::2].double(), _of(cos, positions), _of(sin, positions)
    return torch.stack((even * c - odd * s, odd * c + even * s), dim=-1).flatten(-2)


def _from_new(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    (early, late), c, s = _halves(x), _of(cos, positions), _of(sin, positions)
    new = early * c - late * s
    return torch.cat((new, late * c + new * s), dim=-1)


def _in_bfloat16(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    (early, late), c, s = x.chunk(2, dim=-1), *(_of(table, positions).bfloat16() for table in (cos, sin))
    return torch.cat((early * c - late * s, late * c + early * s), dim=-1).double()


def _own_angles(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = cos.shape[1]
    angles = positions.double()[:, None] * BASE ** (-torch.arange(half, device=x.device) / half)
    return _turned(x, torch.arange(len(x), device=x.device), angles.cos(), angles.sin())


def _one_half(new: int) -> Turn:
    """Only half `new` is written."""
    return lambda x, *tables: torch.cat(
        [_halves(_turned(x, *tables) if half == new else x)[half] for half in (0, 1)], dim=-1)


def _first_of(block: int) -> Turn:
    return lambda x, positions, cos, sin: _turned(
        x, positions[torch.arange(len(x), device=x.device) // block * block], cos, sin) if len(x) > block else None


def _by_head(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor | None:
    tokens, heads, _ = x.shape
    return _turned(x.transpose(0, 1), positions[:heads], cos, sin).transpose(0, 1) if 1 < heads <= tokens else None


TURNS: tuple[tuple[str, str, Turn], ...] = (
    ("not changed", "It is as it was before the call: q and k are both to be turned, in place.",
     lambda x, *tables: x.double()),
    ("neighbours", "Pairs of neighbours, 2 j and 2 j + 1, were turned: j and j + D / 2 are a pair here.", _neighbours),
    ("other direction", "Pairs were turned the other way: the early half is early · cos − late · sin, the late one "
     "late · cos + early · sin.", lambda x, positions, cos, sin: _turned(x, positions, cos, -sin)),
    ("plus in the early half", "The sine has a plus in the early half: it is early · cos − late · sin.",
     lambda x, *tables: _with_signs(x, 1, 1, *tables)),
    ("minus in the late half", "The sine has a minus in the late half: it is late · cos + early · sin.",
     lambda x, *tables: _with_signs(x, -1, -1, *tables)),
    ("from the new half", "The late half was computed from the new early one: load both, and compute both, before you "
     "change either.", _from_new),
    ("only the early half", "The late half is as it was: both halves of a head are turned.", _one_half(0)),
    ("only the late half", "The early half is as it was: both halves of a head are turned.", _one_half(1)),
    ("cos and sin swapped", "cos and sin are swapped.",
     lambda x, positions, cos, sin: _turned(x, positions, sin, cos)),
    ("no sin", "This is x · cos alone: the other half of the pair, times sin, is missing.",
     lambda x, positions, cos, sin: _turned(x, positions, cos, torch.zeros_like(sin))),
    ("turned twice", "It was turned twice: do two programs take the same head, or is the kernel tuned? Each trial of a "
     "tuner changes q and k again, unless restore_value names them.",
     lambda x, *tables: _turned(_turned(x, *tables).to(x.dtype), *tables)),
    ("own angles", "The angles are position / 10000^(2 j / D): take cos and sin from the tables.", _own_angles),
    ("number of the row", "Each token was turned by its number t: its position is positions[t].",
     lambda x, positions, cos, sin: _turned(x, torch.arange(len(x), device=x.device), cos, sin)
     if 1 < len(x) <= len(cos) else None),
    ("position 0", "All tokens were turned by position 0: load positions[t], and begin at position · D / 2.",
     lambda x, positions, cos, sin: _turned(x, torch.zeros_like(positions), cos, sin) if len(cos) > 1 else None),
    ("position by head", "Heads were turned by the positions of the first tokens: all heads of a token have its "
     "position.", _by_head),
    ("in bfloat16", "Products were rounded to bfloat16: convert q and k to float32, leave cos and sin in it, and round "
     "the result alone.", _in_bfloat16),
    *(("one position for a block", "Several tokens were turned by one position, that of the first: load one for each.",
       _first_of(block)) for block in BLOCKS),
)

ASSIGNMENT = assignment(
    name="rope",
    title="Rotary embedding, in place",
    formula="x[t, h, j], x[t, h, j + D/2] = x[t, h, j] · c − x[t, h, j + D/2] · s, x[t, h, j + D/2] · c + x[t, h, j] · "
            "s\n    for x = q and k, j < D/2, c = cos[positions[t], j], s = sin[positions[t], j]",
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
    rows="q k positions",
    work=work,
    mistakes=mistakes(
        *((name, hint, lambda q, k, positions, cos, sin, turn=turn: [turn(x, positions, cos, sin) for x in (q, k)])
          for name, hint, turn in TURNS), output="q k"),
)
