"""Floats of eight bits, two in a word: e4m3 and e5m2 (PTX ISA 9.0, 5.2.3)."""

from __future__ import annotations

import numpy as np

from grader.simulation.numbers import LARGEST, from_float8, to_float8
from grader.simulation.ptx.types import Array

BYTES = {"e4m3x2": "f8E4M3FN", "e5m2x2": "f8E5M2"}


def from_bytes(words: Array, kind: str) -> Array:
    """Return the bytes of words as float32 along a new last axis, the lower byte first."""
    return from_float8(np.asarray(words)[..., None].view(np.uint8), BYTES[kind])


def to_bytes(values: Array, kind: str, relu: bool) -> Array:
    """Return pairs of float32 along the last axis as words, rounded to nearest even; numbers beyond the largest become
    the largest."""
    most = np.float32(LARGEST[BYTES[kind]])
    limited = np.clip(values, -most, most)
    if relu:
        limited = np.maximum(limited, np.float32(0)) + np.float32(0)
    # NaN has no sign here.
    limited = np.where(np.isnan(limited), np.float32(np.nan), limited)
    return np.ascontiguousarray(to_float8(limited, BYTES[kind])).view(np.uint16)[..., 0]
