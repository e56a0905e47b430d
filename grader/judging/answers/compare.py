"""Comparison of an output with the right answer, element by element; the poison of outputs; the map of errors.

All of it runs on the device of the tensors. `grader.judging.explain` explains the errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from grader.plan.plan import memory_span
from grader.results.result import Corner, ErrorMap, WorstElement

POISON: dict[torch.dtype, tuple[torch.dtype, int]] = {
    torch.float64: (torch.int64, 0x7FF8_5EED_5EED_5EED),
    torch.float32: (torch.int32, 0x7FC0_5EED),
    torch.float16: (torch.int16, 0x7E5D),
    torch.bfloat16: (torch.int16, 0x7FDD),
    torch.float8_e4m3fn: (torch.uint8, 0xFF),
    torch.float8_e5m2: (torch.uint8, 0xFE),
    torch.int64: (torch.int64, 0x5EED_5EED_5EED_5EED),
    torch.int32: (torch.int32, 0x5EED_5EED),
    torch.int16: (torch.int16, 0x5EED),
    torch.int8: (torch.uint8, 0xA5),
    torch.uint8: (torch.uint8, 0xA5),
    torch.bool: (torch.uint8, 0xA5),
}
"""The contents of an output before a call, as (integer dtype of the same width, bits). Floats hold quiet NaNs with a
payload that no arithmetic produces (float8_e4m3fn has no payloads: the NaN that no conversion makes), bools a byte that
is neither 0 nor 1, whole numbers an arbitrary one."""
UNAMBIGUOUS = frozenset({torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool})
"""Dtypes whose poison is no answer. Any whole number may be an answer, and floats of 8 bits have too few NaNs: for
these, a second run on another poison shows the elements that were never written."""

MAP_CELLS = 128
CORNER = 4
VECTOR_COLUMNS = 32
"""A vector is folded into rows of at least this many cells."""

MOST_EXACT = 2.0**53
"""Whole numbers below this are exact in float64."""
_NUMPY: dict[torch.dtype, Callable[[float], np.generic]] = {
    torch.float64: np.float64, torch.float32: np.float32, torch.float16: np.float16}

MOST_PLAIN = 100_000
"""Whole numbers below this are printed in full, however few digits the dtype has."""

LEVELS = ".123456789u"
NEVER_WRITTEN = LEVELS.index("u")


class OracleError(Exception):
    """An unusable right answer or tolerance: a fault of the assignment, never of a student."""


def poison_(tensor: Tensor, *, other: bool = False) -> None:
    """Fill a tensor, in place, with the poison that marks unwritten elements; with `other`, with the second poison, of
    dtypes that are not in `UNAMBIGUOUS`."""
    as_integer, bits = _poison(tensor.dtype, other=other)
    tensor.view(as_integer).fill_(bits)


def poison_mask(tensor: Tensor, *, other: bool = False) -> Tensor:
    """Return a bool tensor of the elements that hold exactly the poison's bits. In `UNAMBIGUOUS` dtypes these elements
    were never written."""
    as_integer, bits = _poison(tensor.dtype, other=other)
    return tensor.view(as_integer) == bits


def _poison(dtype: torch.dtype, *, other: bool) -> tuple[torch.dtype, int]:
    as_integer, bits = POISON[dtype]
    # The sign bit of a byte, else a bit of the payload: without a bit of the exponent, bfloat16 would be a number.
    return as_integer, bits ^ (0x80 if as_integer.itemsize == 1 else 0x20) if other else bits


def _memory_of(tensor: Tensor) -> Tensor:
    """Return a tensor's memory from its first to its last element, gaps included, in one dimension."""
    return tensor.as_strided((memory_span(tensor.shape, tensor.stride()),), (1,))


def fill_gaps(tensor: Tensor, *, other: bool = False) -> None:
    """Fill the memory of a tensor that is not contiguous, elements and gaps, with the poison that outputs do not hold.
    So a result that is computed from a gap does not look like an unwritten element."""
    memory = _memory_of(tensor)
    if memory.numel() > tensor.numel():
        poison_(memory, other=not other)


def gaps_written(tensor: Tensor, *, other: bool = False) -> bool:
    """Return whether the poison of `fill_gaps` has changed in a gap between the elements."""
    memory = _memory_of(tensor)
    if memory.numel() == tensor.numel():
        return False
    own = torch.zeros_like(memory, dtype=torch.bool)
    own.as_strided(tensor.shape, tensor.stride()).fill_(True)
    return not bool((own | poison_mask(memory, other=not other)).all())


