"""Memory, and the values of a kernel that point into it: pointers, pointers to blocks, descriptors.

Each pointer knows the buffers that it came from, so an access is checked against its own tensor, wherever it points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.ramps import LaneValues, Ramp, added, plain
from grader.languages.triton.confined.simulator.types import STORED, Array, Type
from grader.plan.limits import Unsupported
from grader.simulation.findings import MemoryNames
from grader.simulation.memory import BufferMemory

ADDRESSES = 44
"""Buffers begin 2^44 bytes apart in the addresses that a kernel sees."""


class Storage(BufferMemory):
    """The memory of a buffer."""

    def data(self, element: str) -> Array:
        """Return all whole elements, as memory holds them."""
        kept = STORED[element]
        return self.raw[: self.raw.size // kept.itemsize * kept.itemsize].view(kept)

    def wrote(self, index: LaneValues, size: int) -> None:
        if self.written is not None:
            index.put(self.marks(size), np.iinfo(f"u{size}").max)


@dataclass(frozen=True, eq=False)
class Origin:
    """A buffer, and the kernel's name for it."""

    buffer: Storage
    name: str

    @property
    def named(self) -> MemoryNames:
        return MemoryNames(self.name, self.buffer.given, self.buffer.kept)


class Pointers:
    """Pointers to elements of type `element`, `offsets` elements from the start of a buffer.

    `which` is the index of each lane's source among several `sources`; None if there is only one.
    """

    __slots__ = ("element", "offsets", "sources", "which")

    def __init__(self, sources: tuple[Origin, ...], which: Array | None, offsets: Array | Ramp, element: str) -> None:
        self.sources, self.which, self.offsets, self.element = sources, which, offsets, element

    def map(self, function: Callable[[Any], Any]) -> Pointers:
        """Return the same pointers in another shape."""
        which = None if self.which is None else function(self.which)
        return Pointers(self.sources, which, function(self.offsets), self.element)

    @property
    def size(self) -> int:
        return self.offsets.size

    def add(self, offsets: Array | Ramp) -> Pointers:
        """Return these pointers moved by `offsets` elements; a `Ramp` stays one."""
        mine = self.offsets
        if isinstance(offsets, Ramp) and offsets.base.dtype != np.int64:
            offsets = plain(offsets) if offsets.wraps() else Ramp(offsets.base.astype(np.int64), offsets.length)
        if not isinstance(offsets, Ramp):
            offsets = offsets.astype(np.int64, copy=False)
        return Pointers(self.sources, self.which, added(np.add)(mine, offsets), self.element)

    def cast(self, before: str, after: str) -> Pointers:
        old, new = STORED[before].itemsize, STORED[after].itemsize
        if old == new:
            return Pointers(self.sources, self.which, self.offsets, after)
        offsets = plain(self.offsets) * old
        if (offsets % new).any():
            raise Unsupported("a pointer that is not aligned to its elements")
        return Pointers(self.sources, self.which, offsets // new, after)

    def merge(self, condition: Array, other: Pointers) -> Pointers:
        """Return these pointers where the condition holds, and `other` elsewhere."""
        if condition.ndim < self.offsets.ndim:
            condition = condition.reshape(condition.shape[:1] + (1,) * (self.offsets.ndim - 1))
        offsets = np.where(condition, plain(self.offsets), plain(other.offsets))
        if self.sources == other.sources and self.which is other.which is None:
            return Pointers(self.sources, None, offsets, self.element)
        sources = self.sources + tuple(source for source in other.sources if source not in self.sources)
        if len(sources) > 64:
            raise Unsupported("a pointer into more than 64 tensors")
        moved = np.array([sources.index(source) for source in other.sources], np.int8)
        mine = np.zeros(1, np.int8) if self.which is None else self.which
        return Pointers(sources, np.where(condition, mine, moved[0 if other.which is None else other.which]), offsets,
                       self.element)

    def address(self) -> Array:
        bases = np.array([source.buffer.index + 1 for source in self.sources], np.int64) << ADDRESSES
        return bases[0 if self.which is None else self.which] + plain(self.offsets) * STORED[self.element].itemsize


@dataclass(frozen=True)
class BlockPointer:
    """A block of a tensor, as `tl.make_block_ptr` and descriptors have it. All numbers are int64, one for each program;
    `padding` is the value of lanes beyond the tensor."""

    base: Pointers
    shape: tuple[Array, ...]
    strides: tuple[Array, ...]
    offsets: tuple[Array, ...]
    block: Type
    padding: str = "zero"

    @property
    def size(self) -> int:
        return 1

    def advance(self, steps: list[Array]) -> BlockPointer:
        moved = tuple(old + step.astype(np.int64) for old, step in zip(self.offsets, steps, strict=True))
        return BlockPointer(self.base, self.shape, self.strides, moved, self.block, self.padding)

    def at(self, offsets: list[Array]) -> BlockPointer:
        moved = tuple(offset.astype(np.int64) for offset in offsets)
        return BlockPointer(self.base, self.shape, self.strides, moved, self.block, self.padding)

    def lanes(self, checked: list[int]) -> tuple[Pointers, Array | None]:
        """Return a pointer for each lane, and which lanes lie inside along the checked dimensions, None if all do."""
        rank = len(self.block.shape)
        offsets: Array | Ramp = plain(self.base.offsets).reshape((-1,) + (1,) * rank)
        inside: Array | None = None
        for axis, size in enumerate(self.block.shape):
            start, end, stride = (
                _column(per_axis[axis], rank) for per_axis in (self.offsets, self.shape, self.strides))
            within = bool(((start >= 0) & (start + (size - 1) < end)).all())
            if axis == rank - 1 and (within or axis not in checked) and (stride == 1).all():
                offsets = Ramp(plain(offsets) + start, size)
                continue
            ones = [1] * (rank + 1)
            ones[axis + 1] = size
            index = start + np.arange(size, dtype=np.int64).reshape(ones)
            offsets = plain(offsets) + index * stride
            if axis in checked and not within:
                valid = (index >= 0) & (index < end)
                inside = valid if inside is None else inside & valid
        which = self.base.which
        which = None if which is None else _column(which, rank)
        return Pointers(self.base.sources, which, offsets, self.base.element), inside

    def rows(self, numbers: Array) -> tuple[Pointers, Array]:
        """Return a pointer for each lane of some rows of a tensor of two dimensions, and which lanes lie inside.
        `numbers` are the rows' numbers: int32, one axis beside that of programs."""
        rows = numbers.astype(np.int64)[:, :, None]
        columns = _column(self.offsets[1], 2) + np.arange(self.block.shape[1], dtype=np.int64)
        (height, width), (down, across) = ([_column(value, 2) for value in pair] for pair in (self.shape, self.strides))
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        offsets = _column(plain(self.base.offsets), 2) + rows * down + columns * across
        which = None if self.base.which is None else _column(self.base.which, 2)
        return Pointers(self.base.sources, which, offsets, self.base.element), inside

    def merge(self, condition: Array, other: BlockPointer) -> BlockPointer:
        if (self.block, self.padding) != (other.block, other.padding):
            raise Unsupported("pointers to different blocks in one variable")
        shape, strides, offsets = (
            tuple(np.where(condition, mine, theirs) for mine, theirs in zip(ours, others, strict=True))
            for ours, others in (
                (self.shape, other.shape), (self.strides, other.strides), (self.offsets, other.offsets)))
        base = self.base.merge(condition, other.base)
        return BlockPointer(base, shape, strides, offsets, self.block, self.padding)


def _column(values: Array, rank: int) -> Array:
    return values.reshape((-1,) + (1,) * rank)


Value = Array | Ramp | Pointers | BlockPointer


def merge(active: Array | None, new: Value, old: Value) -> Value:
    """Return a variable's value after only the active programs have set it again."""
    if active is None or new is old:
        return new
    new, old = plain(new), plain(old)
    if isinstance(new, np.ndarray) and isinstance(old, np.ndarray):
        return np.where(active.reshape((-1,) + (1,) * (new.ndim - 1)), new, old)
    if isinstance(new, Pointers) and isinstance(old, Pointers):
        return new.merge(active, old)
    if isinstance(new, BlockPointer) and isinstance(old, BlockPointer):
        return new.merge(active, old)
    raise Unsupported("values of different kinds in one variable")
