"""Floats of eight bits, two in a word: e4m3 and e5m2 (PTX ISA 9.0, 5.2.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grader.simulation.ptx.types import Array


class _Format(NamedTuple):
    mantissa: int
    bias: int
    largest: float
    unknown: int


BYTES = {"e4m3x2": _Format(3, 7, 448.0, 0x7F), "e5m2x2": _Format(2, 15, 57344.0, 0x7F)}


def _table(kind: str) -> Array:
    """Return the number that each byte stands for."""
    mantissa, bias, largest, _ = BYTES[kind]
    codes = np.arange(128)
    exponent, fraction = codes >> mantissa, (codes & ((1 << mantissa) - 1)) / 2.0**mantissa
    values = np.where(exponent > 0, np.ldexp(1 + fraction, exponent - bias), np.ldexp(fraction, 1 - bias))
    values = np.where(values > largest, np.nan, values)
    if kind == "e5m2x2":
        values[0x7C] = np.inf
    return np.concatenate([values, -values]).astype(np.float32)


_VALUES = {kind: _table(kind) for kind in BYTES}


def from_bytes(words: Array, kind: str) -> Array:
    """Return the bytes of words as float32 along a new last axis, the lower byte first."""
    values: Array = _VALUES[kind][np.asarray(words)[..., None].view(np.uint8)]
    return values


def to_bytes(values: Array, kind: str, relu: bool) -> Array:
    """Return pairs along the last axis as words, rounded to nearest even; numbers beyond the largest become the
    largest."""
    mantissa, bias, largest, unknown = BYTES[kind]
    magnitude = np.minimum(np.abs(np.asarray(values, np.float64)), largest)
    known = np.where(np.isnan(magnitude), 0.0, magnitude)
    exponent = np.maximum(np.frexp(np.maximum(known, 2.0**-60))[1] - 1, 1 - bias)
    # Numbers are rounded in units of the last place of their binade; a carry gives the right code in the next binade.
    units = np.rint(np.ldexp(known, mantissa - exponent)).astype(np.int64)
    code = units + ((exponent + bias - 1) << mantissa)
    signs = np.signbit(values)
    if relu:
        code, signs = np.where(signs, 0, code), np.zeros_like(signs)
    code = np.where(np.isnan(magnitude), unknown, code | signs << 7).astype(np.uint8)
    return np.ascontiguousarray(code).view(np.uint16)[..., 0]
