"""Operations on whole tensors: shapes, ranges, histograms, and products of matrices: `tl.dot`, and `tl.dot_scaled`,
whose operands have a scale for each group of elements. All are pure, as those of `arithmetic`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.pointers import Pointers
from grader.languages.triton.confined.simulator.ramps import Ramp, plain
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
    """Return a function that multiplies as a GPU does that has no instruction for scaled products: it rounds each
    operand, times its scales, to bf16, or to fp16 if one of them is fp16."""
    match = _SCALED.match(op.body)
    if match is None:
        raise Unsupported(f"{op.name} of another form")
    scales, formats = [bool(match[1]), bool(match[2])], [match[3], match[4]]
    wide = "f16" if "fp16" in formats else "bf16"
    rounded = rounding(wide) or (lambda values: values.astype(np.float16).astype(np.float32))
    depth_packed = [op.attribute(name, "true") == "true" for name in ("lhs_k_pack", "rhs_k_pack")]
    kinds = list(op.inputs)

    def side(values: list[Array], kinds: list[Type], number: int) -> Array:
        """Return an operand times its scales, for each program, as float32."""
        matrix = full(values[0], kinds[0].shape)
        across = -1 - number if depth_packed[number] else -2 + number
        numbers = _unpacked(matrix, across) if formats[number] == "e2m1" else convert(matrix, np.dtype(np.float32))
        if len(values) > 1:
            factors = _scale_of(full(values[1], kinds[1].shape), kinds[1].element, wide)
            factors = np.repeat(factors, numbers.shape[-1 - number] // factors.shape[-1], -1)
            numbers = numbers * (np.swapaxes(factors, -1, -2) if number else factors)
        return np.asarray(rounded(numbers))

    first = 1 + scales[0]
    op.weight = _weight(kinds[0].shape[-1])

    def multiply(*values: Array) -> Array:
        left = side(list(values[:first]), kinds[:first], 0)
        right = side(list(values[first:-1]), kinds[first:-1], 1)
        return np.asarray(np.matmul(left, right) + values[-1])

    return multiply


PRODUCTS: dict[str, Callable[[Op], Pure]] = {"tt.dot": dot, "tt.dot_scaled": dot_scaled}


def _lifted(function: Callable[[Array], Array]) -> Pure:
    """Return a function that changes a shape, of arrays and of pointers."""
    return lambda value: (
        value.map(lambda offsets: function(plain(offsets))) if isinstance(value, Pointers) else function(value))


def _splat(op: Op) -> Pure:
    ones = (1,) * len(op.types[0].shape)
    return _lifted(lambda values: values.reshape(values.shape[:1] + ones))


def _expand(op: Op) -> Pure:
    axis = int(op.attribute("axis")) + 1
    op.ramps = True
    shape = op.inputs[0].shape

    def expand(value: Any) -> Any:
        if type(value) is Ramp and axis <= len(shape):
            return Ramp(np.expand_dims(value.base, axis), value.length)
        return np.expand_dims(plain(value), axis)

    return lambda value: value.map(expand) if isinstance(value, Pointers) else expand(value)


def _reshape(op: Op) -> Pure:
    before, after = op.inputs[0].shape, op.types[0].shape
    ones = (1,) * len(after)
    if op.inputs[0].size != op.types[0].size:
        raise Unsupported("a reshape that changes the size")
    return _lifted(
        lambda values: full(values, before).reshape(values.shape[:1] + after)
        if values.size > values.shape[0] else values.reshape(values.shape[:1] + ones))


def _transpose(op: Op) -> Pure:
    axes = [0, *(axis + 1 for axis in op.numbers("order"))]
    return _lifted(lambda values: np.transpose(values, axes))


def _split(op: Op) -> Pure:
    shape = op.inputs[0].shape
    return lambda values: [full(values, shape)[..., 0], full(values, shape)[..., 1]]


def _cat(op: Op) -> Pure:
    shapes = [kind.shape for kind in op.inputs]

    def cat(*parts: Array) -> Array:
        programs = max(len(part) for part in parts)
        return np.concatenate(
            [np.broadcast_to(part, (programs, *shape)) for part, shape in zip(parts, shapes, strict=True)], 1)

    return cat


def _range(op: Op) -> Pure:
    start = int(op.attribute("start"))
    lanes = Ramp(np.array([[start]], np.int32), int(op.attribute("end")) - start)
    if lanes.shape[1:] != op.types[0].shape:
        raise Unsupported("a range of another length than its type's")
    return lambda: lanes


def _gather(op: Op) -> Pure:
    axis, source, shape = int(op.attribute("axis")) + 1, op.inputs[0].shape, op.types[0].shape

    def gather(values: Array, index: Array) -> Array:
        programs = max(len(values), len(index))
        # An index outside is undefined on a GPU; here it takes the nearest element.
        clipped = np.clip(np.broadcast_to(index, (programs, *shape)), 0, source[axis - 1] - 1)
        return np.take_along_axis(np.broadcast_to(values, (programs, *source)), clipped, axis)

    return gather


def _histogram(op: Op) -> Pure:
    bins, shape, kept = op.types[0].shape[0], op.inputs[0].shape, KEPT[op.types[0].element]

    def histogram(values: Array, mask: Array | None = None) -> Array:
        programs = max(len(values), 1 if mask is None else len(mask))
        rows = np.broadcast_to(values, (programs, *shape)).astype(np.int64)
        counted = (rows >= 0) & (rows < bins)
        counted = counted if mask is None else counted & mask
        index = (rows + np.arange(programs)[:, None] * bins)[counted]
        return np.bincount(index, minlength=programs * bins).reshape(programs, bins).astype(kept)

    return histogram


def _address(op: Op) -> Pure:
    if op.types[0].element != "i64":
        raise Unsupported("an address as another integer than i64")
    return lambda pointer: pointer.address()


def _poison(op: Op) -> Pure:
    # A helper with several returns yields this if none of them ran. Pointers and descriptors have no such value.
    kept = KEPT.get(op.types[0].element)
    value = None if kept is None else np.zeros((1,) * (len(op.types[0].shape) + 1), kept)
    return lambda: value


def _same(op: Op) -> Pure:
    op.ramps = True
    return lambda value: value


def _addptr(op: Op) -> Pure:
    op.ramps = True
    return lambda pointer, offsets: pointer.add(offsets)


_BUILT: dict[str, Callable[[Op], Pure]] = {
    "tt.splat": _splat, "tt.unsplat": lambda op: _lifted(lambda values: values.reshape(values.shape[:1])),
    "tt.join": lambda op: lambda left, right: np.stack(np.broadcast_arrays(left, right), -1),
    "tt.broadcast": _same, "tt.expand_dims": _expand,
    "tt.reshape": _reshape, "tt.trans": _transpose, "tt.split": _split, "tt.cat": _cat,
    "tt.make_range": _range, "tt.gather": _gather, "tt.histogram": _histogram, "tt.addptr": _addptr,
    "tt.ptr_to_int": _address, "ub.poison": _poison, **PRODUCTS,
}  # fmt: skip


def tensorwise(op: Op) -> Pure | None:
    """Return the function that computes an operation on tensors from its operands; None for any other operation."""
    built = _BUILT.get(op.name)
    return built(op) if built else None
