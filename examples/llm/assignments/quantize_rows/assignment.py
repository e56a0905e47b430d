"""Quantisation of rows to int8: a largest element for each row, a division, and a rounding that has to be the right
one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from grader.kit.author import (
    EPS32,
    SMALLEST_NORMAL32,
    Baseline,
    Distribution,
    Input,
    Inputs,
    Outliers,
    Output,
    Spread,
    Whole,
    assignment,
    cases,
    mistakes,
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
"""By the values of a case. A row of whole numbers with 254 among them has scale 2, and odd ones lie between two levels;
of −1, 0 and 1 short rows are often zeros alone."""

Answer = Callable[[Tensor], tuple[Tensor, Tensor] | None]


def oracle(x: Tensor) -> tuple[Tensor, Tensor]:
    """The right values, int8 of shape (M, N), and scales, float64 of shape (M,)."""
    return _levels(_quotients(x, _largest(x)).round()), _largest(x)[:, 0] / LEVELS


def values_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """One level where rounding decides to which side of a half a quotient falls; no error elsewhere."""
    largest = _largest(inputs["x"])
    quotient = _quotients(inputs["x"], largest)
    # The scale and the quotient err by 2 units each where Triton divides, together by 4·EPS32: allowed twice.
    near = (quotient - quotient.floor() - 0.5).abs() <= 8 * EPS32 * quotient.abs()
    # A scale that is a power of two is exact on every device, and so are quotients by it: then halves are halves.
    mantissa, _ = torch.frexp(largest / LEVELS)
    return (near & (mantissa != 0.5)).double()


def scales_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """A quotient errs by 2 units where Triton divides, a product with 1 / 127 by 1.5: 2 are allowed twice."""
    return 4 * EPS32 * expected + SMALLEST_NORMAL32 * (expected > 0)


def _largest(x: Tensor) -> Tensor:
    return x.double().abs().amax(dim=1, keepdim=True)


def _quotients(x: Tensor, largest: Tensor) -> Tensor:
    """x in scales that follow from `largest`, float64; 0 in a row of zeros."""
    return (x.double() * LEVELS / largest).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)


def _levels(x: Tensor) -> Tensor:
    """Whole numbers as int8 holds them: 130 becomes −126."""
    return ((x + 128) % 256 - 128).to(torch.int8)


def _by(largest: Callable[[Tensor], Tensor | None]) -> Answer:
    """Values and scales that follow from another largest element."""
    def answer(x: Tensor) -> tuple[Tensor, Tensor] | None:
        found = largest(x.double())
        return None if found is None else (_levels(_quotients(x, found).round()), found[:, 0] / LEVELS)

    return answer


def _rounded(rounding: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda x: _levels(rounding(_quotients(x, _largest(x))))


def _at_least(least: float) -> Answer:
    """Largest elements are raised to `least`; None where that changes none but zeros."""
    return _by(lambda x: top.clamp_min(least) if bool(((top := _largest(x)) < least).logical_and(top > 0).any())
               else None)


def _part(first: Callable[[int], int], end: Callable[[int], int]) -> Answer:
    """The largest element among some columns of N; None if those are all or none."""
    return _by(lambda x: _largest(x[:, first(x.shape[1]) : end(x.shape[1])])
               if 0 < end(x.shape[1]) - first(x.shape[1]) < x.shape[1] else None)


def _in_block(x: Tensor, block: int) -> Tensor:
    """The largest element of each element's block, (M, N)."""
    return torch.cat([_largest(part).expand_as(part) for part in x.split(block, dim=1)], dim=1)


def _so_far(x: Tensor, block: int) -> Tensor:
    """The largest element of each element's block and of those before."""
    return _in_block(x, block).cummax(dim=1).values


