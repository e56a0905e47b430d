"""Instructions of f16, bf16 and pairs of them (PTX ISA 9.0, 9.7.4).

Results are computed in wider floats and rounded again. For sums and products of two numbers this gives the result of
one rounding. A fused multiply-add of f16 has an exact product in float64; that of bf16 is first rounded to odd.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from grader.simulation.numbers import from_bf16, odd_single, two_sum
from grader.simulation.ptx.types import Array
from grader.simulation.ptx.values import rounding
from grader.simulation.ptx.values.floats import extreme, finish
from grader.simulation.ptx.values.rules import Maker, Rule, Words, halves, joined, parse

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

    def function(a: Array, b: Array, c: Array) -> Array:
        product = np.multiply(a, b, dtype=np.float64)
        return product + c if half else rounding.odd(*two_sum(product, c.astype(np.float64)))

    return _elementwise(function, 3, "rn sat relu oob")(modifiers)


def _extreme(number: Any, unknown: Any) -> Maker:
    def make(modifiers: Words) -> Rule:
        return _elementwise(extreme(number, unknown, frozenset(modifiers)), 2, "NaN xorsign abs")(modifiers)

    return make


HALF_MAKERS: dict[str, Maker] = {
    "add": _elementwise(np.add, 2, "rn sat"), "sub": _elementwise(np.subtract, 2, "rn sat"),
    "mul": _elementwise(np.multiply, 2, "rn sat"), "fma": _fused, "neg": _elementwise(np.negative, 1),
    "abs": _elementwise(np.abs, 1), "min": _extreme(np.fmin, np.minimum), "max": _extreme(np.fmax, np.maximum),
    "ex2": _elementwise(np.exp2, 1, "approx"), "tanh": _elementwise(np.tanh, 1, "approx"),
}  # fmt: skip
"""Makers of rules for modifiers that end in one of `HALVES`."""
