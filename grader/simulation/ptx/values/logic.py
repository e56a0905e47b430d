"""Instructions on bits: logic and shifts (PTX ISA 9.0, 9.7.8), bit fields and counts (9.7.1), bytes (9.7.9.7);
comparisons and selections: set, setp, selp, slct (9.7.6 and 9.7.7)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.simulation import rounding
from grader.simulation.numbers import bit_length, left_shift, reversed_bits, right_shift
from grader.simulation.ptx.lanes import DTYPES, Array, Unsupported
from grader.simulation.ptx.values.floats import CODES
from grader.simulation.ptx.values.rules import Maker, Rule, Words, joined, one_of, parse, whole, width

_BITS = "pred b16 b32 b64"
_WORD, _FIVE = np.uint32(0xFFFFFFFF), np.uint32(31)


def _logic(function: Callable[..., Array], count: int) -> Maker:
    def make(modifiers: Words) -> Rule:
        _, (kind,) = parse(modifiers, "", _BITS)
        return Rule((kind,) * count, (kind,), function)

    return make


def _shift(function: Callable[[Array, Array], Array], types: str) -> Maker:
    def make(modifiers: Words) -> Rule:
        _, (kind,) = parse(modifiers, "", types)
        return Rule((kind, "u32"), (kind,), function)

    return make


def _funnel_shift(modifiers: Words) -> Rule:
    flags, _ = parse(modifiers, "l r clamp wrap", "b32")
    left, wrap = one_of(flags, "l r") == "l", one_of(flags, "clamp wrap") == "wrap"

    def function(low: Array, high: Array, by: Array) -> Array:
        count = (by & _FIVE if wrap else np.minimum(by, np.uint32(32))).astype(np.uint64)
        both = high.astype(np.uint64) << np.uint64(32) | low
        return ((both << count) >> np.uint64(32) if left else both >> count).astype(np.uint32)

    return Rule(("b32", "b32", "u32"), ("b32",), function)


_TWO_INPUTS: tuple[Callable[[Array, Array], Array], ...] = (
    lambda b, c: np.uint32(0), lambda b, c: ~(b | c), lambda b, c: ~b & c, lambda b, c: ~b,
    lambda b, c: b & ~c, lambda b, c: ~c, lambda b, c: b ^ c, lambda b, c: ~(b & c),
    lambda b, c: b & c, lambda b, c: ~(b ^ c), lambda b, c: c, lambda b, c: ~b | c,
    lambda b, c: b, lambda b, c: b | ~c, lambda b, c: b | c, lambda b, c: _WORD,
)  # fmt: skip
"""The functions of two bits, by their truth table."""


def _looked_up(a: Array, b: Array, c: Array, table: int) -> Array:
    """Return the function of three bits with the truth table `table`: its value for a = 0, inverted where a is 1 and
    matters."""
    without, changed = table & 15, (table & 15) ^ (table >> 4)
    result = _TWO_INPUTS[without](b, c)
    if changed == 15:
        return result ^ a
    return result ^ (a & _TWO_INPUTS[changed](b, c)) if changed else result


def _three_inputs(modifiers: Words) -> Rule:
    """Return the rule of `lop3.b32 d, a, b, c, table`; `lop3.or.b32 d|p, a, b, c, table, q` has p = (d ≠ 0) or q."""
    flags, _ = parse(modifiers, "and or xor", "b32")

    def function(a: Array, b: Array, c: Array, table: Array) -> Array:
        tables = np.unique(np.asarray(table) & 255)
        result = _looked_up(a, b, c, int(tables[0]))
        for number in tables[1:]:
            result = np.where((table & 255) == number, _looked_up(a, b, c, int(number)), result)
        return result

    if not flags:
        return Rule(("b32",) * 3 + ("u32",), ("b32",), function)
    combine = COMBINE[one_of(flags, "and or xor")]

    def tested(a: Array, b: Array, c: Array, table: Array, more: Array) -> tuple[Array, Array]:
        result = function(a, b, c, table)
        return result, combine(result != 0, more)

    return Rule(("b32",) * 3 + ("u32", "pred"), ("b32", "pred"), tested)


COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
"""The functions that combine a comparison's result with another predicate."""


def _population(modifiers: Words) -> Rule:
    _, (kind,) = parse(modifiers, "", "b32 b64")
    return Rule((kind,), ("u32",), lambda a: np.bitwise_count(a).astype(np.uint32))


