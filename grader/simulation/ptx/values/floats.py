"""Instructions of f32 and f64 (PTX ISA 9.0, 9.7.3), of f16, bf16 and pairs of them (9.7.4), and the documented errors
of approximate ones.

Results of halves are computed in wider floats and rounded again. For sums and products of two numbers this gives the
result of one rounding. A fused multiply-add of f16 has an exact product in float64; that of bf16 is first rounded to
odd.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from grader.simulation import rounding
from grader.simulation.numbers import from_bf16, odd_single
from grader.simulation.ptx.lanes import DTYPES, Array
from grader.simulation.ptx.values.rules import Maker, Rule, Words, halves, joined, one_of, parse

ROUNDINGS = "rn rz rm rp"
FLOATS = "f32 f64"


def finish(function: Callable[..., Array], flags: frozenset[str]) -> Callable[..., Array]:
    """Return `function` with the effects of .ftz and .sat."""
    result = function
    if "ftz" in flags:

        def result(*sources: Array) -> Array:
            return rounding.flush(np.asarray(function(*map(rounding.flush, sources))))

    if "sat" in flags:
        return lambda *sources: rounding.saturate(result(*sources))
    return result


def float_rule(function: Callable[..., Array], count: int, kind: str, flags: frozenset[str]) -> Rule:
    """Return a rule of `count` sources and a result of one type."""
    return Rule((kind,) * count, (kind,), finish(function, flags))


def rounded(function: Callable[..., Array], count: int) -> Maker:
    """Return the maker of an instruction that is `function(*sources, mode)`."""

    def make(modifiers: Words) -> Rule:
        flags, (kind,) = parse(modifiers, ROUNDINGS + " ftz sat", FLOATS)
        mode = one_of(flags, ROUNDINGS, "rn")
        return float_rule(lambda *sources: function(*sources, mode), count, kind, flags)

    return make


def subtract(a: Array, b: Array, mode: str) -> Array:
    return a - b if mode == "rn" else rounding.total(a, -b, mode)


def _approximate_quotient(a: Array, b: Array) -> Array:
    """Return a · (1/b) as the fast division computes it: for |b| above 2**126 the reciprocal is 0."""
    large = np.abs(b) > np.float32(2.0**126)
    return np.where(large, a * np.copysign(np.float32(0), b), a / b) if large.any() else a / b


def divide(modifiers: Words) -> Rule:
    flags, (kind,) = parse(modifiers, ROUNDINGS + " ftz full approx", FLOATS)
    mode = one_of(flags, ROUNDINGS + " full approx")
    if mode == "approx":
        return float_rule(_approximate_quotient, 2, kind, flags)
    mode = "rn" if mode == "full" else mode
    return float_rule(lambda a, b: rounding.quotient(a, b, mode), 2, kind, flags)


def reciprocal(modifiers: Words) -> Rule:
    flags, (kind,) = parse(modifiers, ROUNDINGS + " ftz approx", FLOATS)
    mode = one_of(flags, ROUNDINGS + " approx")
    one = DTYPES[kind].type(1)
    if mode in ("rn", "approx"):
        return float_rule(lambda a: one / a, 1, kind, flags)
    return float_rule(lambda a: rounding.quotient(one, a, mode), 1, kind, flags)


def square_root(modifiers: Words) -> Rule:
    flags, (kind,) = parse(modifiers, ROUNDINGS + " ftz approx", FLOATS)
    mode = one_of(flags, ROUNDINGS + " approx").replace("approx", "rn")
    return float_rule(lambda a: rounding.root(a, mode), 1, kind, flags)


def one_source(function: Callable[[Array], Array], known: str = "ftz", types: str = FLOATS) -> Maker:
    def make(modifiers: Words) -> Rule:
        flags, (kind,) = parse(modifiers, known, types)
        return float_rule(function, 1, kind, flags)

    return make


def approximation(function: Callable[[Array], Array]) -> Maker:
    """Return the maker of a function that the hardware approximates. Here it is as exact as NumPy's."""
    return one_source(function, "approx ftz", "f32")


def _reduced(a: Array) -> Array:
    """Return an angle reduced to the range from -π to π, in radians, as the fast functions do: the number of turns is
    rounded to single precision, toward zero, so that large angles are imprecise."""
    turns = np.multiply(a, np.float32(1 / (2 * np.pi)), dtype=np.float64)
    # Clearing the low bits of the mantissa rounds toward zero.
    rounded = (np.asarray(turns).view(np.int64) & ~np.int64(0x1FFFFFFF)).view(np.float64)
    return (2 * np.pi * (rounded - np.rint(rounded))).astype(np.float32)


def extreme(number: np.ufunc, unknown: np.ufunc, flags: frozenset[str]) -> Callable[[Array, Array], Array]:
    """Return min or max as a function. For a number and NaN it gives the number, or NaN with .NaN."""
    plain = rounding.extreme(unknown if "NaN" in flags else number)
    if "xorsign" not in flags:
        return plain

    def signed(a: Array, b: Array) -> Array:
        result = np.asarray(plain(np.abs(a), np.abs(b)))
        return np.where(np.isnan(result), result, np.copysign(result, np.where(np.signbit(a) ^ np.signbit(b), -1.0, 1.0)
                                                              .astype(result.dtype)))  # fmt: skip

    return signed


