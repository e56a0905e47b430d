"""What wrong values look like: the input, the answer elsewhere, the answer times a factor, the answer rounded.

A resemblance is claimed only when nearly all wrong elements agree with it and they are enough to exclude chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from grader.judge.compare import number
from grader.judge.explain.evidence import AGREEMENT, COVERAGE, ENOUGH, Evidence, Finding
from grader.judge.explain.places import moved, shuffled

ENOUGH_ROUNDED = 24
ROUNDED_SHARE = 0.05

# log2 of the relative error that arithmetic of a lower precision leaves: between a few units of float16's or TF32's
# last place (2^-11) grown by sums, and what float32 itself may do after sums.
ROUNDED_FROM, ROUNDED_TO = -18.0, -6.0

CONSTANTS = {
    2.0: "counted twice: two programs or two loop steps add the same block",
    0.5: "half of the work is missing, or divided by 2",
    math.sqrt(2): "the square root of 2",
    1 / math.sqrt(2): "1 divided by the square root of 2",
    math.log2(math.e): "log2(e), as when exp2 and exp are mixed up",
    math.log(2): "ln(2), as when exp2 and exp are mixed up",
}


def resemblance(evidence: Evidence) -> Finding | None:
    """The most telling likeness of the wrong elements that were written; None if they are like nothing known."""
    if evidence.count == 0:
        return None
    for test, pattern in TESTS:
        if (finding := test(evidence)) is not None:
            return replace(finding, pattern=finding.pattern or pattern)
    return None


def _constant(e: Evidence) -> Finding | None:
    values = e.got[e.wrong]
    if not bool(values.any()) and e.is_matrix and e.count < COVERAGE * int(e.written.sum()):
        return Finding(
            f"{e.subject} is 0.",
            "Lanes beyond the end of a row may have stored the 0 that a masked load gave them over elements of the "
            "next row: the mask of the store needs a comparison for rows and one for columns. Or these elements were "
            "never computed.",
            pattern="zeros between",
        )
    if not bool(values.any()):
        return Finding(
            f"{e.subject} is 0.",
            "Does the kernel store the result that it computed? A load whose mask is false gives 0, and so does an "
            "accumulator that nothing is added to.",
            pattern="zero",
        )
    if e.count >= ENOUGH and bool((values == values[0]).all()):
        spread = e.expected[e.wrong]
        if bool((spread != spread[0]).any()):
            return Finding(
                f"{e.subject} is {number(float(values[0]))}.",
                e.words.one_number,
            )
    return None


def _input(e: Evidence) -> Finding | None:
    for name, x in e.tensors.items():
        if x.numel() == e.got.numel() and e.is_explained_by(x.reshape(e.got.shape)):
            if e.is_matrix and x.ndim == 2 and torch.equal(x.t(), e.expected):
                return Finding(
                    f"The output holds {name} in {name}'s own memory order: it was copied, not transposed.",
                    "Element (i, j) of a matrix with C columns lies at i * C + j: the load and the store need "
                    "different strides, and the tile is to be stored with rows and columns swapped.",
                )
            return Finding(
                f"The output is {name} itself.",
                "Does the kernel store the value that it loaded, in place of the one that it computed?",
            )
        if x.numel() > e.got.numel() and e.is_explained_by(x.flatten()[: e.got.numel()]):
            return Finding(
                f"The output holds the first {e.got.numel():,} elements of {name} in memory order.",
                "Neighbours of a column lie one row apart: multiply the row index by the number of columns.",
            )
    return None


def _operand(e: Evidence) -> Finding | None:
    """The answer without one multiplication by an input, or with one too many."""
    if e.comparison.exact or e.count < ENOUGH:
        return None
    for name, x in e.tensors.items():
        if x.shape != e.got.shape and (x.ndim != 1 or x.shape[0] != e.got.shape[-1]):
            continue
        factor = x.expand(e.got.shape)
        if e.is_explained_by(e.expected / factor, where=factor.abs() > 1e-3, rounding=16 * e.rounding):
            return Finding(
                f"The output is the right answer without its factor {name}.", f"Multiply by {name} once, at the end."
            )
        if e.is_explained_by(e.expected * factor, rounding=16 * e.rounding):
            return Finding(
                f"The output is the right answer multiplied by {name} once more.",
                f"{name} must be a factor only once.",
            )
    return None


def _sign(e: Evidence) -> Finding | None:
    if e.count >= ENOUGH and e.wrong_is(-e.expected, e.rounding):
        return Finding(
            f"{e.subject} has the wrong sign and the right size.", "A minus sign is missing, or there is one too many.")
    return None


def _factor(e: Evidence) -> Finding | None:
    if e.count < ENOUGH:
        return None
    expected, got = e.expected[e.wrong], e.got[e.wrong]
    factor = float((got * expected).nansum() / (expected * expected).sum().clamp_min(1e-300))
    # A factor this near to 1 is what rounding to half precision may leave, and one near 0 is no factor.
    if not math.isfinite(factor) or abs(factor) < 1e-6 or abs(factor - 1) < 2.0**-8:
        return None
    if float(expected.max() - expected.min()) <= 1e-9 * float(expected.abs().max()):
        return None
    if _too_few_levels(e, abs(factor - 1)):
        return None
    if not e.wrong_is(factor * e.expected, 64 * e.rounding):
        return None
    meaning, look = _meaning_of(factor, e.sizes)
    return Finding(f"{e.subject} is {number(factor, 4)} times the right value{meaning}.", look)


def _meaning_of(factor: float, sizes: Mapping[str, int]) -> tuple[str, str]:
    def is_(value: float) -> bool:
        return math.isclose(factor, value, rel_tol=1e-3)

    for value, text in CONSTANTS.items():
        if is_(value):
            return f" ({text})", "Look for what is added, divided or multiplied once too often."
    for name, size in sizes.items():
        padded = 1 << (size - 1).bit_length()
        if padded != size and any(is_((padded / size) ** power) for power in (0.5, 1, -0.5, -1)):
            return (
                f", which comes from {padded:,} in place of {name} = {size:,}",
                f"A mean divides by the padded block size; it must divide by {name}.",
            )
        if size > 2 and any(is_(size**power) for power in (0.5, 1, -0.5, -1)):
            root = any(is_(size**power) for power in (0.5, -0.5))
            return (
                f", which is {'the square root of ' if root else ''}{name} = {size:,} or its inverse",
                f"The division of a sum by {name} is missing, or done twice.",
            )
    return "", (
        "The elementwise part is right. A number that all elements share (a sum, its divisor, a factor) is wrong: is "
        "each block of the data added exactly once, to a total that begins at 0 in every call?")


def _offset(e: Evidence) -> Finding | None:
    if e.comparison.exact or e.count < ENOUGH:
        return None
    difference = (e.got - e.expected)[e.wrong]
    shift = float(difference.median())
    if not math.isfinite(shift) or not e.wrong_is(e.expected + shift, e.rounding):
        return None
    if abs(shift) <= 4 * float(e.comparison.allowed[e.wrong].max()):
        return None
    named = [name for name, value in e.scalars.items() if math.isclose(value, abs(shift), rel_tol=1e-2)]
    return Finding(
        f"{e.subject} is off by the same {number(shift, 4)}{f', which is {named[0]}' if named else ''}.",
        "Something is added once too often, or not at all, after the rest of the formula.",
    )


def _row_factors(e: Evidence) -> Finding | None:
    """Each row (or each column) right but for a factor of its own."""
    if e.comparison.exact or not e.is_matrix:
        return None
    for dim, one, other in ((1, "row", "the number computed once for each row (mean square, maximum, sum)"),
                            (0, "column", "the vector that has one element for each column")):
        if e.got.shape[dim] < ENOUGH or int(e.wrong.any(dim=dim).sum()) < 2:
            continue
        got = torch.where(e.wrong, e.got, 0.0).nan_to_num(0.0, 0.0, 0.0)
        right = torch.where(e.wrong, e.expected, 0.0)
        factor = (got * right).sum(dim, keepdim=True) / (right * right).sum(dim, keepdim=True).clamp_min(1e-300)
        enough = e.wrong & (e.wrong.sum(dim, keepdim=True) >= ENOUGH)
        if 2 * int(enough.sum()) < e.count:
            continue
        close = e.close(factor * e.expected, 64 * e.rounding) & enough
        if int(close.sum()) < AGREEMENT * int(enough.sum()):
            continue
        found = factor[enough.any(dim=dim, keepdim=True)]
        if float((found - 1).abs().max()) < 2.0**-8 or _too_few_levels(e, float((found - 1).abs().max())):
            continue
        low, high = float(found.min()), float(found.max())
        # An eps beside a mean spoils a constant factor in rows of small numbers only: one end of the range keeps it.
        meaning, look = next((m for m in (_meaning_of(f, e.sizes) for f in (low, high)) if m[0]), ("", ""))
        return Finding(
            f"Within each {one} the wrong elements are the right ones times a factor of that {one}, "
            f"{number(low)} to {number(high)}{meaning if high < 1.5 * low else ''}.",
            look if meaning and high < 1.5 * low else f"The elementwise part is right; {other} is not.",
        )
    return None


def _rounded(e: Evidence) -> Finding | None:
    """Right to a few digits: arithmetic in half precision, bfloat16 or TF32."""
    if e.comparison.exact or e.step or e.count < max(ENOUGH_ROUNDED, ROUNDED_SHARE * int(e.written.sum())):
        return None
    written = e.got[e.written]
    relative = ((e.got - e.expected).abs() / _scale(e.expected))[e.wrong]
    if not bool((relative <= 2.0**ROUNDED_TO).all()):
        return None
    if e.got.dtype == torch.float64 and e.comparison.got.dtype == torch.float32:
        for dtype, name in ((torch.bfloat16, "bfloat16"), (torch.float16, "float16")):
            same = written == written.to(dtype).to(torch.float64)
            if float(same.double().mean()) >= AGREEMENT:
                return Finding(
                    f"Every value is one that {name} can hold: right to about {_digits(relative)} digits.",
                    f"Something is converted to {name} on the way; keep loads, sums and results in float32.",
                )
    typical = float(relative.median())
    if typical < 2.0**ROUNDED_FROM:
        return None
    if e.comparison.got.dtype == torch.float16:
        return Finding(
            f"The values are nearly right, to about {_digits(relative)} digits, but less than float16 results allow.",
            e.words.rounded_sums,
        )
    return Finding(
        f"The values are right to only about {_digits(relative)} digits, where float32 gives 7.",
        "Something is computed in a lower precision (float16, bfloat16, TF32) or with an approximation.",
    )


TESTS: tuple[tuple[Callable[[Evidence], Finding | None], str], ...] = (
    (_constant, "constant"), (_input, "input copied"), (_operand, "operand"), (moved, "moved"), (_sign, "sign"),
    (_factor, "factor"), (_offset, "offset"), (_row_factors, "row factors"), (_rounded, "precision"),
    (shuffled, "moved"),
)
"""Tests of a likeness and the patterns they see, the most telling first."""


def _too_few_levels(e: Evidence, share: float) -> bool:
    """Whether this share of the right values comes to a few whole numbers only, which other causes produce as well."""
    return share * float(e.expected.abs().max()) <= 4 * e.step


def _scale(expected: Tensor) -> Tensor:
    """The size of the numbers around each element: its own, or its row's root mean square if that is larger."""
    around = (expected * expected).mean(dim=-1, keepdim=True).sqrt() if expected.ndim == 2 else expected.abs()
    return torch.maximum(expected.abs(), around).clamp_min(1e-300)


def _digits(relative: Tensor) -> int:
    """How many leading digits most elements have right."""
    most = float(relative.flatten().kthvalue(max(1, int(0.9 * relative.numel()))).values)
    return max(1, math.floor(-math.log10(max(most, 1e-16))))
