"""Conversions: cvt and cvt.pack (PTX ISA 9.0, 9.7.9.21 and 9.7.9.22), and floats of eight bits, two in a word: e4m3
and e5m2 (5.2.3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.plan.plan import LARGEST
from grader.simulation import rounding
from grader.simulation.numbers import FINITE, exact, from_float8, nearest, odd_single, to_float8, whole_numbers
from grader.simulation.ptx.lanes import DTYPES, Array, Unsupported
from grader.simulation.ptx.values.floats import CODES, ROUNDINGS
from grader.simulation.ptx.values.rules import Maker, Rule, Words, joined, one_of, parse, width

BYTES = {"e4m3x2": "f8E4M3FN", "e5m2x2": "f8E5M2"}


def from_bytes(words: Array, kind: str) -> Array:
    """Return the bytes of words as float32 along a new last axis, the lower byte first."""
    return from_float8(np.asarray(words)[..., None].view(np.uint8), BYTES[kind])


def to_bytes(values: Array, kind: str, relu: bool) -> Array:
    """Return pairs of float32 along the last axis as words, rounded to nearest even; numbers beyond the largest become
    the largest."""
    most = np.float32(FINITE[BYTES[kind]])
    limited = np.clip(values, -most, most)
    if relu:
        limited = np.maximum(limited, np.float32(0)) + np.float32(0)
    # NaN has no sign here.
    limited = np.where(np.isnan(limited), np.float32(np.nan), limited)
    return np.ascontiguousarray(to_float8(limited, BYTES[kind])).view(np.uint16)[..., 0]


_INTEGERS = "u8 s8 u16 s16 u32 s32 u64 s64"
_FLOATS = "f16 bf16 f32 f64"
_WHOLE: dict[str, Callable[[Array], Array]] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
_FLAGS = f"{ROUNDINGS} rna rni rzi rmi rpi ftz sat relu satfinite"


def _integers(result: str, source: str, flags: frozenset[str]) -> Rule:
    parse((*flags, result), "sat", result)
    dtype = DTYPES[result]
    if "sat" not in flags:
        return Rule((source,), (result,), lambda a: a.astype(dtype))
    limits, given = np.iinfo(dtype), np.iinfo(DTYPES[source])
    low, high = max(limits.min, given.min), min(limits.max, given.max)
    return Rule((source,), (result,), lambda a: np.clip(a, low, high).astype(dtype))


def _to_integer(result: str, source: str, flags: frozenset[str]) -> Rule:
    """Return the rule from floats to integers, which always clamps to the result's range."""
    round_whole = _WHOLE[one_of(flags, "rni rzi rmi rpi")]
    dtype, wide = DTYPES[result], source == "f64" or width(result) == 64
    return Rule((source,), (result,), lambda a: whole_numbers(
        np.asarray(round_whole(_decode(source, a, flags))), dtype, wide=wide))


def _decode(kind: str, values: Array, flags: frozenset[str]) -> Array:
    """Return values as float32 or float64."""
    numbers = CODES[kind].decode(values) if kind in CODES else values
    return rounding.flush(numbers) if "ftz" in flags and kind == "f32" else numbers


def _encode(kind: str, value: Array, error: Array | float, mode: str) -> Array:
    """Round a float64 and its error to a type."""
    if kind == "f64":
        return rounding.toward(value, np.asarray(error), mode)
    if kind == "f32":
        return rounding.single(value, np.asarray(error), mode)
    if kind == "bf16":
        return rounding.to_bf16(odd_single(value, error), mode)
    return rounding.to_half(rounding.odd(value, np.asarray(error)), mode)


def _from_integer(result: str, source: str, flags: frozenset[str]) -> Rule:
    parse((*flags, result), f"{ROUNDINGS} sat ftz", result)
    mode, dtype = one_of(flags, ROUNDINGS, "rn"), DTYPES[result]

    def function(a: Array) -> Array:
        values = a.astype(dtype) if mode == "rn" and result in ("f32", "f64") else _encode(result, *exact(a), mode)
        return rounding.saturate(values) if "sat" in flags else values

    return Rule((source,), (result,), function)


def _narrow(result: str, values: Array, mode: str) -> Array:
    """Round float32 or float64 to a narrower type."""
    if result == "f16":
        return rounding.to_half(values, mode)
    if result == "bf16":
        return rounding.to_bf16(values if values.dtype == np.float32 else odd_single(values), mode)
    return values.astype(np.float32) if mode == "rn" else rounding.single(values, np.zeros(()), mode)


def _floats(result: str, source: str, flags: frozenset[str]) -> Rule:
    whole = one_of(flags, "rni rzi rmi rpi", "")
    mode = one_of(flags, ROUNDINGS, "rn")
    order = ("f16", "f32", "f64")
    widens = source == result or (source != "f64" and result in order[1:])

    def function(a: Array) -> Array:
        values = _decode(source, a, flags)
        if whole:
            values = _WHOLE[whole](values)
        if "sat" in flags:
            values = rounding.saturate(values)
        if "relu" in flags:
            values = np.where(np.isnan(values), values, np.maximum(values, values.dtype.type(0)))
        if "satfinite" in flags:
            values = _finite(values, result)
        if widens and source in ("f16", "bf16") and result in CODES:
            return CODES[result].encode(values)
        numbers = values.astype(DTYPES[result]) if widens else _narrow(result, values, mode)
        return rounding.flush(numbers) if "ftz" in flags and result == "f32" else numbers

    return Rule((source,), (result,), function)


