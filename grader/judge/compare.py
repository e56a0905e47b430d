"""Right or wrong, element by element: the poison that fills an output, the comparison, and the map of its errors.

Everything runs on the device of the tensors. Nothing here explains; see `grader.judge.explain`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from grader.model.result import Corner, ErrorMap, Worst

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
"""The contents of an output when it arrives, as (integer dtype of the same width, bits): in floats quiet NaNs with a
payload that no arithmetic produces (of float8_e4m3fn, which has no payloads, the NaN that no conversion makes); of a
bool a byte that is none. Any whole number may be an answer: one that was never written shows when the same call finds
an output full of another one."""
_OTHER = 0x80

MAP_CELLS = 128
CORNER = 4
VECTOR_COLUMNS = 32
"""A vector is folded into rows of at least this many cells, so that a short one is not a thin line."""

PRINTED: dict[torch.dtype, Callable[[float], np.generic]] = {
    torch.float32: np.float32, torch.float16: np.float16, torch.uint8: np.uint8}

LEVELS = ".123456789u"
NEVER_WRITTEN = LEVELS.index("u")


class OracleError(Exception):
    """The right answer or its tolerance is unusable: a fault of the assignment, never of a student."""


def poison_(tensor: Tensor, *, other: bool = False) -> None:
    """Fills a contiguous tensor, in place, with the poison that marks elements never written; bytes have an `other`
    one."""
    as_integer, bits = POISON[tensor.dtype]
    tensor.view(as_integer).fill_(bits ^ _OTHER if other else bits)


def poisoned(tensor: Tensor, *, other: bool = False) -> Tensor:
    """A bool tensor: the elements that hold exactly the poison's bits. Of floats these were never written."""
    as_integer, bits = POISON[tensor.dtype]
    return tensor.view(as_integer) == (bits ^ _OTHER if other else bits)


def same_bits(left: Tensor, right: Tensor) -> bool:
    """Whether two tensors of an output's dtype are equal bit for bit, so that NaN equals itself."""
    as_integer, _ = POISON[left.dtype]
    return torch.equal(left.contiguous().view(as_integer), right.contiguous().view(as_integer))


@dataclass(frozen=True, eq=False)
class Comparison:
    """One output against the right answer; every tensor has the output's shape.

    `got` is what the submission left (float32, float16, uint8), `expected` the oracle's answer (float64), `allowed` the
    absolute error allowed (float64; zeros when `exact`), `error` the absolute error (float64, NaN and infinity
    included), `wrong` and `unwritten` are bool.
    """

    got: Tensor
    expected: Tensor
    allowed: Tensor
    error: Tensor
    wrong: Tensor
    unwritten: Tensor
    exact: bool

    @cached_property
    def count(self) -> int:
        """The number of wrong elements, with those never written."""
        return int(self.wrong.sum())

    @cached_property
    def unwritten_count(self) -> int:
        return int(self.unwritten.sum())

    @property
    def passed(self) -> bool:
        return self.count == 0

    @property
    def total(self) -> int:
        return self.got.numel()

    @cached_property
    def ratio(self) -> Tensor:
        """Error as a share of the error allowed, float64; infinite for NaN and for whatever exactness forbids."""
        ratio = self.error / self.allowed
        # 0/0 is NaN as well: the inequality has already decided those elements.
        return torch.where(ratio.isnan(), torch.where(self.wrong, math.inf, 0.0), ratio)

    @cached_property
    def worst_ratio(self) -> float:
        return float(self.ratio.max())

    @cached_property
    def worst_flat_index(self) -> int:
        """The wrong element with the largest ratio, the first of equals, before any that was never written."""
        candidates = self.wrong & ~self.unwritten
        if not candidates.any():
            candidates = self.wrong
        return int(torch.where(candidates, self.ratio, -1.0).flatten().argmax())

    @property
    def worst_index(self) -> tuple[int, ...]:
        return index_of(self.worst_flat_index, self.got.shape)

    @property
    def worst(self) -> Worst:
        at = self.worst_flat_index
        got, expected, error, allowed = (
            float(t.flatten()[at]) for t in (self.got, self.expected, self.error, self.allowed)
        )
        return Worst(
            index=list(self.worst_index),
            got="never written" if bool(self.unwritten.flatten()[at]) else printed(got, self.got.dtype),
            expected=printed(expected, self.got.dtype),
            error=number(error),
            allowed=number(allowed),
        )


