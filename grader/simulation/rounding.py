"""Sums, products and quotients with their errors, and roundings that NumPy does not have.

An exact value is a pair here: a float64, and a number with the sign of its error (exact − value).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.simulation.numbers import Array, nearest, odd_single, two_sum

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_SPLIT = 134217729.0
_INFINITY = {"rm": -np.inf, "rp": np.inf}
_SMALLEST = {_F32: np.float32(2.0**-126), _F64: np.float64(2.0**-1022), np.dtype(np.float16): np.float16(2.0**-14)}


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a · b of float64 and its error, exact where nothing over- or underflows (Dekker)."""
    product = a * b
    upper, other = a * _SPLIT, b * _SPLIT
    upper, other = upper - (upper - a), other - (other - b)
    lower, rest = a - upper, b - other
    return product, lower * rest - (((product - upper * other) - lower * other) - upper * rest)


def odd(value: Array, error: Array) -> Array:
    """Return value + error rounded to odd, as a float64: of two neighbours the one with an odd last bit. A further
    rounding to fewer bits then gives the result of one rounding (Boldo and Melquiond, 2008)."""
    bits = np.asarray(value).view(np.int64)
    inexact = (error != 0) & ((bits & 1) == 0) & np.isfinite(value)
    if not inexact.any():
        return value
    return np.where(inexact, bits + np.where((error > 0) == (value > 0), 1, -1), bits).view(np.float64)


def toward(value: Array, missing: Array, mode: str) -> Array:
    """Return a value that was rounded to nearest as rounded in the mode rz, rm or rp. `missing` has the sign of exact −
    value."""
    if mode == "rn":
        return value
    if mode == "rz":
        # What is missing from an infinity may be NaN.
        beyond = np.where(np.signbit(value), missing > 0, missing < 0)
        return np.where(beyond, np.nextafter(value, value.dtype.type(0)), value)
    wrong = missing < 0 if mode == "rm" else missing > 0
    return np.where(wrong, np.nextafter(value, value.dtype.type(_INFINITY[mode])), value)


def single(value: Array, error: Array, mode: str) -> Array:
    """Round a float64 and its error to a float32."""
    if mode == "rn":
        return odd(value, error).astype(np.float32)
    near = np.asarray(value).astype(np.float32)
    missing = value - near
    return toward(near, np.where(missing == 0, error, missing), mode)


def flush(values: Array) -> Array:
    """Return subnormal numbers as zeros of their sign (.ftz)."""
    small = np.abs(values) < _SMALLEST[values.dtype]
    return np.where(small, np.copysign(values.dtype.type(0), values), values) if small.any() else values


def extreme(choose: Callable[..., Array]) -> Callable[[Array, Array], Array]:
    """Return a minimum or maximum of floats in which +0 is above −0, which NumPy leaves open."""
    combine = np.bitwise_or if choose in (np.fmin, np.minimum) else np.bitwise_and

    def function(a: Array, b: Array) -> Array:
        result, equal = choose(a, b), np.asarray(a == b)
        if not equal.any():
            return result
        whole = f"u{result.itemsize}"
        return np.where(equal, combine(a.view(whole), b.view(whole)).view(result.dtype), result)

    return function


def saturate(values: Array) -> Array:
    """Clamp to [0, 1], with NaN and −0 as +0 (.sat)."""
    # For NaN and a number fmax gives the number; adding +0 removes -0.
    zero, one = values.dtype.type(0), values.dtype.type(1)
    result: Array = np.fmin(np.fmax(values, zero), one) + zero
    return result


def to_bf16(values: Array, mode: str = "rn") -> Array:
    """Return float32 as bf16's bit patterns; NaN becomes 0x7fff."""
    bits = np.asarray(values).view(np.uint32)
    if mode == "rn":
        bits = nearest(bits, 16)
    elif mode in _INFINITY:
        away = (bits >> np.uint32(31) != 0) == (mode == "rm")
        bits = bits + np.where(away & np.isfinite(values), np.uint32(0xFFFF), np.uint32(0))
    result = (bits >> np.uint32(16)).astype(np.uint16)
    unknown = np.isnan(values)
    return np.where(unknown, np.uint16(0x7FFF), result) if unknown.any() else result


def to_half(values: Array, mode: str = "rn") -> Array:
    """Return float32 or float64 as float16."""
    near = np.asarray(values).astype(np.float16)
    return near if mode == "rn" else toward(near, values - near.astype(values.dtype), mode)


def fused_single(a: Array, b: Array, c: Array) -> Array:
    """Return a · b + c of float32, rounded once to nearest.

    The product is exact in float64. The sum is rounded there and again to float32. This differs from one rounding only
    if the first one gave a number half-way between two float32, or if the result is subnormal.
    """
    product = np.multiply(a, b, dtype=np.float64)
    total = np.asarray(product + c)
    result = total.astype(np.float32)
    doubtful = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    small = np.abs(result) <= _SMALLEST[_F32]
    if small.any():
        doubtful |= small & (total != 0)
    if not doubtful.any():
        return result
    shape = total.shape
    terms = (np.broadcast_to(term, shape)[doubtful] for term in (product, np.asarray(c)))
    exact, error = two_sum(*(term.astype(np.float64) for term in terms))
    result = np.asarray(result)
    result[doubtful] = odd(exact, error).astype(np.float32)
    return result