def _extreme(number: np.ufunc, unknown: np.ufunc) -> Maker:
    def make(modifiers: Words) -> Rule:
        flags, (kind,) = parse(modifiers, "ftz NaN xorsign abs", FLOATS)
        return float_rule(extreme(number, unknown, flags), 2, kind, flags)

    return make


def copy_sign(modifiers: Words) -> Rule:
    """Return the rule of copysign: the first source is the sign, the second the magnitude."""
    _, (kind,) = parse(modifiers, "", FLOATS)
    return Rule((kind, kind), (kind,), lambda sign, magnitude: np.copysign(magnitude, sign))


def test_property(modifiers: Words) -> Rule:
    flags, (kind,) = parse(modifiers, "finite infinite number notanumber normal subnormal", FLOATS)
    smallest = np.finfo(DTYPES[kind]).smallest_normal
    tests: dict[str, Callable[[Array], Array]] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda a: ~np.isnan(a),
        "notanumber": np.isnan,
        # Zero counts as normal on GPUs.
        "normal": lambda a: np.isfinite(a) & ((np.abs(a) >= smallest) | (a == 0)),
        "subnormal": lambda a: (np.abs(a) < smallest) & (a != 0),
    }
    return Rule((kind,), ("pred",), tests[one_of(flags, " ".join(tests))])


FLOAT_MAKERS: dict[str, Maker] = {
    "add": rounded(rounding.total, 2), "sub": rounded(subtract, 2), "mul": rounded(rounding.product, 2),
    "fma": rounded(rounding.fused, 3), "mad": rounded(rounding.fused, 3), "div": divide, "rcp": reciprocal,
    "sqrt": square_root, "rsqrt": one_source(lambda a: a.dtype.type(1) / np.sqrt(a), "approx ftz"),
    "abs": one_source(np.abs), "neg": one_source(np.negative), "min": _extreme(np.fmin, np.minimum),
    "max": _extreme(np.fmax, np.maximum), "copysign": copy_sign, "testp": test_property,
    "sin": approximation(lambda a: np.sin(_reduced(a))), "cos": approximation(lambda a: np.cos(_reduced(a))),
    "lg2": approximation(np.log2), "ex2": approximation(np.exp2), "tanh": approximation(np.tanh),
}  # fmt: skip
"""Makers of rules for modifiers that end in f32 or f64."""


HALVES = "f16 f16x2 bf16 bf16x2"


class Half(NamedTuple):
    """Codec of a type, between its values and numbers."""

    decode: Callable[[Array], Array]
    """The function from values to float32."""
    encode: Callable[[Array], Array]
    """The function from float32 or float64 to values."""


def _encode_bf16(values: Array) -> Array:
    return rounding.to_bf16(values if values.dtype == np.float32 else odd_single(values))


# A look-up is faster than a cast.
_NUMBERS = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
_F16 = Half(lambda values: _NUMBERS.take(values.view(np.uint16)), lambda values: np.asarray(values).astype(np.float16))
_BF16 = Half(from_bf16, _encode_bf16)
CODES: dict[str, Half] = {
    "f16": _F16,
    "bf16": _BF16,
    "f16x2": Half(lambda bits: _F16.decode(halves(bits).view(np.float16)), lambda values: joined(_F16.encode(values))),
    "bf16x2": Half(lambda bits: _BF16.decode(halves(bits)), lambda values: joined(_BF16.encode(values))),
}
"""The codecs by type. The numbers of a pair lie along a new last axis."""


def _elementwise(function: Callable[..., Any], count: int, flags: str = "") -> Maker:
    """Return the maker of an instruction that is `function` of float32 numbers; NaN, -0 and the like are as in f32."""

    def make(modifiers: Words) -> Rule:
        given, (kind,) = parse(modifiers, f"{flags} ftz", HALVES)
        code = CODES[kind]
        # f16's subnormal numbers are ordinary in float32, so each source and the result are flushed as f16.
        flushed = _flush_half if "ftz" in given and kind.startswith("f16") else None
        inner = finish(function, given & {"sat"} if flushed else given & {"sat", "ftz"})

        def whole_function(*sources: Array) -> Array:
            numbers = [code.decode(source) for source in sources]
            if flushed:
                numbers = [flushed(value) for value in numbers]
            result = np.asarray(inner(*numbers))
            if "relu" in given:
                result = np.where(np.isnan(result), result, np.maximum(result, result.dtype.type(0)))
            if flushed:
                # Flushed after rounding: a result that rounds to the smallest normal number stays.
                result = flushed(result.astype(np.float16).astype(np.float32))
            return code.encode(result)

        return Rule((kind,) * count, (kind,), whole_function)

    return make


def _flush_half(values: Array) -> Array:
    return np.where(np.abs(values) < 2.0**-14, np.copysign(values.dtype.type(0), values), values)


