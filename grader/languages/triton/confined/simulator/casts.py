"""Casts as a GPU makes them: rounded once, and saturated where the machine saturates (PTX ISA 9.0, `cvt`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.text import Op
from grader.languages.triton.confined.simulator.types import (
    KEPT,
    STORED,
    UNSIGNED,
    Array,
    convert,
    decode,
    encode,
    rounding,
)
from grader.simulation.numbers import FLOAT8, LARGEST, exact, odd_single, whole_numbers

Pure = Callable[..., Any]


def signed(values: Array) -> Array:
    """Return i1 as a signed number: -1 for true."""
    return -values.view(np.int8) if values.dtype == bool else values


def _to_integer(source: str, kept: np.dtype[Any], unsigned: bool) -> Pure:
    """Return a conversion that truncates, and saturates at the limits of the type (16 bits at least)."""
    dtype = np.dtype(f"{'u' if unsigned else 'i'}{max(2, kept.itemsize)}")
    wide = "64" in source or dtype.itemsize == 8
    return lambda values: whole_numbers(np.trunc(values.astype(np.float64)), dtype, wide=wide).astype(kept)


def _to_float(element: str) -> Pure:
    """Return a conversion to a floating-point type, to nearest even."""
    kept, rounded = KEPT[element], rounding(element)
    if rounded is None:
        return lambda values: convert(values, kept)

    def convert_once(values: Array) -> Array:
        if values.dtype.kind in "iu":
            return rounded(odd_single(*exact(values)))
        return rounded(odd_single(values) if values.itemsize > 4 else convert(values, kept))

    return convert_once


def _saturated(element: str) -> Pure:
    """Return a conversion to nearest even that saturates at the largest finite number: `cvt.rn.satfinite`."""
    to_float, highest = _to_float(element), np.float32(LARGEST[element])

    def saturate(values: Array) -> Array:
        return np.asarray(to_float(np.clip(values, -highest, highest)))

    return saturate


def _toward_zero(element: str) -> Pure:
    """Return a conversion to the nearest number that is not larger in magnitude: `cvt.rz`. Infinity stays what it
    is."""
    to_float, stored = _to_float(element), STORED[element]
    integers = np.dtype(f"u{stored.itemsize}")

    def truncate(values: Array) -> Array:
        near = to_float(values)
        # In types without infinity NaN stands for numbers beyond the largest one.
        larger = ~(np.abs(near.astype(np.float64)) <= np.abs(values)) & np.isfinite(values)
        bits = np.ascontiguousarray(encode(near, element)).view(integers) - larger.astype(integers)
        return decode(bits.view(stored), element)

    return truncate


def _between_floats(op: Op, element: str) -> Pure:
    """Return the function of `tt.fp_to_fp`, which has a rounding mode where the new type is narrower."""
    if "rtz" in op.body:
        return _toward_zero(element)
    return _saturated(element) if element in FLOAT8 else _to_float(element)


def cast(op: Op) -> Pure:
    """Return the function of an operation that converts numbers to another type."""
    source, element, kind = op.inputs[0].element, op.types[0].element, op.name
    kept = KEPT[element]
    if kind in ("arith.fptosi", "arith.fptoui"):
        return _to_integer(source, kept, kind == "arith.fptoui")
    if kind == "tt.fp_to_fp":
        return _between_floats(op, element)
    if source == "i1":
        negative = kind in ("arith.extsi", "arith.sitofp")
        return lambda values: (signed(values) if negative else values).astype(kept)
    if element == "i1":
        return lambda values: values & 1 != 0
    if kept.kind == "f":
        to_float = _to_float(element)
        if kind == "arith.uitofp":
            return lambda values: to_float(values.view(UNSIGNED[values.dtype]))
        return to_float
    if kind in ("arith.extui", "arith.index_castui"):
        return lambda values: values.view(UNSIGNED[values.dtype]).astype(kept)
    return lambda values: convert(values, kept)


def bitcast(op: Op) -> Pure:
    """Return the function of an operation that reads the bits of a value as another type."""
    source, element = op.inputs[0].element, op.types[0].element
    if "ptr" in (source, element):
        before, after = (each.pointee.element for each in (op.inputs[0], op.types[0]))
        return lambda pointer: pointer.cast(before, after)
    if source == element:
        return lambda values: values
    stored = STORED[element]
    return lambda values: decode(np.ascontiguousarray(encode(values, source)).view(stored), element)


CASTS: dict[str, Callable[[Op], Pure]] = {
    **dict.fromkeys(
        ("arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "tt.fp_to_fp",
         "arith.index_castui", "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui"), cast),
    "arith.bitcast": bitcast, "tt.bitcast": bitcast,
}  # fmt: skip