_LARGEST = {"f16": LARGEST["float16"], "bf16": LARGEST["bfloat16"], "f32": LARGEST["float32"]}


def _finite(values: Array, result: str) -> Array:
    """Return values clamped to the finite numbers of a type."""
    largest = values.dtype.type(_LARGEST.get(result, _LARGEST["f32"]))
    return np.clip(values, -largest, largest)


def _pair(result: str, source: str, flags: frozenset[str]) -> Rule:
    """Return the rule of `cvt.rn.f16x2.f32 d, a, b`: a is the upper half."""
    parse((*flags, result, source), "rn rz relu satfinite", f"f32 {result}", 2)
    mode, element = one_of(flags, "rn rz"), result.removesuffix("x2")
    convert = _floats(element, "f32", flags - {mode} | {mode}).function

    def function(upper: Array, lower: Array) -> Array:
        pair = np.broadcast_arrays(convert(lower), convert(upper))
        return joined(np.stack(pair, -1))

    return Rule(("f32", "f32"), (result,), function)


def _to_tf32(flags: frozenset[str]) -> Rule:
    """Return the rule of f32 to tf32, which rounds the lower 13 bits of the mantissa away."""
    mode = one_of(flags, "rn rz rna")
    half, rest = np.uint32(0x1000), np.uint32(0x1FFF)

    def function(a: Array) -> Array:
        values = np.asarray(a)
        bits = values.view(np.uint32)
        if mode == "rna":
            bits = np.where(np.isfinite(values), bits + half, bits)
        elif mode == "rn":
            bits = np.where(np.isfinite(values), nearest(bits, 13), bits)
        result = (bits if mode == "rna" else np.where(np.isnan(values), np.uint32(0x7FFFFFFF), bits)) & ~rest
        if "satfinite" in flags:
            result = np.where((result << np.uint32(1)) == np.uint32(0xFF000000),
                              (result & np.uint32(0x80000000)) | np.uint32(0x7F7FE000), result)  # fmt: skip
        if "relu" in flags:
            result = np.where((values < 0) | (values == 0), np.uint32(0), result)
        return result

    return Rule(("f32",), ("b32",), function)


def _bytes(result: str, source: str, flags: frozenset[str]) -> Rule:
    """Return the rule of conversions to or from pairs of eight-bit floats."""
    parse((*flags, result, source), "rn satfinite relu", f"f32 f16x2 {' '.join(BYTES)}", 2)
    relu = "relu" in flags
    if source == "f32":

        def function(upper: Array, lower: Array) -> Array:
            return to_bytes(np.stack(np.broadcast_arrays(lower, upper), -1), result, relu)

        return Rule(("f32", "f32"), (result,), function)
    if source == "f16x2":
        return Rule(("f16x2",), (result,), lambda a: to_bytes(CODES["f16x2"].decode(a), result, relu))

    def back(a: Array) -> Array:
        values = from_bytes(a, source)
        return CODES["f16x2"].encode(np.where(values <= 0, np.float32(0), values) if relu else values)

    return Rule((source,), (result,), back)


def _pack(modifiers: Words) -> Rule:
    """Return the rule of `cvt.pack.sat.u8.s32.b32 d, a, b, c`: b is lowest, a next, and above them the low part of
    c."""
    wide = modifiers[-1:] != ("b32",)
    flags, (kind, _) = parse(modifiers if wide else modifiers[:-1], "pack sat", "u2 s2 u4 s4 u8 s8 u16 s16 s32", 2)
    if flags != {"pack", "sat"} or (width_of := int(kind[1:])) > 16 or wide != (width_of == 16):
        raise Unsupported("cvt with the modifiers ." + ".".join(modifiers))
    low = -(1 << (width_of - 1)) if kind[0] == "s" else 0
    high = low + (1 << width_of) - 1
    ones = np.uint32((1 << width_of) - 1)

    def function(a: Array, b: Array, *more: Array) -> Array:
        first, second = (np.clip(value, low, high).astype(np.uint32) & ones for value in (b, a))
        packed = first | second << np.uint32(width_of)
        return packed | more[0] << np.uint32(2 * width_of) if more else packed

    return Rule(("s32", "s32") + ("b32",) * (not wide), ("b32",), function)


def _convert(modifiers: Words) -> Rule:
    if modifiers[:1] == ("pack",):
        return _pack(modifiers)
    types = f"{_INTEGERS} {_FLOATS} f16x2 bf16x2 tf32 {' '.join(BYTES)}"
    flags, (result, source) = parse(modifiers, _FLAGS, types, 2)
    integers, floats = _INTEGERS.split(), _FLOATS.split()
    if result in integers and source in integers:
        return _integers(result, source, flags)
    if result in integers and source in floats:
        return _to_integer(result, source, flags)
    if result in floats and source in integers:
        return _from_integer(result, source, flags)
    if result in floats and source in floats:
        return _floats(result, source, flags)
    if result in ("f16x2", "bf16x2") and source == "f32":
        return _pair(result, source, flags)
    if result == "tf32" and source == "f32":
        return _to_tf32(flags)
    if (result in BYTES and source in ("f32", "f16x2")) or (source in BYTES and result == "f16x2"):
        return _bytes(result, source, flags)
    raise Unsupported("cvt with the modifiers ." + ".".join(modifiers))


CONVERSION_MAKERS: dict[str, Maker] = {"cvt": _convert}