def same_bits(left: Tensor, right: Tensor) -> bool:
    """Return whether two tensors of one dtype are equal bit for bit, so that NaN equals itself."""
    return bool(unchanged_mask(left, right).all())


def unchanged_mask(left: Tensor, right: Tensor) -> Tensor:
    """Return a bool tensor of the elements of two tensors of one dtype that are equal bit for bit."""
    as_integer, _ = POISON[left.dtype]
    return left.view(as_integer) == right.to(left.device).view(as_integer)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Comparison of one output with the right answer; every tensor has the output's shape.

    `got` is what the submission left, in the output's dtype; `expected` the oracle's answer (float64, or whole numbers
    in a dtype of their own); `allowed` the absolute error allowed (float64; zeros when `exact`), `error` the absolute
    error (float64, NaN and infinity included), `wrong` and `unwritten` are bool. `kept`: the output is updated in
    place, and `unwritten` marks the wrong elements, all of which the call left unchanged.
    """

    got: Tensor
    expected: Tensor
    allowed: Tensor
    error: Tensor
    wrong: Tensor
    unwritten: Tensor
    exact: bool
    kept: bool = False

    @cached_property
    def count(self) -> int:
        """Return the number of wrong elements, unwritten ones included."""
        return int(self.wrong.sum())

    @cached_property
    def unwritten_count(self) -> int:
        return int(self.unwritten.sum())

    @property
    def passed(self) -> bool:
        return self.count == 0

    @property
    def finite(self) -> Tensor:
        """Return a mask of the output's elements that are neither NaN nor infinite."""
        return bits_of_bool(self.got).to(torch.float64).isfinite()

    @property
    def total(self) -> int:
        return self.got.numel()

    @cached_property
    def ratio(self) -> Tensor:
        """Return the error as a share of the error allowed, float64; infinite where the error is NaN, and for any
        difference where none is allowed."""
        ratio = self.error / self.allowed
        # 0/0 is NaN as well: `wrong` says whether such an element is wrong.
        return torch.where(ratio.isnan(), torch.where(self.wrong, math.inf, 0.0), ratio)

    @cached_property
    def worst_ratio(self) -> float:
        return float(self.ratio.max())

    @cached_property
    def worst_flat_index(self) -> int:
        """Return the row-major position of the wrong element with the largest ratio, the first of equals; an unwritten
        element only if there is no other."""
        candidates = self.wrong & ~self.unwritten
        if not candidates.any():
            candidates = self.wrong
        return int(torch.where(candidates, self.ratio, -1.0).flatten().argmax())

    @property
    def worst_index(self) -> tuple[int, ...]:
        return index_of(self.worst_flat_index, self.got.shape)

    @property
    def worst(self) -> WorstElement:
        at, dtype = self.worst_flat_index, self.got.dtype
        got, expected, error, allowed = (
            plain(t.flatten()[at : at + 1])[0] for t in (self.got, self.expected, self.error, self.allowed))
        whole = not self.expected.dtype.is_floating_point and error < MOST_EXACT
        return WorstElement(
            index=list(self.worst_index),
            got="never written" if not self.kept and bool(self.unwritten.flatten()[at]) else printed(got, dtype),
            expected=printed(expected, dtype),
            error=str(int(error)) if whole else number(error),
            allowed=number(allowed),
        )


def compare(got: Tensor, expected: Tensor, allowed: Tensor | None, unwritten: Tensor | None = None) -> Comparison:
    """Compare an output with the oracle's answer, `expected`, of the same shape. `expected` is float64, or holds whole
    numbers, with which a whole-number output is compared exactly: float64 does not hold every int64.

    `allowed` is the absolute error allowed (float64, broadcastable); an element is right only if its error is known to
    be at most that, so NaN is wrong. None means exact: the bits must be those of `expected` in the output's dtype, so a
    copy that turns -0.0 into 0.0 is wrong. `unwritten` (bool) are elements known never to have been written, which are
    wrong. Without it, the poison marks them in `UNAMBIGUOUS` dtypes, and nothing in others.

    Raises OracleError if the output cannot hold the right answer, or the tolerance is negative or not finite.
    """
    if expected.shape != got.shape:
        raise OracleError(f"the oracle's answer has shape {tuple(expected.shape)}, the output {tuple(got.shape)}")
    comparison = compare_unchecked(got, expected, allowed, unwritten)
    if not bool(_in_range(comparison.expected, got.dtype).all()):
        raise OracleError(f"the oracle's answer is out of the range of {got.dtype}")
    if comparison.expected.dtype.is_floating_point:
        if not got.dtype.is_floating_point and not bool((comparison.expected.abs() < MOST_EXACT).all()):
            raise OracleError(
                "the oracle's answer in float64 is no exact whole number beyond 2^53; return whole numbers")
        rounded = comparison.expected.to(got.dtype).to(torch.float64)
        if not bool(rounded.isfinite().all()):
            raise OracleError(f"the oracle's answer is not finite in {got.dtype}")
        if comparison.exact and not torch.equal(rounded, comparison.expected):
            raise OracleError(f"an exact answer must be representable in {got.dtype}")
    if not comparison.exact and not bool((comparison.allowed.isfinite() & (comparison.allowed >= 0)).all()):
        raise OracleError("the tolerance must be finite and not negative")
    return comparison


