"""Operations on whole tensors: shapes, ranges, histograms, and `products`. All are pure, as those of `arithmetic`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.pointers import Pointers
from grader.languages.triton.confined.simulator.products import PRODUCTS
from grader.languages.triton.confined.simulator.ramps import Ramp, plain
from grader.languages.triton.confined.simulator.text import Op
from grader.languages.triton.confined.simulator.types import KEPT, Array, full
from grader.plan.limits import Unsupported

Pure = Callable[..., Any]


def _lifted(function: Callable[[Array], Array]) -> Pure:
    """Return a function that changes a shape, of arrays and of pointers."""
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
    "tt.make_range": _range, "tt.gather": _gather, "tt.histogram": _histogram, "tt.addptr": _addptr,
    "tt.ptr_to_int": _address, "ub.poison": _poison, **PRODUCTS,
}  # fmt: skip


def tensorwise(op: Op) -> Pure | None:
    """Return the function that computes an operation on tensors from its operands; None for any other operation."""
    built = _BUILT.get(op.name)
    return built(op) if built else None

