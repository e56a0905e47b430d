"""Instructions of f32 and f64 (PTX ISA 9.0, 9.7.3), and functions that halves share with them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.simulation.ptx.types import DTYPES, Array
from grader.simulation.ptx.values import rounding
from grader.simulation.ptx.values.rules import Maker, Rule, Words, one_of, parse

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
        if mode != "rn":
            return float_rule(lambda *sources: function(*sources, mode), count, kind, flags)
        return float_rule(lambda *sources: function(*sources, "rn"), count, kind, flags)

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


def inverse_root(modifiers: Words) -> Rule:
    flags, (kind,) = parse(modifiers, "approx ftz", FLOATS)
    one = DTYPES[kind].type(1)
    return float_rule(lambda a: one / np.sqrt(a), 1, kind, flags)


def approximation(function: Callable[[Array], Array]) -> Maker:
    """Return the maker of a function that the hardware approximates. Here it is as exact as NumPy's."""

    def make(modifiers: Words) -> Rule:
        flags, (kind,) = parse(modifiers, "approx ftz", "f32")
        return float_rule(function, 1, kind, flags)

    return make


def _turn(a: Array) -> Array:
    """Return an angle reduced to the range from -π to π, in radians, as the fast functions do: the number of turns is
    rounded to single precision, toward zero, so that large angles lose their place."""
    turns = np.multiply(a, np.float32(1 / (2 * np.pi)), dtype=np.float64)
    # Clearing the low bits of the mantissa rounds toward zero.
    rounded = (np.asarray(turns).view(np.int64) & ~np.int64(0x1FFFFFFF)).view(np.float64)
    return (2 * np.pi * (rounded - np.rint(rounded))).astype(np.float32)


def extreme(number: Callable[[Array, Array], Array], unknown: Callable[[Array, Array], Array],
            flags: frozenset[str]) -> Callable[[Array, Array], Array]:  # fmt: skip
    """Return min or max as a function. For a number and NaN it gives the number, or NaN with .NaN; +0 is above -0,
    which NumPy leaves open."""
    choose = unknown if "NaN" in flags else number
    least = number is np.fmin

    def plain(a: Array, b: Array) -> Array:
        result = choose(a, b)
        zero = result == 0
        if not zero.any():
            return result
        signs = np.signbit(a) | np.signbit(b) if least else np.signbit(a) & np.signbit(b)
        both = zero & (a == 0) & (b == 0)
        return np.where(both, np.where(signs, result.dtype.type(-0.0), result.dtype.type(0)), result)

    if "xorsign" not in flags:
        return plain

    def signed(a: Array, b: Array) -> Array:
        result = np.asarray(plain(np.abs(a), np.abs(b)))
        return np.where(np.isnan(result), result, np.copysign(result, np.where(np.signbit(a) ^ np.signbit(b), -1.0, 1.0)
                                                              .astype(result.dtype)))  # fmt: skip

    return signed


def minimum(modifiers: Words) -> Rule:
    flags, (kind,) = parse(modifiers, "ftz NaN xorsign abs", FLOATS)
    return float_rule(extreme(np.fmin, np.minimum, flags), 2, kind, flags)


def maximum(modifiers: Words) -> Rule:
    flags, (kind,) = parse(modifiers, "ftz NaN xorsign abs", FLOATS)
    return float_rule(extreme(np.fmax, np.maximum, flags), 2, kind, flags)


def one_source(function: Callable[[Array], Array]) -> Maker:
    def make(modifiers: Words) -> Rule:
        flags, (kind,) = parse(modifiers, "ftz", FLOATS)
        return float_rule(function, 1, kind, flags)

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
    "sqrt": square_root, "rsqrt": inverse_root, "abs": one_source(np.abs), "neg": one_source(np.negative),
    "min": minimum, "max": maximum, "copysign": copy_sign, "testp": test_property,
    "sin": approximation(lambda a: np.sin(_turn(a))), "cos": approximation(lambda a: np.cos(_turn(a))),
    "lg2": approximation(np.log2),
    "ex2": approximation(np.exp2), "tanh": approximation(np.tanh),
}  # fmt: skip
"""Makers of rules for modifiers that end in f32 or f64."""