def compare_unchecked(
    got: Tensor, expected: Tensor, allowed: Tensor | None, unwritten: Tensor | None = None
) -> Comparison:
    """Compare as `compare` does, without checks of the oracle's answer and its tolerance, so that nothing waits for the
    device."""
    expected = expected.detach().to(got.device)
    if got.dtype.is_floating_point or expected.dtype.is_floating_point:
        expected = expected.to(torch.float64)
    error = _absolute_error(got, expected)
    if allowed is None:
        as_integer, _ = POISON[got.dtype]
        wrong = got.view(as_integer) != expected.to(got.dtype).view(as_integer)
        limit = torch.zeros((), dtype=torch.float64, device=got.device)
    else:
        limit = allowed.detach().to(got.device, torch.float64)
        wrong = (error <= limit).logical_not_()
    if unwritten is None:
        unwritten = poison_mask(got) if got.dtype in UNAMBIGUOUS else torch.zeros_like(wrong)
    # An oracle that takes the answer may call an unwritten element right.
    wrong |= unwritten
    return Comparison(
        got=got,
        expected=expected,
        allowed=limit.expand(got.shape),
        error=error,
        wrong=wrong,
        unwritten=unwritten,
        exact=allowed is None,
    )


def _absolute_error(got: Tensor, expected: Tensor) -> Tensor:
    """Return the absolute error (float64), exact for whole numbers less than 2^53 apart."""
    if expected.dtype.is_floating_point:
        # Always a copy, since the steps are in place: a float64 answer itself would change.
        return bits_of_bool(got).to(torch.float64, copy=True).sub_(expected).abs_()
    left, right = bits_of_bool(got).to(torch.int64), expected.to(torch.int64)
    far = (left.to(torch.float64) - right.to(torch.float64)).abs()
    # The difference of int64 numbers that lie further apart wraps around.
    return torch.where(far < 2.0**62, (left - right).abs().to(torch.float64), far)