def _leading_zeros(modifiers: Words) -> Rule:
    _, (kind,) = parse(modifiers, "", "b32 b64")
    bits = np.uint32(width(kind))
    return Rule((kind,), ("u32",), lambda a: bits - bit_length(a))


def _find_highest(modifiers: Words) -> Rule:
    flags, (kind,) = parse(modifiers, "shiftamt", "u32 s32 u64 s64")
    unsigned, last = whole(kind), np.uint32(width(kind) - 1)

    def function(a: Array) -> Array:
        at = bit_length((np.where(a < 0, ~a, a) if kind[0] == "s" else np.asarray(a)).view(unsigned)) - np.uint32(1)
        return np.where(at == _WORD, at, last - at) if "shiftamt" in flags else at

    return Rule((kind,), ("u32",), function)


def _find_nth(modifiers: Words) -> Rule:
    """Return the rule of fns: the position of the n-th set bit from a base upwards (n > 0) or down, or all ones."""
    parse(modifiers, "", "b32")

    def function(mask: Array, base: Array, offset: Array) -> Array:
        mask, base, offset = np.broadcast_arrays(mask, base, offset)
        base, step = base.astype(np.int64), np.where(offset < 0, -1, 1)
        left, position = np.abs(offset.astype(np.int64)), np.full(mask.shape, _WORD)
        alone, possible = offset == 0, base < 32
        for distance in range(32):
            at = base + step * distance
            inside = possible & (at >= 0) & (at < 32)
            is_set = inside & ((mask >> np.where(inside, at, 0).astype(np.uint32)) & np.uint32(1) != 0)
            left = left - is_set
            hit = is_set & np.where(alone, distance == 0, left == 0) & (position == _WORD)
            position = np.where(hit, at, position).astype(np.uint32)
        return position

    return Rule(("b32", "b32", "s32"), ("b32",), function)


def _reverse(modifiers: Words) -> Rule:
    _, (kind,) = parse(modifiers, "", "b32 b64")
    return Rule((kind,), (kind,), reversed_bits)


def _extract_field(modifiers: Words) -> Rule:
    _, (kind,) = parse(modifiers, "", "u32 s32 u64 s64")
    wide = np.dtype(f"{DTYPES[kind].kind}8").type

    def function(a: Array, position: Array, length: Array) -> Array:
        start, count = _byte(position, kind), np.minimum(_byte(length, kind), np.uint32(64))
        field = a.astype(wide) >> np.minimum(start, np.uint32(63)).astype(wide)
        if kind[0] == "u":
            field = np.where(start > 63, wide(0), field)
        up = np.minimum(np.uint32(64) - count, np.uint32(63)).astype(wide)
        return np.where(count == 0, wide(0), (field << up) >> up).astype(DTYPES[kind])

    return Rule((kind, "u32", "u32"), (kind,), function)


def _byte(number: Array, kind: str) -> Array:
    """Return a field's position or length. GPUs take the low byte for 32 bits, and the whole number for 64; PTX allows
    up to 255."""
    return number if kind[1:] == "64" else number & np.uint32(255)


def _field(position: Array, length: Array) -> Array:
    """Return a mask of `length` ones from `position`, as uint64."""
    one, last = np.uint64(1), np.uint32(63)
    ones = np.where(length > 63, ~np.uint64(0), (one << np.minimum(length, last).astype(np.uint64)) - one)
    return np.where(position > 63, np.uint64(0), ones << np.minimum(position, last).astype(np.uint64))


def _insert_field(modifiers: Words) -> Rule:
    _, (kind,) = parse(modifiers, "", "b32 b64")

    def function(a: Array, into: Array, position: Array, length: Array) -> Array:
        start = _byte(position, kind)
        mask = _field(start, _byte(length, kind))
        moved = a.astype(np.uint64) << np.minimum(start, np.uint32(63)).astype(np.uint64)
        return ((into & ~mask) | (moved & mask)).astype(DTYPES[kind])

    return Rule((kind, kind, "u32", "u32"), (kind,), function)


