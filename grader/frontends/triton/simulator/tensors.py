"""Operations on whole tensors: shapes, ranges, products, histograms. They are pure, as those of `arithmetic`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.frontends.triton.simulator.pointers import Pointers
from grader.frontends.triton.simulator.ramps import Ramp, plain
from grader.frontends.triton.simulator.text import Op
from grader.frontends.triton.simulator.types import KEPT, Array, Type, convert, round_tf32, rounding
from grader.plan.limits import Unsupported

Pure = Callable[..., Any]


def full(values: Array, shape: tuple[int, ...]) -> Array:
    """The tensor in its full shape, without axes of length 1 that stand for any length."""
    return np.broadcast_to(values, values.shape[:1] + shape)


def _lifted(function: Callable[[Array], Array]) -> Pure:
    """A change of shape, for pointers too."""
    return lambda value: (
        value.map(lambda each: function(plain(each))) if isinstance(value, Pointers) else function(value))


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


def _join(_: Op) -> Pure:
    return lambda left, right: np.stack(np.broadcast_arrays(left, right), -1)


def _cat(op: Op) -> Pure:
    shapes = [each.shape for each in op.inputs]

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


def _dot(op: Op) -> Pure:
    left, right, result = op.inputs[0], op.inputs[1], op.types[0]
    if result.element == "f16":
        return _half_dot(left, right)
    kept = KEPT[result.element]
    # A multiply-add of a product takes a fraction of the time of other operations.
    op.weight = max(1, left.shape[-1] // 8)
    wide = np.dtype(np.float64) if left.element == "f64" else np.dtype(np.float32)
    rounded = rounding(result.element)
    # Sums of products of int8 are exact in float64, whose products are fast.
    integers = kept.kind == "i"
    # TF32 with correction (`tf32x3`) is as good as float32.
    tf32 = left.element == "f32" and op.attribute("inputPrecision", "ieee") == "tf32"

    def dot(a: Array, b: Array, accumulator: Array) -> Array:
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

    return dot


_HALF_DEPTH = 16
"""Tensor cores multiply 16 deep; a half accumulator is rounded after each such step."""


def _half_dot(left: Type, right: Type) -> Pure:
    def dot(a: Array, b: Array, accumulator: Array) -> Array:
        a, b = (convert(full(value, kind.shape), np.dtype(np.float32)) for value, kind in ((a, left), (b, right)))
        for start in range(0, left.shape[-1], _HALF_DEPTH):
            stop = start + _HALF_DEPTH
            product = np.matmul(a[..., start:stop], b[..., start:stop, :])
            accumulator = (product + accumulator.astype(np.float32)).astype(np.float16)
        return accumulator

    return dot


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


def _unsplat(_: Op) -> Pure:
    return _lifted(lambda values: values.reshape(values.shape[:1]))


_BUILT: dict[str, Callable[[Op], Pure]] = {
    "tt.splat": _splat, "tt.unsplat": _unsplat, "tt.broadcast": _same, "tt.expand_dims": _expand,
    "tt.reshape": _reshape, "tt.trans": _transpose, "tt.split": _split, "tt.join": _join, "tt.cat": _cat,
    "tt.make_range": _range, "tt.gather": _gather, "tt.histogram": _histogram, "tt.dot": _dot, "tt.addptr": _addptr,
    "tt.ptr_to_int": _address, "ub.poison": _poison,
}  # fmt: skip


def tensorwise(op: Op) -> Pure | None:
    """The function that computes an operation on tensors from its operands; None for any other operation."""
    built = _BUILT.get(op.name)
    return built(op) if built else None