ASSIGNMENT = assignment(
    name="quantize_rows",
    title="Quantisation of rows to int8",
    formula="scales[i] = max over j of |x[i, j]| / 127;  values[i, j] = x[i, j] / scales[i], rounded half to even",
    order=3,
    parameters=(Input(name="x", shape=("M", "N"), dtype="bfloat16"),
                Output(name="values", shape=("M", "N"), dtype="int8"), Output(name="scales", shape=("M",))),
    oracle=oracle,
    cases=cases(
        "M N", "1x1 5x9 37x1500-extreme 1x1009 37x64 149x3-few 3x4099 61x101-halves 2x20016",
        gpu="70001x33-few 4099x4093-extreme 4099x129-halves 257x30011 8192x8192"),
    timed=timed("M N", "8192x8192 4096x4096 2048x2048", "65536x1024 32768x1024 16384x1024"),
    baseline=Baseline(name="norm, division, product, round and a copy to int8", compiled="torch.compile of the same"),
    distributions=lambda case: {"x": CONTENTS[case.values]},
    tolerance={"values": values_tolerance, "scales": scales_tolerance},
    rows="x",
    right_by_nature={"1x1: values: an earlier answer": "the only element of a row is the largest: 127 or −127"},
    mistakes=(
        *mistakes(
            ("largest of the matrix", "One scale serves the whole matrix: each row has its own largest element.",
             _by(lambda x: x.abs().amax().expand(len(x), 1) if len(x) > 1 else None)),
            ("no absolute value", "The largest x was taken: it is the largest |x|, which a negative number may have.",
             _by(lambda x: x.amax(dim=1, keepdim=True))),
            ("scale in bfloat16", "The scale was rounded to bfloat16: it is a float32 number, and so is what x is "
             "divided by.", _by(lambda x: (_largest(x) / LEVELS).bfloat16().double() * LEVELS)),
            ("128 levels", "The scale is max |x| / 128: the largest int8 is 127.",
             _by(lambda x: _largest(x) * LEVELS / 128)),
            ("255 levels", "The scale is max |x| / 255: from −127 to 127 it is max |x| / 127.",
             _by(lambda x: _largest(x) * LEVELS / 255)),
            *(("least value", "A least value took the place of small numbers: the scale of a row follows from its own "
               "largest element, however small.", _at_least(least))
              for power in range(3, 13) for least in (10.0**-power, LEVELS * 10.0**-power)),
            ("mean for maximum", "The scale was made from the mean of |x|: it follows from the largest.",
             _by(lambda x: x.abs().mean(dim=1, keepdim=True) if x.shape[1] > 1 else None)),
            *(mistake for block in BLOCKS for mistake in (
                ("first block only", "The largest element of the first block was taken: it is sought in the whole row.",
                 _part(lambda n: 0, lambda n, block=block: block)),
                ("last block only", "The largest element of the last block was taken: the loop replaces the maximum, "
                 "it does not keep the larger one.",
                 _part(lambda n, block=block: (n - 1) // block * block, lambda n: n)),
                ("last block missing", "The largest element was not sought in the last columns, a partial block: it "
                 "needs N / BLOCK blocks, rounded up, the last one masked.",
                 _part(lambda n: 0, lambda n, block=block: n // block * block)))),
            output="values scales"),
        *mistakes(
            ("cut off", "The fractions were cut off: .to(tl.int8) rounds toward zero, so round first.",
             _rounded(torch.trunc)),
            ("rounded down", "The quotients were rounded down: round to the nearest.", _rounded(torch.floor)),
            ("halves up", "Halves were rounded up: half to even makes 2 of 2.5, as libdevice.rint does.",
             _rounded(lambda q: (q + 0.5).floor())),
            ("halves away from zero", "Halves were rounded away from zero, as libdevice.round does: libdevice.rint "
             "rounds half to even.", _rounded(lambda q: (q.abs() + 0.5).floor() * q.sign())),
            ("0.5 added, then cut off", "0.5 was added and the fraction cut off: that makes −2 of −3.2. libdevice.rint "
             "rounds to the nearest.", _rounded(lambda q: (q + 0.5).trunc())),
            ("along columns", "Each column has a scale here: the largest element is sought along each row.",
             lambda x: _levels(_quotients(x, x.double().abs().amax(dim=0, keepdim=True)).round())),
            ("not divided", "x itself was stored as int8: divide it by the scale of its row.",
             lambda x: _levels(x.double().trunc())),
            *(("quotients in bfloat16", "The quotients are bfloat16 numbers, which have 8 bits: convert x to "
               "tl.float32 first.", lambda x, by=by: _levels(by(x, _largest(x)).double().nan_to_num().round()))
              for by in (lambda x, top: x / (top / LEVELS).bfloat16(), lambda x, top: x * (LEVELS / top).bfloat16())),
            *(("largest so far", "Each block was divided by the largest of the blocks so far: find that of the whole "
               "row first.", lambda x, block=block: _levels(_quotients(x, _so_far(x, block)).round())
               if x.shape[1] > block else None) for block in BLOCKS),
            *(("largest of the block", "Each block was divided by its own largest element: find that of the whole row "
               "first.", lambda x, block=block: _levels(_quotients(x, _in_block(x, block)).round())
               if x.shape[1] > block else None) for block in BLOCKS),
            ("zero point", "128 was added: int8 has a sign, and 0 stays 0.", _rounded(lambda q: q.round() + 128)),
            output="values"),
        *mistakes(
            ("inverse", "These are 127 / max |x|, the inverse of the scales.",
             lambda x: (LEVELS / _largest(x))[:, 0].nan_to_num(posinf=0.0)),
            ("not divided", "These are max |x|: a scale is that, divided by 127.", lambda x: _largest(x)[:, 0]),
            ("not 0 for a row of zeros", "The scale of a row of zeros is 0: store that, whatever you divide by.",
             lambda x, scales=None: torch.where(
                 _largest(x)[:, 0] > 0, _largest(x)[:, 0] / LEVELS, 1.0 if scales is None else scales.double())),
            output="scales"),
    ),
)
