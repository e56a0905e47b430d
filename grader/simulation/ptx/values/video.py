"""Video instructions (PTX ISA 9.0, 9.7.19) without selectors and masks of operands, which are no modifiers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.simulation.ptx.types import DTYPES, Array
from grader.simulation.ptx.values.rules import Maker, Rule, Words, one_of, parse

_WORDS = "u32 s32"
_OPERATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "vadd": np.add, "vsub": np.subtract, "vabsdiff": lambda a, b: np.abs(a - b), "vmin": np.minimum, "vmax": np.maximum,
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,
}  # fmt: skip
_AFTER: dict[str, Callable[[Array, Array], Array]] = {"add": np.add, "min": np.minimum, "max": np.maximum}
_COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def _lanes(words: Array, kind: str, count: int) -> Array:
    """Return the parts of words, 8 or 16 bits wide, as int64 along a new last axis."""
    return np.asarray(words)[..., None].view(np.dtype(f"{DTYPES[kind].kind}{4 // count}")).astype(np.int64)


def _limited(values: Array, kind: str, size: int) -> Array:
    low = -(1 << (size - 1)) if kind == "s32" else 0
    return np.clip(values, low, low + (1 << size) - 1)


def _parts(name: str, count: int) -> Maker:
    """Return the maker of an instruction on two or four parts at once. With .add, the sum of the parts is added to the
    third source."""
    operation, size = _OPERATIONS[name], 32 // count

    def make(modifiers: Words) -> Rule:
        sums = modifiers[-1:] == ("add",)
        words = modifiers[:-1] if sums or modifiers[-1:] == ("sat",) else modifiers
        parse(words, "", _WORDS, 3)
        if len(words) != 3:
            parse(words)
        result, left, right = words

        def function(a: Array, b: Array, c: Array) -> Array:
            values = operation(_lanes(a, left, count), _lanes(b, right, count))
            if sums:
                return (values.sum(-1) + c).astype(DTYPES[result])
            if "sat" in modifiers:
                values = _limited(values, result, size)
            return np.ascontiguousarray(values.astype(f"u{size // 8}")).view(DTYPES[result])[..., 0]

        return Rule((left, right, result), (result,), function)

    return make


def _compared_parts(count: int) -> Maker:
    """Return the maker of a comparison: 1 in each part for which it holds or, with .add, the number of these parts
    added to the third source."""

    def make(modifiers: Words) -> Rule:
        words = modifiers[:-1] if modifiers[-1:] == ("add",) else modifiers
        parse(words[:-1], "", _WORDS, 2)
        compare = _COMPARISONS[one_of(frozenset(words[-1:]), " ".join(_COMPARISONS))]
        left, right = words[0], words[1]

        def function(a: Array, b: Array, c: Array) -> Array:
            holds = compare(_lanes(a, left, count), _lanes(b, right, count))
            if words is not modifiers:
                return (holds.sum(-1) + c).astype(np.uint32)
            return np.ascontiguousarray(holds.astype(f"u{4 // count}")).view(np.uint32)[..., 0]

        return Rule((left, right, "u32"), ("u32",), function)

    return make


def _scalar(name: str) -> Maker:
    """Return the maker of an instruction on whole words, which is computed in int64. With .add, .min or .max it has a
    third source."""
    operation = _OPERATIONS[name]

    def make(modifiers: Words) -> Rule:
        after = modifiers[-1] if modifiers[-1:] and modifiers[-1] in _AFTER else ""
        words = modifiers[:-1] if after else modifiers
        clamps = words[-1:] == ("sat",)
        flags, (result, left, right) = parse(words[:-1] if clamps else words, "", _WORDS, 3)
        # GPUs do not clamp or compare numbers beyond u32 as PTX describes it.
        if flags or len(words) - clamps != 3 or (result == "u32" and (clamps or after in ("min", "max"))):
            parse(words)

        def function(a: Array, b: Array, *more: Array) -> Array:
            values = operation(a.astype(np.int64), b.astype(np.int64))
            found = (_limited(values, result, 32) if clamps else values).astype(DTYPES[result])
            return _AFTER[after](found, more[0]) if after else found

        return Rule((left, right) + (result,) * bool(after), (result,), function)

    return make


VIDEO_MAKERS: dict[str, Maker] = {
    **{name: _scalar(name) for name in _OPERATIONS if name != "vavrg"},
    **{f"{name}{count}": _parts(name, count) for name in _OPERATIONS for count in (2, 4)},
    **{f"vset{count}": _compared_parts(count) for count in (2, 4)},
}
