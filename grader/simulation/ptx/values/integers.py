"""Instructions of integers (PTX ISA 9.0, 9.7.1): 16, 32 and 64 bits wide, and pairs of 16 bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from grader.simulation.numbers import high_product, quotient, remainder
from grader.simulation.ptx.lanes import DTYPES, Array
from grader.simulation.ptx.values.rules import Maker, Rule, Words, halves, joined, one_of, parse, whole

INTEGERS = "u16 s16 u32 s32 u64 s64"
PAIRS = {"u16x2": "u16", "s16x2": "s16"}
WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64", "u8": "u16", "s8": "s16"}


def clamp(values: Array, kind: str) -> Array:
    """Clamp integers or whole floats to the range of a type; they keep their dtype."""
    limits = np.iinfo(DTYPES[kind])
    return np.clip(values, limits.min, limits.max)


def _in_pairs(function: Callable[..., Array], kind: str) -> Callable[..., Array]:
    dtype = DTYPES[PAIRS[kind]]
    return lambda *sources: joined(function(*(halves(source).view(dtype) for source in sources)))


def _binary(function: Callable[..., Array], flags: str = "", pairs: str = "u16x2 s16x2") -> Maker:
    """Return the maker of an instruction of two sources of one type, which may be one of `pairs`."""

    def make(modifiers: Words) -> Rule:
        # For pairs .relu follows the type.
        words = ("relu", *modifiers[:-1]) if modifiers[-1:] == ("relu",) else modifiers
        given, (kind,) = parse(words, flags, f"{INTEGERS} {pairs}")
        chosen = function
        if "sat" in given:
            parse((kind,), "", "s32")

            def chosen(*sources: Array) -> Array:
                return _saturated(function(*(source.astype(np.int64) for source in sources)))

        if "relu" in given:
            plain = chosen

            def chosen(*sources: Array) -> Array:
                result = plain(*sources)
                return np.maximum(result, result.dtype.type(0))

        return Rule((kind, kind), (kind,), _in_pairs(chosen, kind) if kind in PAIRS else chosen)

    return make


_PRODUCTS: dict[str, Callable[[Array, Array], Array]] = {
    "lo": np.multiply, "hi": high_product,
    "wide": lambda a, b: np.multiply(a, b, dtype=np.dtype(f"{a.dtype.kind}{a.dtype.itemsize * 2}")),
}
"""Products by the part that is the result; "wide" is the whole product, in twice the bits."""


def _product24(a: Array, b: Array, part: str) -> Array:
    """Return the product of the low 24 bits of each source: the low or the high 32 of its 48 bits."""
    wide = np.int64 if a.dtype.kind == "i" else np.uint64
    shift, down = a.dtype.type(8), wide(0 if part == "lo" else 16)
    return (np.multiply((a << shift) >> shift, (b << shift) >> shift, dtype=wide) >> down).astype(a.dtype)


_PRODUCTS24 = {part: partial(_product24, part=part) for part in ("lo", "hi")}


def _multiply(products: Mapping[str, Callable[..., Array]], types: str, *, adds: bool = False) -> Maker:
    """Return the maker of an instruction that multiplies and, if it `adds`, adds a third source."""

    def make(modifiers: Words) -> Rule:
        parts = " ".join(products)
        flags, (kind,) = parse(modifiers, f"{parts} sat" if adds else parts, types)
        part = one_of(flags, parts)
        product, result = products[part], WIDER[kind] if part == "wide" else kind
        if not adds:
            return Rule((kind, kind), (result,), product)
        if "sat" not in flags:
            return Rule((kind, kind, result), (result,), lambda a, b, c: product(a, b) + c)
        parse((part, kind), "hi", "s32")
        return Rule((kind,) * 3, (kind,), lambda a, b, c: _saturated(product(a, b).astype(np.int64) + c))

    return make


def _saturated(values: Array) -> Array:
    return clamp(values, "s32").astype(np.int32)


def _signed(function: Callable[[Array], Array]) -> Maker:
    def make(modifiers: Words) -> Rule:
        _, (kind,) = parse(modifiers, "", "s16 s32 s64")
        return Rule((kind,), (kind,), function)

    return make


def _absolute_difference(modifiers: Words) -> Rule:
    _, (kind,) = parse(modifiers, "", INTEGERS)
    return Rule((kind,) * 3, (kind,), lambda a, b, c: c + np.where(a > b, a - b, b - a))


def _bytes(words: Array, count: int, kind: str) -> list[Array]:
    """Return the bytes of 32-bit words, or their 16-bit halves, as 64-bit integers."""
    parts = np.asarray(words)[..., None].view(np.dtype(f"{'i' if kind == 's32' else 'u'}{4 // count}"))
    return [parts[..., n].astype(np.int64) for n in range(count)]


def _dot_product(count: int) -> Maker:
    """Return the maker of dp4a and dp2a, which add products of bytes: of four, or of two 16-bit halves with two bytes,
    the lower ones or the higher ones."""

    def make(modifiers: Words) -> Rule:
        flags, (left, right) = parse(modifiers, "" if count == 4 else "lo hi", "u32 s32", 2)
        start = count * (count == 2 and one_of(flags, "lo hi") == "hi")
        result = "s32" if "s32" in (left, right) else "u32"

        def function(a: Array, b: Array, c: Array) -> Array:
            pairs = zip(_bytes(a, count, left), _bytes(b, 4, right)[start : start + count], strict=True)
            return sum((x * y for x, y in pairs), c.astype(np.int64)).astype(DTYPES[result])

        return Rule((left, right, result), (result,), function)

    return make


def _absolute_differences(modifiers: Words) -> Rule:
    """Return the rule of vabsdiff4: the differences of bytes or, with .add, their sum with the third source."""
    sums = modifiers[-1:] == ("add",)
    _, (result, left, right) = parse(modifiers[: len(modifiers) - sums], "", "u32 s32", 3)

    def function(a: Array, b: Array, c: Array) -> Array:
        differences = [np.abs(x - y) for x, y in zip(_bytes(a, 4, left), _bytes(b, 4, right), strict=True)]
        total = sum(differences, c.astype(np.int64)) if sums else sum(
            (x & 255) << 8 * n for n, x in enumerate(differences))
        return np.asarray(total).astype(DTYPES[result])

    return Rule((left, right, result), (result,), function)


def _with_carry(modifiers: Words, subtract: bool, takes: bool) -> Rule:
    """Return the rule of add.cc, addc, sub.cc or subc: the flag of a subtraction is its borrow."""
    flags, (kind,) = parse(modifiers, "cc", "u32 s32 b32 u64 s64 b64")
    unsigned, dtype = whole(kind), DTYPES[kind]

    def function(a: Array, b: Array, carry: Array | bool = False) -> tuple[Array, Array]:
        x, y, more = a.view(unsigned), b.view(unsigned), np.asarray(carry).astype(unsigned)
        if subtract:
            part = x - y
            return (part - more).view(dtype), (x < y) | (part < more)
        part = x + y
        result = part + more
        return result.view(dtype), (part < x) | (result < part)

    return Rule((kind, kind) + ("cc",) * takes, (kind,) + ("cc",) * ("cc" in flags),
                function if "cc" in flags else lambda *sources: function(*sources)[0])  # fmt: skip


def _multiply_carry(modifiers: Words, takes: bool) -> Rule:
    """Return the rule of mad.cc or madc."""
    flags, (kind,) = parse(modifiers, "lo hi cc", "u32 s32 u64 s64")
    product = _PRODUCTS[one_of(flags, "lo hi")]
    add = _with_carry((("cc",) if "cc" in flags else ()) + (kind,), False, takes).function

    def function(a: Array, b: Array, c: Array, *carry: Array) -> tuple[Array, Array]:
        result: tuple[Array, Array] = add(product(a, b), c, *carry)
        return result

    return Rule((kind,) * 3 + ("cc",) * takes, (kind,) + ("cc",) * ("cc" in flags), function)


CARRY_MAKERS: dict[str, Maker] = {
    "add": lambda modifiers: _with_carry(modifiers, False, False),
    "sub": lambda modifiers: _with_carry(modifiers, True, False),
    "mad": lambda modifiers: _multiply_carry(modifiers, False),
    "addc": lambda modifiers: _with_carry(modifiers, False, True),
    "subc": lambda modifiers: _with_carry(modifiers, True, True),
    "madc": lambda modifiers: _multiply_carry(modifiers, True),
}
"""Makers for instructions that take or set the carry flag."""
INTEGER_MAKERS: dict[str, Maker] = {
    "add": _binary(np.add, "sat"), "sub": _binary(np.subtract, "sat"), "mul": _multiply(_PRODUCTS, INTEGERS),
    "mad": _multiply(_PRODUCTS, INTEGERS, adds=True), "mul24": _multiply(_PRODUCTS24, "u32 s32"),
    "mad24": _multiply(_PRODUCTS24, "u32 s32", adds=True), "div": _binary(quotient, pairs=""),
    "rem": _binary(remainder, pairs=""), "abs": _signed(np.abs), "neg": _signed(np.negative),
    "min": _binary(np.minimum, "relu"), "max": _binary(np.maximum, "relu"),
    "sad": _absolute_difference, "dp4a": _dot_product(4), "dp2a": _dot_product(2),
}  # fmt: skip
"""Makers for modifiers that end in an integer type."""
BYTE_MAKERS: dict[str, Maker] = {"vabsdiff4": _absolute_differences}
"""Makers of video instructions (PTX ISA 9.0, 9.7.19): the one that CUDA's compiler writes."""
