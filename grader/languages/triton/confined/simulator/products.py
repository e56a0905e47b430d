"""Products of matrices: `tl.dot`, and `tl.dot_scaled`, whose operands have a scale for each group of elements."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.text import Op
from grader.languages.triton.confined.simulator.types import (
    KEPT,
    Array,
    Type,
    convert,
    decode,
    full,
    round_tf32,
    rounding,
)
from grader.plan.limits import Unsupported

Pure = Callable[..., Any]


def dot(op: Op) -> Pure:
    left, right, result = op.inputs[0], op.inputs[1], op.types[0]
    if result.element == "f16":
        return _half_dot(left, right)
    kept = KEPT[result.element]
    op.weight = _weight(left.shape[-1])
    wide = np.dtype(np.float64) if left.element == "f64" else np.dtype(np.float32)
    rounded = rounding(result.element)
    # Sums of products of int8 are exact in float64, whose products are fast.
    integers = kept.kind == "i"
    # TF32 with correction (`tf32x3`) is as good as float32.
    tf32 = left.element == "f32" and op.attribute("inputPrecision", "ieee") == "tf32"

    def multiply(a: Array, b: Array, accumulator: Array) -> Array:
        a, b = full(a, left.shape), full(b, right.shape)
        if integers:
            return np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(kept) + accumulator
        a, b = convert(a, wide), convert(b, wide)
        if tf32:
            a, b = round_tf32(a), round_tf32(b)
        product = np.matmul(a, b)
        # The product is a new array of full size, so it can hold the sum.
        product = np.add(product, accumulator, out=product if len(accumulator) <= len(product) else None)
        return product if rounded is None else rounded(product)

    return multiply


_HALF_DEPTH = 16
"""Tensor cores multiply 16 deep; a half accumulator is rounded after each such step."""


def _half_dot(left: Type, right: Type) -> Pure:
    def multiply(a: Array, b: Array, accumulator: Array) -> Array:
        a, b = (convert(full(value, kind.shape), np.dtype(np.float32)) for value, kind in ((a, left), (b, right)))
        for start in range(0, left.shape[-1], _HALF_DEPTH):
            stop = start + _HALF_DEPTH
            product = np.matmul(a[..., start:stop], b[..., start:stop, :])
            accumulator = (product + accumulator.astype(np.float32)).astype(np.float16)
        return accumulator

    return multiply


def _weight(depth: int) -> int:
    """Return the cost of an element of a product: a multiply-add takes a fraction of the time of other operations."""
    return max(1, depth // 8)


_SCALED = re.compile(r"^ %\S+( scale %\S+)?, %\S+( scale %\S+)?, %\S+ lhs = (\w+) rhs = (\w+)")
_FOUR_BITS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
"""The numbers of e2m1. Source: OCP Microscaling Formats, 5.3.3."""


def _unpacked(values: Array, axis: int) -> Array:
    """Return the e2m1 numbers of bytes that hold two along an axis, which counts from the end; the lower bits come
    first."""
    codes = values.view(np.uint8)
    numbers = _FOUR_BITS[np.stack([codes & 15, codes >> 4], -1)]
    moved = np.moveaxis(numbers, -1, codes.ndim + axis + 1)
    shape = list(codes.shape)
    shape[axis] *= 2
    return moved.reshape(shape)


def _scale_of(scale: Array, element: str, wide: str) -> Array:
    """Return a scale as float32. A scale of eight bits is an exponent (e8m0). A GPU without such products reads it as
    the exponent's bits of a bf16, so 0 stands for 0, and 255 for NaN."""
    if element != "i8":
        return scale
    exponents = scale.view(np.uint8).astype(np.uint16)
    numbers = decode(exponents << np.uint16(7), "bf16")
    numbers = numbers if wide == "bf16" else numbers.astype(np.float16).astype(np.float32)
    return np.where(exponents == 255, np.float32(np.nan), numbers)


def dot_scaled(op: Op) -> Pure:
    """Return a function that multiplies as GPUs do without an instruction for scaled products: the operands times their
    scales are rounded to bf16, or to fp16 if one of them is fp16."""
    match = _SCALED.match(op.body)
    if match is None:
        raise Unsupported(f"{op.name} of another form")
    scales, formats = [bool(match[1]), bool(match[2])], [match[3], match[4]]
    wide = "f16" if "fp16" in formats else "bf16"
    rounded = rounding(wide) or (lambda values: values.astype(np.float16).astype(np.float32))
    depth_packed = [op.attribute(name, "true") == "true" for name in ("lhs_k_pack", "rhs_k_pack")]
    kinds = list(op.inputs)

    def side(values: list[Array], kinds: list[Type], number: int) -> Array:
        """Return an operand with its scale for each program, as float32."""
        matrix = full(values[0], kinds[0].shape)
        across = -1 - number if depth_packed[number] else -2 + number
        numbers = _unpacked(matrix, across) if formats[number] == "e2m1" else convert(matrix, np.dtype(np.float32))
        if len(values) > 1:
            each = _scale_of(full(values[1], kinds[1].shape), kinds[1].element, wide)
            each = np.repeat(each, numbers.shape[-1 - number] // each.shape[-1], -1)
            numbers = numbers * (np.swapaxes(each, -1, -2) if number else each)
        return np.asarray(rounded(numbers))

    first = 1 + scales[0]
    op.weight = _weight(kinds[0].shape[-1])

    def multiply(*values: Array) -> Array:
        left = side(list(values[:first]), kinds[:first], 0)
        right = side(list(values[first:-1]), kinds[first:-1], 1)
        return np.asarray(np.matmul(left, right) + values[-1])

    return multiply


PRODUCTS: dict[str, Callable[[Op], Pure]] = {"tt.dot": dot, "tt.dot_scaled": dot_scaled}