def _sign_extend(modifiers: Words) -> Rule:
    """Return the rule of szext: it extends the low bits, as many as the second source says, to a number."""
    flags, (kind,) = parse(modifiers, "clamp wrap", "u32 s32")
    clamps = one_of(flags, "clamp wrap") == "clamp"

    def function(a: Array, bits: Array) -> Array:
        count = np.minimum(bits, np.uint32(32)) if clamps else bits & _FIVE
        up = (np.uint32(32) - np.maximum(count, np.uint32(1))).astype(DTYPES[kind])
        return np.where(count == 0, DTYPES[kind].type(0), (a << up) >> up)

    return Rule((kind, "u32"), (kind,), function)


def _mask(modifiers: Words) -> Rule:
    flags, _ = parse(modifiers, "clamp wrap", "b32")
    clamps = one_of(flags, "clamp wrap") == "clamp"

    def function(position: Array, length: Array) -> Array:
        if not clamps:
            position, length = position & _FIVE, length & _FIVE
        return _field(np.minimum(position, np.uint32(64)), length).astype(np.uint32)

    return Rule(("u32", "u32"), ("b32",), function)


_PERMUTED = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543), "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333), "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210), "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}  # fmt: skip


def _permuted(a: Array, b: Array, selector: int) -> Array:
    """Permute bytes with one selector for all threads: bytes of a source that move equally far are moved at once."""
    masks: dict[tuple[int, int], int] = {}
    for byte in range(4):
        which = selector >> (4 * byte) & 7
        move = (which >> 2, 8 * (byte - (which & 3)))
        masks[move] = masks.get(move, 0) | 255 << (8 * byte)
    result = np.uint32(0)
    for (source, left), mask in masks.items():
        value = b if source else a
        moved = value << np.uint32(left) if left >= 0 else value >> np.uint32(-left)
        result = result | moved & np.uint32(mask)
    return result


def _permute(modifiers: Words) -> Rule:
    """Return the rule of prmt: each byte of the result is one of the eight of (b, a), or its sign eight times."""
    flags, _ = parse(modifiers[::-1], " ".join(_PERMUTED), "b32") if modifiers[:1] == ("b32",) else (frozenset(), ())
    table = np.array(_PERMUTED[one_of(flags, " ".join(_PERMUTED))], np.uint32) if flags else None
    if not flags:
        parse(modifiers, "", "b32")

    def function(a: Array, b: Array, selector: Array) -> Array:
        chosen = selector if table is None else table[selector & np.uint32(3)]
        if np.ndim(chosen) == 0 and not chosen & 0x8888:
            return _permuted(a, b, int(chosen))
        both = b.astype(np.uint64) << np.uint64(32) | a
        result = np.zeros((), np.uint32)
        for byte in range(4):
            nibble = chosen >> np.uint32(4 * byte)
            value = (both >> ((nibble & np.uint32(7)) << np.uint32(3)).astype(np.uint64)).astype(np.uint32)
            value = value & np.uint32(255)
            signs = nibble & np.uint32(8) != 0
            if signs.any():
                value = np.where(signs, (value >> np.uint32(7)) * np.uint32(255), value)
            result = result | value << np.uint32(8 * byte)
        return result

    return Rule(("b32", "b32", "b32"), ("b32",), function)


LOGIC_MAKERS: dict[str, Maker] = {
    "and": _logic(np.bitwise_and, 2), "or": _logic(np.bitwise_or, 2), "xor": _logic(np.bitwise_xor, 2),
    "not": _logic(np.invert, 1), "cnot": _logic(lambda a: (a == 0).astype(a.dtype), 1),
    "shl": _shift(left_shift, "b16 b32 b64"), "shf": _funnel_shift, "lop3": _three_inputs, "popc": _population,
    "shr": _shift(right_shift, "b16 b32 b64 u16 u32 u64 s16 s32 s64"), "clz": _leading_zeros,
    "bfind": _find_highest, "fns": _find_nth, "brev": _reverse, "bfe": _extract_field, "bfi": _insert_field,
    "szext": _sign_extend, "bmsk": _mask, "prmt": _permute,
}  # fmt: skip


_SIMPLE: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_COMPARED = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64"


_FLOATS: dict[str, Callable[[Array, Array], Array]] = {
    **_SIMPLE, "ne": lambda a, b: (a < b) | (a > b), "neu": np.not_equal,
    "equ": lambda a, b: np.asarray((a == b) | np.isnan(a) | np.isnan(b)),
    "ltu": lambda a, b: ~np.greater_equal(a, b), "leu": lambda a, b: ~np.greater(a, b),
    "gtu": lambda a, b: ~np.less_equal(a, b), "geu": lambda a, b: ~np.less(a, b),
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)), "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}
"""Comparisons of floats: those that end in "u" also hold if one of the two is NaN."""


