"""Quantisation of rows to int8: a largest element for each row, a division, and a rounding that has to be the right one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor

from grader.kit.author import (
    EPS32,
    SMALLEST_NORMAL32,
    Baseline,
    Case,
    Distribution,
    Input,
    Inputs,
    Mistake,
    Outliers,
    Output,
    Spread,
    Whole,
    assignment,
    cases,
    timed,
)

LEVELS = 127
BLOCKS = (64, 128, 256, 512, 1024, 2048, 4096)
"""Sizes of the blocks that mistaken maxima are made of."""
CONTENTS: Mapping[str, Distribution] = {
    "mixed": Spread(scale=(0.05, 10.0), outliers=Outliers(every=64, times=4.0)),
    "extreme": Spread(scale=(1e-18, 1e18)),
    "halves": Whole(-2 * LEVELS, 2 * LEVELS),
    "few": Whole(-1, 1),
}
"""By the values of a case. Of whole numbers up to 254 the scale is 2 and every odd number lies between two levels, where
254 occurs; of −1, 0 and 1 short rows are often zeros alone."""

Largest = Callable[[Tensor], Tensor | None]
"""x (float64) to the largest elements that a mistaken kernel divides by, broadcastable to x."""


def oracle(x: Tensor) -> tuple[Tensor, Tensor]:
    """The right values, int8 of shape (M, N), and scales, float64 of shape (M,)."""
    return _levels(_quotients(x).round()), _largest(x.double()).squeeze(1) / LEVELS


def values_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """One level where rounding decides to which side of a half a quotient falls; no error elsewhere."""
    x = inputs["x"].double()
    largest, quotient = _largest(x), _quotients(inputs["x"])
    # The scale and the quotient err by 2 units each where Triton divides, together by 4·EPS32, allowed twice.
    from_half = (quotient - quotient.floor() - 0.5).abs()
    near = from_half <= 8 * EPS32 * quotient.abs()
    # A scale that is a power of two is exact on every device, and so are quotients by it: then halves are halves.
    mantissa, _ = torch.frexp(largest / LEVELS)
    allowed: Tensor = (near & (mantissa != 0.5)).double()
    return allowed


def scales_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """A quotient is off by 2 units where Triton divides, by 1.5 for a product with 1 / 127: allowed twice."""
    return 4 * EPS32 * expected + SMALLEST_NORMAL32 * (expected > 0)


def _largest(x: Tensor) -> Tensor:
    return x.abs().amax(dim=1, keepdim=True)


def _quotients(x: Tensor, largest: Tensor | None = None, levels: float = LEVELS) -> Tensor:
    """x · levels / largest in float64; 0 where that is 0 / 0."""
    x = x.double()
    found: Tensor = x * levels / (_largest(x) if largest is None else largest)
    return found.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)


def _levels(x: Tensor) -> Tensor:
    """Whole numbers as int8 holds them: 130 becomes −126."""
    return ((x + 128) % 256 - 128).to(torch.int8)


def _rounded_by(rounding: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda x: _levels(rounding(_quotients(x)))


def _first_block(block: int) -> Largest:
    return lambda x: _largest(x[:, :block]) if x.shape[1] > block else None


def _last_block(block: int) -> Largest:
    return lambda x: _largest(x[:, (x.shape[1] - 1) // block * block :]) if x.shape[1] > block else None


def _whole_blocks(block: int) -> Largest:
    return lambda x: (_largest(x[:, : x.shape[1] // block * block])
                      if x.shape[1] > block and x.shape[1] % block else None)


def _in_bfloat16(x: Tensor) -> Tensor:
    return (_largest(x) / LEVELS).bfloat16().double() * LEVELS


LARGEST: tuple[tuple[str, str, Largest], ...] = (
    ("largest of the matrix", "One scale serves the whole matrix: each row has its own largest element.",
     lambda x: x.abs().amax().expand(len(x), 1) if len(x) > 1 else None),
    ("no absolute value", "The largest element was taken as it is: of |x|, since the most negative one counts as well.",
     lambda x: x.amax(dim=1, keepdim=True)),
    ("scale in bfloat16", "The scale was rounded to bfloat16: convert the largest element to float32 before you divide "
     "by 127.", _in_bfloat16),
    ("128 levels", "The scale is max |x| / 128: the largest int8 is 127.", lambda x: _largest(x) * LEVELS / 128),
    ("255 levels", "The scale is max |x| / 255: that is for unsigned bytes; from −127 to 127 it is max |x| / 127.",
     lambda x: _largest(x) * LEVELS / 255),
    ("mean for maximum", "The scale was made from the mean of |x|: it follows from the largest.",
     lambda x: x.abs().mean(dim=1, keepdim=True) if x.shape[1] > 1 else None),
    *((name, hint, make(block)) for name, hint, make in (
        ("first block only", "The largest element is that of the first block alone: it is sought in the whole row.",
         _first_block),
        ("last block only", "The largest element is that of the last block alone: the loop replaces the maximum, it "
         "does not keep the larger one.", _last_block),
        ("last block missing", "The largest element was not sought in the last columns, a partial block: it needs "
         "N / BLOCK blocks, rounded up, the last one masked.", _whole_blocks),
    ) for block in BLOCKS),
)


def _mistakes() -> Iterator[Mistake]:
    for name, hint, largest in LARGEST:
        def values(x: Tensor, _largest: Largest = largest) -> Tensor | None:
            found = _largest(x.double())
            return None if found is None else _levels(_quotients(x, found).round())

        def scales(x: Tensor, _largest: Largest = largest) -> Tensor | None:
            found = _largest(x.double())
            return None if found is None else found.squeeze(1) / LEVELS

        yield Mistake(name=name, hint=hint, answer=values, output="values")
        yield Mistake(name=name, hint=hint, answer=scales, output="scales")
    for name, hint, answer in VALUES:
        yield Mistake(name=name, hint=hint, answer=answer, output="values")
    for name, hint, answer in SCALES:
        yield Mistake(name=name, hint=hint, answer=answer, output="scales")


VALUES: tuple[tuple[str, str, Callable[[Tensor], Tensor | None]], ...] = (
    ("cut off", "The fractions were cut off: .to(tl.int8) rounds toward zero, so round first.",
     _rounded_by(torch.trunc)),
    ("rounded down", "The quotients were rounded down: to the nearest, please, and halves to the even number.",
     _rounded_by(torch.floor)),
    ("halves up", "Halves were rounded up: half to even makes 2 of 2.5 and 4 of 3.5, as libdevice.rint does.",
     _rounded_by(lambda q: (q + 0.5).floor())),
    ("halves away from zero", "Halves were rounded away from zero, as libdevice.round does: half to even is "
     "libdevice.rint.", _rounded_by(lambda q: (q.abs() + 0.5).floor() * q.sign())),
    ("0.5 added, then cut off", "0.5 was added to negative numbers, too, and the fraction cut off: that rounds −3.2 to "
     "−2. libdevice.rint rounds to the nearest.", _rounded_by(lambda q: (q + 0.5).trunc())),
    ("along columns", "Each column has a scale here: the largest element is sought along each row.",
     lambda x: _levels(_quotients(x, x.double().abs().amax(dim=0, keepdim=True)).round()) if x.numel() > 1 else None),
    ("not divided", "x itself was stored as int8: divide it by the scale of its row.",
     lambda x: _levels(x.double().trunc())),
    ("zero point", "128 was added: int8 has a sign, and 0 stays 0.",
     lambda x: _levels(_quotients(x).round() + 128)),
)
SCALES: tuple[tuple[str, str, Callable[[Tensor], Tensor | None]], ...] = (
    ("inverse", "These are 127 / max |x|, the inverse of the scales.",
     lambda x: (LEVELS / _largest(x.double())).squeeze(1).nan_to_num(posinf=0.0)),
    ("not divided", "These are max |x|: a scale is that, divided by 127.", lambda x: _largest(x.double()).squeeze(1)),
    ("1 for a row of zeros", "The scale of a row of zeros is 0.",
     lambda x: torch.where(_largest(x) > 0, _largest(x.double()) / LEVELS, 1.0).squeeze(1)),
)

ASSIGNMENT = assignment(
    name="quantize_rows",
    title="Quantisation of rows to int8",
    formula="scales[i] = max over j of |x[i, j]| / 127;  values[i, j] = x[i, j] / scales[i], rounded to the nearest, "
            "halves to the even number; 0 in a row of zeros",
    order=3,
    parameters=(Input(name="x", shape=("M", "N"), dtype="bfloat16"),
                Output(name="values", shape=("M", "N"), dtype="int8"), Output(name="scales", shape=("M",))),
    oracle=oracle,
    cases=cases(
        "M N", "1x1 5x9 37x1500-extreme 1x1009 37x64 149x3-few 3x4099 61x101-halves 2x20011",
        gpu="70001x33-few 4099x4093-extreme 4099x129-halves 257x30011 8192x8192"),
    timed=timed("M N", "8192x8192 4096x4096 2048x2048", "65536x1024 32768x1024 16384x1024"),
    baseline=Baseline(name="norm, division, product, round and a copy to int8", compiled="torch.compile of the same"),
    distributions=lambda case: {"x": CONTENTS[case.values]},
    tolerance={"values": values_tolerance, "scales": scales_tolerance},
    rows="x",
    mistakes=tuple(_mistakes()),
)