def compare(got: Tensor, expected: Tensor, allowed: Tensor | None, unwritten: Tensor | None = None) -> Comparison:
    """Compares an output with the oracle's answer (float64, of the same shape).

    `allowed` is the absolute error allowed (float64, broadcastable); an element is right only if its error is known
    to be at most that, so NaN is wrong. None means exact: the bits must be those of `expected` in the output's dtype,
    so a copy that turns -0.0 into 0.0 is wrong. `unwritten` (bool) are elements known never to have been written, which
    are wrong; None where the output's own bits tell, or nobody knows.

    Raises OracleError if the right answer is not finite in the output's dtype or the tolerance is no tolerance.
    """
    if expected.shape != got.shape:
        raise OracleError(f"the oracle's answer has shape {tuple(expected.shape)}, the output {tuple(got.shape)}")
    found = unguarded(got, expected, allowed, unwritten)
    if not got.dtype.is_floating_point and not bool(((expected >= 0) & (expected <= torch.iinfo(got.dtype).max)).all()):
        raise OracleError(f"the oracle's answer is out of the range of {got.dtype}")
    rounded = found.expected.to(got.dtype)
    if not bool(rounded.isfinite().all()):
        raise OracleError(f"the oracle's answer is not finite in {got.dtype}")
    if found.exact and not torch.equal(rounded.to(torch.float64), found.expected):
        raise OracleError(f"an exact answer must be representable in {got.dtype}")
    if not found.exact and not bool((found.allowed.isfinite() & (found.allowed >= 0)).all()):
        raise OracleError("the tolerance must be finite and not negative")
    return found


def unguarded(
    got: Tensor, expected: Tensor, allowed: Tensor | None, unwritten: Tensor | None = None
) -> Comparison:
    """As `compare`, without checks of the oracle's answer and its tolerance: nothing waits for the device."""
    expected = expected.detach().to(got.device, torch.float64)
    error = got.to(torch.float64).sub_(expected).abs_()
    if allowed is None:
        as_integer, _ = POISON[got.dtype]
        wrong = got.view(as_integer) != expected.to(got.dtype).view(as_integer)
        limit = torch.zeros((), dtype=torch.float64, device=got.device)
    else:
        limit = allowed.detach().to(got.device, torch.float64)
        wrong = (error <= limit).logical_not_()
    if unwritten is not None:
        wrong |= unwritten
    elif got.dtype.is_floating_point:
        unwritten = poisoned(got)
    else:
        unwritten = torch.zeros_like(wrong)
    return Comparison(
        got=got,
        expected=expected,
        allowed=limit.expand(got.shape),
        error=error,
        wrong=wrong,
        unwritten=unwritten,
        exact=allowed is None,
    )


def error_map(comparison: Comparison) -> ErrorMap:
    """The worst error of each cell of the output, in at most 128 by 128 cells.

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
        return ErrorMap(output_shape=shape, cell_shape=[1, width], cells=cells)
    level = level.reshape(-1, shape[-1])
    height, width = (_power_of_two(math.ceil(size / MAP_CELLS)) for size in level.shape)
    return ErrorMap(output_shape=shape, cell_shape=[height, width], cells=_worst_of_cells(level, height, width))


def corner(comparison: Comparison) -> Corner:
    """The elements around the first wrong one, with as many digits as it takes to tell wrong values from right ones."""
    shape = comparison.got.shape
    # A vector stands upright: side by side its numbers do not fit on a narrow page.
    wide = shape[-1] if len(shape) > 1 else 1
    got, expected, wrong, unwritten = (
        each.reshape(-1, wide) for each in (
            comparison.got, comparison.expected, comparison.wrong, comparison.unwritten))
    row, column = divmod(int(wrong.flatten().to(torch.uint8).argmax()), wide)
    # One right element before it shows where wrong ones begin.
    top, left = (max(0, min(at - 1, size - CORNER)) for at, size in ((row, got.shape[0]), (column, wide)))
    part = slice(top, top + CORNER), slice(left, left + CORNER)
    values, right, bad, never = (each[part].tolist() for each in (got, expected, wrong, unwritten))
    pairs = [(a, b) for ours, theirs, is_bad in zip(values, right, bad, strict=True)
             for a, b, differs in zip(ours, theirs, is_bad, strict=True) if differs]
    digits = next((digits for digits in range(3, 9) if all(number(a, digits) != number(b, digits) for a, b in pairs)),
                  0)

    def said(value: float) -> str:
        return number(value, digits) if digits else printed(value, got.dtype)

    return Corner(
        index=[top, left][: len(shape)],
        got=[["unwritten" if no else said(value) for value, no in zip(line, blank, strict=True)]
             for line, blank in zip(values, never, strict=True)],
        expected=[[said(value) if is_bad else "" for value, is_bad in zip(line, marks, strict=True)]
                  for line, marks in zip(right, bad, strict=True)])


def index_of(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index of the element at a row-major position."""
    index: list[int] = []
    for size in reversed(shape):
        flat, at = divmod(flat, size)
        index.append(at)
    return tuple(reversed(index))


def number(value: float, digits: int = 3) -> str:
    """A short text for a figure: `nan`, `-inf`, `0.0125`, `1.5e-07`."""
    return f"{value:.{digits}g}"


def printed(value: float, dtype: torch.dtype) -> str:
    """A number rounded to the dtype of an output, with as many digits as tell it from all others of that dtype: `0.1`,
    where nine digits of the same float32 are 0.100000001."""
    rounded = PRINTED[dtype](value)
    return str(rounded).removesuffix(".0")


def _levels(comparison: Comparison) -> Tensor:
    """A uint8 tensor of the output's shape: indices into LEVELS."""
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
    """The smallest power of two that is at least `value`."""
    return 1 << max(0, value - 1).bit_length()