def _comparison(name: str, kind: str) -> Callable[[Array, Array], Array]:
    if kind[0] in "ub" and not kind.startswith("bf"):
        name = _UNSIGNED.get(name, name)
    comparison = (_FLOATS if "f" in kind else _SIMPLE).get(name)
    if comparison is None:
        raise Unsupported(f"the comparison {name} of {kind}")
    return comparison


_NAMES = " ".join([*_FLOATS, *_UNSIGNED])


def _compare(modifiers: Words, count: int) -> tuple[str, str | None, Words, Callable[[Array, Array], Array]]:
    """Return, for set and setp, the compared type, the operation with a predicate, the types, and the comparison."""
    flags, kinds = parse(modifiers, f"{_NAMES} and or xor ftz", f"{_COMPARED}", count)
    kind = kinds[-1]
    compare = _comparison(one_of(flags, _NAMES), kind)
    how = one_of(flags, "and or xor", "") or None
    if kind in CODES:
        decode = CODES[kind].decode
        return kind, how, kinds, lambda a, b: compare(decode(a), decode(b))
    if "ftz" in flags:
        return kind, how, kinds, lambda a, b: compare(rounding.flush(a), rounding.flush(b))
    return kind, how, kinds, compare


def _set_predicate(modifiers: Words) -> Rule:
    """Return the rule of setp: the second result is the negated first one; for a pair it is that of the upper
    halves."""
    kind, how, _, compare = _compare(modifiers, 1)
    pair = kind.endswith("x2")

    def function(a: Array, b: Array, *more: Array) -> tuple[Array, Array]:
        result = compare(a, b)
        first, second = (result[..., 0], result[..., 1]) if pair else (result, ~result)
        if how:
            return COMBINE[how](first, more[0]), COMBINE[how](second, more[0])
        return first, second

    return Rule((kind, kind) + ("pred",) * bool(how), ("pred", "pred"), function)


def _set(modifiers: Words) -> Rule:
    """Return the rule of set: all ones or 1.0 where the comparison holds, else 0."""
    kind, how, (result, _), compare = _compare(modifiers, 2)
    pair = kind.endswith("x2")
    if pair != (result in ("f16x2", "bf16x2", "u32", "s32") and kind.endswith("x2")):
        raise Unsupported("set with the modifiers ." + ".".join(modifiers))
    element = {"f16x2": "f16", "bf16x2": "bf16"}.get(result, "u16" if pair else result)
    dtype = DTYPES[element]
    yes = dtype.type(0x3F80 if element == "bf16" else 1.0) if "f" in element else np.array(-1).astype(dtype)[()]
    no = dtype.type(0)

    def function(a: Array, b: Array, *more: Array) -> Array:
        holds = compare(a, b)
        if how:
            holds = COMBINE[how](holds, more[0][..., None] if pair else more[0])
        chosen = np.where(holds, yes, no)
        return joined(chosen).view(DTYPES[result]) if pair else chosen

    return Rule((kind, kind) + ("pred",) * bool(how), (result,), function)


def _select(modifiers: Words) -> Rule:
    _, (kind,) = parse(modifiers, "", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64")
    bits, dtype = np.dtype(f"i{DTYPES[kind].itemsize}"), DTYPES[kind]

    def function(a: Array, b: Array, which: Array) -> Array:
        if np.ndim(which) == 0:
            return np.where(which, a, b)
        # This is five times as fast as `where` on unpredictable predicates.
        second = b.view(bits)
        return (second ^ ((a.view(bits) ^ second) & -which.astype(bits))).view(dtype)

    return Rule((kind, kind, "pred"), (kind,), function)


def _select_by_sign(modifiers: Words) -> Rule:
    flags, (kind, by) = parse(modifiers, "ftz", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", 2)
    parse((by,), "", "s32 f32")
    flushed = rounding.flush if "ftz" in flags and by == "f32" else np.asarray
    return Rule((kind, kind, by), (kind,), lambda a, b, which: np.where(flushed(which) >= 0, a, b))


COMPARISON_MAKERS: dict[str, Maker] = {
    "setp": _set_predicate, "set": _set, "selp": _select, "slct": _select_by_sign,
}  # fmt: skip