def fused_double(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Return a · b + c of float64 rounded once to nearest, and a number with the sign of its error."""
    plain = np.asarray(a * b + c)
    plain = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, plain)
    value, error = _fused_near(a, b, c)
    # Nothing is missing from infinities, NaN and exact zeros, whose signs are right in the plain sum.
    exact = ~np.isfinite(plain) & ~np.isfinite(value) | ((value == 0) & (error == 0))
    value, error = np.where(exact, plain, value), np.where(exact, 0.0, error)
    given = np.broadcast_arrays(a, b, c)
    odd_sizes = np.zeros(plain.shape, bool)
    for values in given:
        odd_sizes |= (np.abs(values) < 2.0**-300) & (values != 0) | (np.abs(values) > 2.0**300) & np.isfinite(values)
    for values in given:
        odd_sizes &= np.isfinite(values)
    odd_sizes &= (given[0] != 0) & (given[1] != 0)
    if odd_sizes.any():
        value[odd_sizes], error[odd_sizes] = _fused_scaled(*(values[odd_sizes] for values in given))
    return value, error


def _fused_near(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Return the same as `fused_double`, for numbers with which nothing over- or underflows (Boldo and Melquiond)."""
    high, low = two_product(a, b)
    middle, least = two_sum(np.asarray(c), low)
    upper, lower = two_sum(high, middle)
    rest = odd(*two_sum(least, lower))
    result = upper + rest
    return result, (upper - result) + rest


def _fused_scaled(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Return the same as `fused_double`, by mantissas, for finite numbers of any size; a and b are not 0."""
    (x, p), (y, q), (z, r) = np.frexp(a), np.frexp(b), np.frexp(c)
    # If the terms are further apart, only the sign of the smaller one matters.
    apart = np.where(z == 0, 0, np.clip(r - p - q, -200, 200))
    scale = np.where(apart == 200, r - 200, p + q)
    value, error = _fused_near(x, y, np.ldexp(z, apart))
    result = np.ldexp(value, scale)
    # Subnormal results are rounded again, wrongly if the first rounding made a tie. Scaling back is exact.
    missing = value - np.ldexp(result, -scale)
    tie = (missing != 0) & (np.abs(missing) == np.ldexp(1.0, -1075 - scale))
    beyond = tie & (error != 0) & ((error > 0) == (missing > 0))
    result = np.where(beyond, np.nextafter(result, np.copysign(np.inf, missing)), result)
    missing = value - np.ldexp(result, -scale)
    missing = np.where(np.isfinite(result), missing, -result)
    return result, np.where(missing == 0, error, missing)


def fused_odd(a: Array, b: Array, c: Array) -> Array:
    """Return a · b + c of float32 rounded to odd, as a float32: for types of fewer bits."""
    return odd_single(odd(*two_sum(np.multiply(a, b, dtype=np.float64), c.astype(np.float64))))


def fused(a: Array, b: Array, c: Array, mode: str = "rn") -> Array:
    """Return a · b + c of float32 or float64; of float16 to nearest alone."""
    if a.dtype == np.float16:
        # No sum of such a product is so long that float64 rounds it to a number half-way between two float16.
        return (np.multiply(a, b, dtype=np.float64) + c).astype(np.float16)
    if a.dtype == _F32:
        if mode == "rn":
            return fused_single(a, b, c)
        terms = np.multiply(a, b, dtype=np.float64), c.astype(np.float64)
        return _signed_zero(single(*two_sum(*terms), mode), *terms, mode)
    value, error = fused_double(a, b, c)
    return value if mode == "rn" else _signed_zero(toward(value, error, mode), a * b, c, mode)


def _signed_zero(total: Array, a: Array, b: Array, mode: str) -> Array:
    """Return a sum whose zeros have the sign of its mode: toward minus infinity x − x is −0."""
    if mode != "rm" or total.all():
        return total
    # Neither an underflow nor the sum of two +0 makes a -0.
    return np.where((total == 0) & (np.signbit(a) | np.signbit(b)), total.dtype.type(-0.0), total)


def total(a: Array, b: Array, mode: str) -> Array:
    """Return a + b of float32 or float64."""
    if mode == "rn":
        return a + b
    if a.dtype == _F32:
        return _signed_zero(single(*two_sum(a.astype(np.float64), b.astype(np.float64)), mode), a, b, mode)
    value, error = two_sum(a, b)
    return _signed_zero(toward(value, error, mode), a, b, mode)


def product(a: Array, b: Array, mode: str) -> Array:
    """Return a · b of float32 or float64."""
    if mode == "rn":
        return a * b
    if a.dtype == _F32:
        return single(np.multiply(a, b, dtype=np.float64), np.zeros(()), mode)
    near = a * b
    (x, p), (y, q) = np.frexp(a), np.frexp(b)
    return toward(near, fused_double(x, y, -np.ldexp(near, -p - q))[0], mode)


def quotient(a: Array, b: Array, mode: str) -> Array:
    """Return a / b of float32 or float64."""
    near = a / b
    if mode == "rn":
        return near
    if near.dtype == _F32:
        missing = a - np.multiply(near, b, dtype=np.float64)
    else:
        (x, p), (y, q) = np.frexp(a), np.frexp(b)
        missing = fused_double(-np.ldexp(near, q - p), y, x)[0]
    exact = ~np.isfinite(a) | (b == 0)
    return toward(near, np.where(exact, 0.0, missing * np.where(np.signbit(b), -1.0, 1.0)), mode)


def root(a: Array, mode: str) -> Array:
    """Return √a of float32 or float64."""
    near = np.sqrt(a)
    if mode == "rn":
        return near
    if near.dtype == _F32:
        missing = a - np.multiply(near, near, dtype=np.float64)
    else:
        x, p = np.frexp(near)
        missing = fused_double(-x, x, np.ldexp(a, -2 * p))[0]
    return toward(near, np.where(np.isfinite(a), missing, 0.0), mode)