def _fused(modifiers: Words) -> Rule:
    half = modifiers[-1:] in (("f16",), ("f16x2",))

    def exact(a: Array, b: Array, c: Array) -> Array:
        # See `rounding.fused`.
        return np.multiply(a, b, dtype=np.float64) + c

    return _elementwise(exact if half else rounding.fused_odd, 3, "rn sat relu oob")(modifiers)


def _extreme_half(number: Any, unknown: Any) -> Maker:
    def make(modifiers: Words) -> Rule:
        return _elementwise(extreme(number, unknown, frozenset(modifiers)), 2, "NaN xorsign abs")(modifiers)

    return make


HALF_MAKERS: dict[str, Maker] = {
    "add": _elementwise(np.add, 2, "rn sat"), "sub": _elementwise(np.subtract, 2, "rn sat"),
    "mul": _elementwise(np.multiply, 2, "rn sat"), "fma": _fused, "neg": _elementwise(np.negative, 1),
    "abs": _elementwise(np.abs, 1), "min": _extreme_half(np.fmin, np.minimum),
    "max": _extreme_half(np.fmax, np.maximum), "ex2": _elementwise(np.exp2, 1, "approx"),
    "tanh": _elementwise(np.tanh, 1, "approx"),
}  # fmt: skip
"""Makers of rules for modifiers that end in one of `HALVES`."""


Erring = Callable[[Array, int], Array]
"""A function from exact results, and a time that varies the errors, to results that are as far off as they may be."""

# rcp (9.7.3.13); div.approx and div.full (9.7.3.8); ex2 (9.7.3.21).
_ULPS = {"rcp": 1, "div": 2, "ex2": 2}
# 9.7.3.15, 16, 22 and 20: lg2 of numbers up to 0.5 and from 2 on, where this is more than its absolute error.
_RELATIVE = {"sqrt": 2.0**-23, "rsqrt": 2.0**-22.9, "tanh": 2.0**-11, "lg2": 2.0**-22}
# lg2 between 0.5 and 2 (9.7.3.20). sin and cos (9.7.3.18, 19) of angles up to a turn; up to fifty, 2^-14.7 is allowed.
_ABSOLUTE = {"lg2": 2.0**-22, "sin": 2.0**-20.5, "cos": 2.0**-20.5}
# Relative errors, documented for ex2 (9.7.4.10). The documented errors of tanh (9.7.4.9) are absolute, and these stay
# below them: an absolute error leaves nothing of small numbers, and would accuse every kernel that takes their tanh.
_HALVES = {("ex2", "f16"): 2.0**-9.9, ("ex2", "bf16"): 2.0**-7,
           ("tanh", "f16"): 2.0**-10.987, ("tanh", "bf16"): 2.0**-8}
_BOUNDED = ("sin", "cos", "tanh")
# These are exact at 0, by the tables of special inputs, and kernels rely on it: a running maximum that stays multiplies
# its sum by exp(0).
_ONE_AT_ZERO = ("ex2", "cos")


def documented(name: str, modifiers: Words) -> Erring | None:
    """Return the error of an instruction; None if its result is exact, or correctly rounded."""
    kind = modifiers[-1] if modifiers else ""
    if not {"approx", "full"} & set(modifiers):
        return None
    if kind == "f32" and any(name in bounds for bounds in (_ULPS, _RELATIVE, _ABSOLUTE)):
        ulps, relative, absolute = (bounds.get(name, 0) for bounds in (_ULPS, _RELATIVE, _ABSOLUTE))
        return lambda value, time: _off(value, time, name, np.maximum(
            np.maximum(ulps * np.spacing(np.abs(value)).astype(np.float64), relative * np.abs(value)), absolute))
    if (bound := _HALVES.get((name, kind.removesuffix("x2")))) is None:
        return None
    code = CODES[kind]

    def half(value: Array, time: int) -> Array:
        exact = code.decode(value)
        return code.encode(_off(exact, time, name, bound * np.abs(exact)))

    return half


def _off(value: Array, time: int, name: str, step: Array) -> Array:
    """Return results that are off by `step`, up or down as their bits decide, so that some are off in the harmful
    direction. Numbers that are not normal stay."""
    bits = value.view(np.uint32) ^ np.uint32(time * 0x9E3779B1 & 0xFFFFFFFF)
    up = (bits * np.uint32(0x85EBCA6B)) >> np.uint32(31) == 0
    wide = value.astype(np.float64)
    moved = np.where(up, wide + step, wide - step).astype(np.float32)
    # Rounding must not take a result further off than documented.
    moved = np.where(np.abs(moved - wide) > step, np.nextafter(moved, value), moved)
    if name in _BOUNDED:
        moved = np.clip(moved, np.float32(-1), np.float32(1))
    ordinary = np.isfinite(value) & (np.abs(value) >= np.finfo(np.float32).smallest_normal)
    if name in _ONE_AT_ZERO:
        ordinary &= value != 1
    return np.where(ordinary, moved, value)
