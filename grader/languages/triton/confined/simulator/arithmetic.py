"""Elementwise operations: `arith.*`, `math.*` and similar ones of `tt.*`, and casts: rounded once, and saturated where
the machine saturates (PTX ISA 9.0, `cvt`).

Arrays have an axis of programs first, then the tensor's axes; an axis of length 1 stands for any length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader.languages.triton.confined.simulator.libdevice import FUNCTIONS, erf
from grader.languages.triton.confined.simulator.ramps import ramped
from grader.languages.triton.confined.simulator.text import Op
from grader.languages.triton.confined.simulator.types import (
    KEPT,
    STORED,
    UNSIGNED,
    Array,
    convert,
    decode,
    encode,
    number,
    rounding,
)
from grader.plan.limits import Unsupported
from grader.simulation.numbers import (
    FINITE,
    FLOAT8,
    exact,
    high_product,
    left_shift,
    odd_single,
    quotient,
    remainder,
    right_shift,
    whole_numbers,
)
from grader.simulation.rounding import extreme, fused, fused_odd

Pure = Callable[..., Any]


def signed(values: Array) -> Array:
    """Return i1 as a signed number: -1 for true."""
    return -values.view(np.int8) if values.dtype == bool else values


def _to_integer(source: str, kept: np.dtype[Any], unsigned: bool) -> Pure:
    """Return a conversion that truncates, and saturates at the limits of the type (16 bits at least)."""
    dtype = np.dtype(f"{'u' if unsigned else 'i'}{max(2, kept.itemsize)}")
    wide = "64" in source or dtype.itemsize == 8
    return lambda values: whole_numbers(np.trunc(values.astype(np.float64)), dtype, wide=wide).astype(kept)


def _to_float(element: str) -> Pure:
    """Return a conversion to a floating-point type, to nearest even."""
    kept, rounded = KEPT[element], rounding(element)
    if rounded is None:
        return lambda values: convert(values, kept)

    def convert_once(values: Array) -> Array:
        if values.dtype.kind in "iu":
            return rounded(odd_single(*exact(values)))
        return rounded(odd_single(values) if values.itemsize > 4 else convert(values, kept))

    return convert_once


def _saturated(element: str) -> Pure:
    """Return a conversion to nearest even that saturates at the largest finite number: `cvt.rn.satfinite`."""
    to_float, highest = _to_float(element), np.float32(FINITE[element])

    def saturate(values: Array) -> Array:
        return np.asarray(to_float(np.clip(values, -highest, highest)))

    return saturate


def _toward_zero(element: str) -> Pure:
    """Return a conversion to the nearest number that is not larger in magnitude: `cvt.rz`. Infinity stays what it
    is."""
    to_float, stored = _to_float(element), STORED[element]
    integers = np.dtype(f"u{stored.itemsize}")

    def truncate(values: Array) -> Array:
        near = to_float(values)
        # In types without infinity NaN stands for numbers beyond the largest one.
        larger = ~(np.abs(near.astype(np.float64)) <= np.abs(values)) & np.isfinite(values)
        bits = np.ascontiguousarray(encode(near, element)).view(integers) - larger.astype(integers)
        return decode(bits.view(stored), element)

    return truncate


def _between_floats(op: Op, element: str) -> Pure:
    """Return the function of `tt.fp_to_fp`, which has a rounding mode where the new type is narrower."""
    if "rtz" in op.body:
        return _toward_zero(element)
    return _saturated(element) if element in FLOAT8 else _to_float(element)


def cast(op: Op) -> Pure:
    """Return the function of an operation that converts numbers to another type."""
    source, element, kind = op.inputs[0].element, op.types[0].element, op.name
    kept = KEPT[element]
    if kind in ("arith.fptosi", "arith.fptoui"):
        return _to_integer(source, kept, kind == "arith.fptoui")
    if kind == "tt.fp_to_fp":
        return _between_floats(op, element)
    if source == "i1":
        negative = kind in ("arith.extsi", "arith.sitofp")
        return lambda values: (signed(values) if negative else values).astype(kept)
    if element == "i1":
        return lambda values: values & 1 != 0
    if kept.kind == "f":
        to_float = _to_float(element)
        if kind == "arith.uitofp":
            return lambda values: to_float(values.view(UNSIGNED[values.dtype]))
        return to_float
    if kind in ("arith.extui", "arith.index_castui"):
        return lambda values: values.view(UNSIGNED[values.dtype]).astype(kept)
    return lambda values: convert(values, kept)


def bitcast(op: Op) -> Pure:
    """Return the function of an operation that reads the bits of a value as another type."""
    source, element = op.inputs[0].element, op.types[0].element
    if "ptr" in (source, element):
        before, after = (kind.pointee.element for kind in (op.inputs[0], op.types[0]))
        return lambda pointer: pointer.cast(before, after)
    if source == element:
        return lambda values: values
    stored = STORED[element]
    return lambda values: decode(np.ascontiguousarray(encode(values, source)).view(stored), element)


CASTS: dict[str, Callable[[Op], Pure]] = {
    **dict.fromkeys(
        ("arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "tt.fp_to_fp",
         "arith.index_castui", "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui"), cast),
    "arith.bitcast": bitcast, "tt.bitcast": bitcast,
}  # fmt: skip


def _unsigned(function: Callable[[Array, Array], Array]) -> Pure:
    return lambda left, right: function(
        left.view(UNSIGNED[left.dtype]), right.view(UNSIGNED[right.dtype])).view(left.dtype)


BINARY: dict[str, Pure] = {
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply,
    "arith.divsi": quotient, "arith.remsi": remainder,
    "arith.divui": _unsigned(quotient), "arith.remui": _unsigned(remainder),
    "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor,
    "arith.shli": _unsigned(left_shift), "arith.shrui": _unsigned(right_shift),
    "arith.shrsi": lambda a, b: right_shift(a, b.view(UNSIGNED[b.dtype])),
    "arith.minsi": np.minimum, "arith.maxsi": np.maximum,
    "arith.minui": _unsigned(np.minimum), "arith.maxui": _unsigned(np.maximum),
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "arith.remf": np.fmod, "tt.precise_divf": np.divide, "tt.approx_divf": np.divide,
    "tt.mulhiui": _unsigned(high_product),
    # The maximum of NaN and a number is NaN in `maximumf`, and the number in `maxnumf`.
    "arith.maximumf": np.maximum, "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin,
    "math.powf": np.power, "math.atan2": np.arctan2, "math.copysign": np.copysign,
}  # fmt: skip
# A reduction takes NumPy's own functions, which are faster.
_EXTREMES: dict[str, Pure] = {
    f"arith.{name}f": extreme(BINARY[f"arith.{name}f"]) for name in ("maximum", "minimum", "maxnum", "minnum")}
_BITS: dict[str, Pure] = {
    "arith.addi": np.bitwise_xor, "arith.subi": np.bitwise_xor, "arith.muli": np.bitwise_and,
    "arith.maxui": np.bitwise_or, "arith.minui": np.bitwise_and, "arith.maxsi": np.bitwise_and,
    "arith.minsi": np.bitwise_or, "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
}  # fmt: skip
_UNARY: dict[str, Pure] = {
    "math.exp": np.exp, "math.exp2": np.exp2, "math.log": np.log, "math.log2": np.log2, "math.log10": np.log10,
    "math.log1p": np.log1p, "math.expm1": np.expm1, "math.sqrt": np.sqrt, "tt.precise_sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1 / np.sqrt(x), "math.sin": np.sin, "math.cos": np.cos, "math.tan": np.tan,
    "math.tanh": np.tanh, "math.sinh": np.sinh, "math.cosh": np.cosh, "math.asin": np.arcsin,
    "math.acos": np.arccos, "math.atan": np.arctan, "math.absf": np.abs, "math.absi": np.abs,
    "math.floor": np.floor, "math.ceil": np.ceil, "math.trunc": np.trunc, "math.roundeven": np.rint,
    "math.cbrt": np.cbrt, "math.erf": erf, "arith.negf": np.negative,
}  # fmt: skip
_COMPARE: dict[str, Pure] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def _compare_integers(op: Op) -> Pure:
    predicate = op.body.split(",")[0].strip()
    if predicate in ("eq", "ne"):
        return _COMPARE[predicate]
    compare = _COMPARE[predicate[1:]]
    if predicate[0] == "u":
        return lambda a, b: compare(a.view(UNSIGNED[a.dtype]), b.view(UNSIGNED[b.dtype]))
    return lambda a, b: compare(signed(a), signed(b))


def _compare_floats(op: Op) -> Pure:
    predicate = op.body.split(",")[0].strip()
    if predicate in ("ord", "uno"):
        ordered = predicate == "ord"
        return lambda a, b: (np.isnan(a) | np.isnan(b)) != ordered
    compare = _COMPARE[predicate[1:]]
    # NumPy's comparisons are ordered, except for `!=`, which holds for NaN.
    if predicate[0] == "o":
        return compare if predicate != "one" else lambda a, b: (a < b) | (a > b)
    return compare if predicate == "une" else lambda a, b: compare(a, b) | np.isnan(a) | np.isnan(b)


def constant(op: Op) -> Array:
    """Return the value of `arith.constant`."""
    kind = op.types[0]
    text = op.body.strip().removesuffix(":").strip()
    if not text.startswith("dense<"):
        return number(text.split(" ")[0], kind.element)
    inner = text[6:-1]
    ones = (1,) * (len(kind.shape) + 1)
    if inner == '""':
        # A larger constant is written as a string of its bytes in hexadecimal.
        packed = np.frombuffer(bytes.fromhex(op.strings[0].removeprefix("0x")), KEPT[kind.element])
        return packed.reshape(ones) if packed.size == 1 else packed.reshape((1, *kind.shape))
    if inner.startswith("["):
        listed = [number(word.strip(), kind.element) for word in inner.replace("[", "").replace("]", "").split(",")]
        return np.concatenate(listed).reshape((1, *kind.shape))
    return number(inner, kind.element).reshape(ones)


def _select(condition: Array, yes: Any, no: Any) -> Any:
    if not isinstance(yes, np.ndarray):
        return yes.merge(condition, no)
    if condition.ndim < yes.ndim:
        condition = condition.reshape(condition.shape[:1] + (1,) * (yes.ndim - 1))
    return np.where(condition, yes, no)


def _clamp(op: Op) -> Pure:
    if op.attribute("propagateNan", "none") == "all":
        return lambda x, low, high: np.minimum(np.maximum(x, low), high)
    return lambda x, low, high: np.fmin(np.fmax(x, low), high)


def _foreign(op: Op) -> Pure:
    name = next((string for string in op.strings if string.startswith("__nv_")), "")
    function = FUNCTIONS.get(name[5:]) or FUNCTIONS.get(name[5:].removesuffix("f"))
    if function is None:
        raise Unsupported(f"libdevice {name or op.strings}"[:200])
    kept = KEPT[op.types[0].element]
    return lambda *values: np.asarray(function(*values)).astype(kept, copy=False)


_BUILT: dict[str, Callable[[Op], Pure]] = {
    "arith.cmpi": _compare_integers, "arith.cmpf": _compare_floats, "tt.clampf": _clamp,
    "tt.extern_elementwise": _foreign, **CASTS,
}  # fmt: skip
_EXACT = {*CASTS, "arith.select", "arith.negf", "math.absf", "arith.maximumf",
          "arith.minimumf", "arith.maxnumf", "arith.minnumf", "tt.clampf"}  # fmt: skip


# The cost of an element, in elements of the cheapest operations.
_WEIGHTS = dict.fromkeys(
    ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.remf", "arith.fptosi", "arith.fptoui",
     "math.powf", "tt.extern_elementwise"), 16)  # fmt: skip


def elementwise(op: Op) -> Pure | None:
    """Return the function that computes an elementwise operation from its operands; None for any other operation."""
    op.weight = _WEIGHTS.get(op.name, 4 if op.name.startswith("math.") else 1)
    if op.name == "arith.select":
        return _select
    if op.name == "math.fma":
        function: Pure | None = fused_odd if op.types and rounding(op.types[0].element) else fused
    elif op.name in _BUILT:
        function = _BUILT[op.name](op)
    elif op.types and op.types[0].element == "i1" and op.name in _BITS:
        function = _BITS[op.name]
    else:
        function = _EXTREMES.get(op.name) or BINARY.get(op.name) or _UNARY.get(op.name)
    if function is None or not op.types:
        return function
    if op.types[0].shape and (kept := ramped(op.name, op.body, function)):
        op.ramps = True
        return kept
    rounded = None if op.name in _EXACT else rounding(op.types[0].element)
    if rounded is None:
        return function
    exact: Pure = function
    return lambda *values: rounded(exact(*values))


def warm_up() -> None:
    """Have PyTorch load what these functions need, and restrict it to one thread."""
    torch.set_num_threads(1)
    erf(np.zeros(1, np.float32))
