"""Arithmetic of GPUs on NumPy's arrays that both simulators need: integers, and floats that NumPy lacks.

A bf16 is a uint16 in memory, an fp8 a uint8; both are computed in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from grader.plan.plan import LARGEST

Array = Any
FLOAT8 = {"f8E4M3FN": torch.float8_e4m3fn, "f8E5M2": torch.float8_e5m2}
FINITE = {"f8E4M3FN": LARGEST["float8_e4m3fn"], "f8E5M2": LARGEST["float8_e5m2"]}
"""The largest finite number of each type."""
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def nonzero(values: Array) -> Array:
    """Return divisors with 1 in place of 0."""
    return values if values.all() else np.where(values == 0, values.dtype.type(1), values)


def quotient(a: Array, b: Array) -> Array:
    """Return a quotient, rounded toward zero; all ones where b is zero, as on GPUs, though PTX leaves it open."""
    divisor = nonzero(b)
    result = np.asarray(a // divisor)
    if a.dtype.kind == "i":
        result = result + ((result < 0) & (result * divisor != a))
    return result if divisor is b else np.where(b == 0, ~a.dtype.type(0), result)


def remainder(a: Array, b: Array) -> Array:
    """Return a remainder, with the sign of a; all ones where b is zero, as a quotient."""
    divisor = nonzero(b)
    result = np.fmod(a, divisor) if a.dtype.kind == "i" else a % divisor
    return result if divisor is b else np.where(b == 0, ~a.dtype.type(0), result)


def left_shift(a: Array, by: Array) -> Array:
    """Return unsigned integers shifted to the left, by unsigned numbers of any size."""
    return _shifted(np.left_shift, a, by)


def right_shift(a: Array, by: Array) -> Array:
    """Return integers shifted to the right, by unsigned numbers of any size: signed ones keep their sign."""
    if a.dtype.kind == "i":
        return np.right_shift(a, np.minimum(by, by.dtype.type(a.dtype.itemsize * 8 - 1)).astype(a.dtype))
    return _shifted(np.right_shift, a, by)


def _shifted(shift: Callable[[Array, Array], Array], a: Array, by: Array) -> Array:
    large, result = by >= a.dtype.itemsize * 8, shift(a, by.astype(a.dtype))
    return np.where(large, a.dtype.type(0), result) if large.any() else result


def bit_length(values: Array) -> Array:
    """Return the number of bits up to the highest set bit of unsigned integers, as uint32."""
    for step in (1, 2, 4, 8, 16, 32):
        if step < values.dtype.itemsize * 8:
            values = values | (values >> values.dtype.type(step))
    return np.bitwise_count(values).astype(np.uint32)


def reversed_bits(values: Array) -> Array:
    """Return unsigned integers with their bits in reverse order."""
    bits, whole = values.dtype.itemsize * 8, values.dtype.type
    for step in (1, 2, 4):
        mask = whole(sum(((1 << step) - 1) << at for at in range(0, bits, 2 * step)))
        values = ((values >> whole(step)) & mask) | ((values & mask) << whole(step))
    return np.asarray(values).byteswap()


def high_product(a: Array, b: Array) -> Array:
    """Return the upper half of a product."""
    kind = a.dtype
    bits = kind.itemsize * 8
    if bits < 64:
        wide = np.int64 if kind.kind == "i" else np.uint64
        return (np.multiply(a, b, dtype=wide) >> wide(bits)).astype(kind)
    x, y = a.view(np.uint64), b.view(np.uint64)
    mixed = (x >> _HALF) * (y & _LOW) + ((x & _LOW) * (y & _LOW) >> _HALF)
    other = (x & _LOW) * (y >> _HALF) + (mixed & _LOW)
    high = (x >> _HALF) * (y >> _HALF) + (mixed >> _HALF) + (other >> _HALF)
    if kind.kind == "i":
        high = high - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    return high.view(kind)


def whole_numbers(values: Array, dtype: np.dtype[Any], *, wide: bool) -> Array:
    """Return whole floats as integers, clamped to their range. NaN becomes 0 or, if the source or the result has 64
    bits (`wide`), the integer with only the highest bit set."""
    limits = np.iinfo(dtype)
    inside = (values >= float(limits.min)) & (values < float(limits.max + 1))
    if inside.all():
        return values.astype(dtype)
    unknown = np.array(1 << limits.bits - 1 if wide else 0, np.uint64).astype(dtype)[()]
    kept = np.where(inside, values, values.dtype.type(0)).astype(dtype)
    ends = np.where(values < 0, dtype.type(limits.min), dtype.type(limits.max))
    return np.where(inside, kept, np.where(np.isnan(values), unknown, ends))


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a + b and its error, exact in any order of magnitudes (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def exact(integers: Array) -> tuple[Array, Array]:
    """Return integers as float64, and their errors."""
    if integers.dtype.itemsize < 8:
        return integers.astype(np.float64), np.zeros(())
    low = (integers.view(np.uint64) & _LOW).astype(np.float64)
    return two_sum((integers >> integers.dtype.type(32)).astype(np.float64) * 2.0**32, low)


def odd_single(value: Array, error: Array | float = 0.0) -> Array:
    """Return value + error rounded to odd, as a float32: of two neighbours the one with an odd last bit. A further
    rounding to fewer bits then gives the result of one rounding (Boldo and Melquiond, 2008)."""
    near = np.asarray(value, np.float64).astype(np.float32)
    wide = near.astype(np.float64)
    over = np.abs(wide) > np.abs(value)
    over |= (wide == value) & (error != 0) & ((error > 0) != (wide > 0))
    inexact = ((wide != value) | (error != 0)) & np.isfinite(value)
    result: Array = ((near.view(np.int32) - over) | inexact).view(np.float32)
    return result


def nearest(bits: Array, lost: int) -> Array:
    """Return the bits of float32 raised so that the number without its last `lost` bits is the nearest one, ties to
    even."""
    below_half, last = np.uint32((1 << lost - 1) - 1), np.uint32(lost)
    raised: Array = bits + (below_half + (bits >> last & np.uint32(1)))
    return raised


def from_bf16(stored: Array) -> Array:
    """Return bf16's bit patterns as float32."""
    return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)


def from_float8(stored: Array, kind: str) -> Array:
    """Return fp8's bit patterns as float32."""
    return _float8(kind).take(stored)


def to_float8(values: Array, kind: str) -> Array:
    """Return float32 as fp8's bit patterns, rounded to nearest even; what is beyond the largest number is NaN in e4m3,
    and infinity in e5m2."""
    return np.asarray(torch.from_numpy(np.array(values, np.float32)).to(FLOAT8[kind]).view(torch.uint8).numpy())


@lru_cache(2)
def _float8(kind: str) -> Array:
    return np.asarray(torch.arange(256, dtype=torch.uint8).view(FLOAT8[kind]).float().numpy())