def _in_range(expected: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a mask of the answers that a whole-number dtype can hold; all of them for floats."""
    if dtype.is_floating_point:
        return torch.ones_like(expected, dtype=torch.bool)
    low, high = (0, 1) if dtype == torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    if expected.dtype.is_floating_point:
        return (expected >= low) & (expected <= high)
    return (expected.to(torch.int64) >= low) & (expected.to(torch.int64) <= high)


def bits_of_bool(values: Tensor) -> Tensor:
    """Return bools as bytes, since a kernel may leave bytes other than 0 and 1 there; any other tensor as it is."""
    return values.view(torch.uint8) if values.dtype == torch.bool else values


def plain(values: Tensor) -> list[Any]:
    """Return the elements as Python's numbers, nested as the tensor is; bools as bytes."""
    values = bits_of_bool(values)
    numbers: list[Any] = (values.to(torch.float64) if values.dtype.is_floating_point else values).tolist()
    return numbers


def error_map(comparison: Comparison) -> ErrorMap:
    """Return the worst error of each cell of the output, in at most 128 by 128 cells.

    A vector runs through the rows of cells in order, each cell one stretch of it; its last row of cells ends where the
    vector ends and may be shorter. Cells have power-of-two sides, so that block boundaries fall between cells.
    """
    level = _levels(comparison)
    shape = list(comparison.got.shape)
    if len(shape) < 2:
        total = level.numel()
        width = _power_of_two(math.ceil(total / MAP_CELLS**2))
        count = math.ceil(total / width)
        per_row = max(VECTOR_COLUMNS, _power_of_two(math.ceil(math.sqrt(count))))
        line = _worst_of_cells(level.reshape(1, -1), 1, width)[0]
        cells = [line[start : start + per_row] for start in range(0, count, per_row)]
        return ErrorMap(output_shape=shape, cell_shape=[1, width], cells=cells, kept=comparison.kept)
    level = level.reshape(-1, shape[-1])
    height, width = (_power_of_two(math.ceil(size / MAP_CELLS)) for size in level.shape)
    cells = _worst_of_cells(level, height, width)
    return ErrorMap(output_shape=shape, cell_shape=[height, width], cells=cells, kept=comparison.kept)


def corner(comparison: Comparison) -> Corner:
    """Return the elements around the first wrong one, with enough digits to distinguish wrong values from right
    ones."""
    shape = comparison.got.shape
    # A vector stands upright: side by side its numbers do not fit on a narrow page.
    wide = shape[-1] if len(shape) > 1 else 1
    got, expected, wrong, unwritten = (
        tensor.reshape(-1, wide) for tensor in (
            comparison.got, comparison.expected, comparison.wrong, comparison.unwritten))
    row, column = divmod(int(wrong.flatten().to(torch.uint8).argmax()), wide)
    # One right element before it shows where wrong ones begin.
    top, left = (max(0, min(at - 1, size - CORNER)) for at, size in ((row, got.shape[0]), (column, wide)))
    part = slice(top, top + CORNER), slice(left, left + CORNER)
    values, right, bad, never = (
        plain(got[part]), plain(expected[part]), wrong[part].tolist(), unwritten[part].tolist())
    pairs = [(a, b) for values_row, right_row, is_bad in zip(values, right, bad, strict=True)
             for a, b, differs in zip(values_row, right_row, is_bad, strict=True) if differs]
    # Whole numbers are printed in full.
    some = range(3, 9) if comparison.expected.dtype.is_floating_point else ()
    digits = next((digits for digits in some if all(number(a, digits) != number(b, digits) for a, b in pairs)), 0)

    def said(value: float) -> str:
        return number(value, digits) if digits else printed(value, got.dtype)

    return Corner(
        index=[top, left][: len(shape)],
        got=[["unwritten" if no and not comparison.kept else said(value) for value, no in zip(line, blank, strict=True)]
             for line, blank in zip(values, never, strict=True)],
        expected=[[said(value) if is_bad else "" for value, is_bad in zip(line, marks, strict=True)]
                  for line, marks in zip(right, bad, strict=True)])


def index_of(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index of the element at a row-major position."""
    index: list[int] = []
    for size in reversed(shape):
        flat, at = divmod(flat, size)
        index.append(at)
    return tuple(reversed(index))


def number(value: float, digits: int = 3) -> str:
    """Return a short text for a figure: `nan`, `-inf`, `0.0125`, `1.5e-07`."""
    return f"{value:.{digits}g}"


def printed(value: float, dtype: torch.dtype) -> str:
    """Return a number rounded to the dtype of an output, with the fewest digits that distinguish it from all others of
    that dtype: `0.1`, where nine digits of the same float32 are 0.100000001."""
    if dtype == torch.bool:
        return {0: "False", 1: "True"}.get(int(value), f"the byte {int(value)}")
    if not dtype.is_floating_point:
        return str(int(value)) if math.isfinite(value) else number(value)
    if (numpy := _NUMPY.get(dtype)) is not None:
        return str(numpy(value)).removesuffix(".0")
    rounded = _rounded(value, dtype)
    if rounded.is_integer() and abs(rounded) < MOST_PLAIN:
        return str(int(rounded))
    close = (float(f"{rounded:.{digits}g}") for digits in range(1, 9))
    return number(next(candidate for candidate in close
                       if math.isnan(candidate) or _rounded(candidate, dtype) == rounded), 8)


def _rounded(value: float, dtype: torch.dtype) -> float:
    return float(torch.tensor(value, dtype=torch.float64).to(dtype).to(torch.float64))


def _levels(comparison: Comparison) -> Tensor:
    """Return a uint8 tensor of the output's shape: indices into LEVELS."""
    wrong = comparison.wrong
    level = torch.zeros(wrong.shape, dtype=torch.uint8, device=wrong.device)
    level[wrong] = comparison.ratio[wrong].log10().ceil().clamp(1, 9).to(torch.uint8)
    level[comparison.unwritten] = NEVER_WRITTEN
    return level


def _worst_of_cells(level: Tensor, height: int, width: int) -> list[str]:
    rows, columns = level.shape
    padded = torch.nn.functional.pad(level, (0, -columns % width, 0, -rows % height))
    worst = padded.reshape(padded.shape[0] // height, height, padded.shape[1] // width, width).amax(dim=(1, 3))
    return ["".join(LEVELS[i] for i in row) for row in worst.tolist()]


def _power_of_two(value: int) -> int:
    """Return the smallest power of two that is at least `value`."""
    return 1 << max(0, value - 1).bit_length()
