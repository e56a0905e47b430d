"""Layouts of memory that engines read: tensor maps, which describe a tensor to the copy engine, and matrices in shared
memory, which `wgmma` reads by descriptor.

See "Tensors" and `tensormap.replace` of the PTX ISA (9.0, 5.5 and 9.7.9.26), "Matrix Descriptor" and "Strides"
(9.7.15.5). PTX leaves the 128 bytes of a tensor map opaque. Here they hold the fields that `tensormap.replace` names,
one after another. A matrix has lines along M or N, rows of A or columns of B, of 32 bytes each along K. It lies in
pieces of eight rows of `width` bytes, which is the swizzle's width (16: none); the descriptor gives the distances
between pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from grader.simulation.ptx.lanes import Array, Unsupported

BYTES = 128
ALIGNED = 64
_KEPT = 1024
_MOST_BOX, _MOST_BYTES, _MOST_STRIDE = 256, 256 << 10, 1 << 40
_REPEATS = 1024
"""The bytes after which a swizzle repeats."""

FIELDS = {
    "global_address": (0, 8), "rank": (8, 4), "elemtype": (12, 4), "interleave_layout": (16, 4),
    "swizzle_mode": (20, 4), "swizzle_atomicity": (24, 4), "fill_mode": (28, 4), "box_dim": (32, 4),
    "element_stride": (52, 4), "global_dim": (72, 4), "global_stride": (96, 8),
}  # fmt: skip
"""The offset of each field, and the bytes of each of its numbers."""
LISTS = {"box_dim": 5, "element_stride": 5, "global_dim": 5, "global_stride": 4}
"""The count of numbers in each field that is a list."""
_ITEMS = (1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4)
"""The bytes of an element by `elemtype`."""
KINDS = {size: _ITEMS.index(size) for size in (1, 2, 4, 8)}
"""An `elemtype` of each size in bytes."""


class TensorLayout(NamedTuple):
    """Tensor at an `address`, of elements of `item` bytes. `box` is the shape of a copy, `sizes` the shape of the
    tensor; `strides` are in bytes. All have the fastest dimension first. `width` is as in `swizzled`."""

    address: int
    item: int
    width: int
    box: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """Return the size of a box in bytes."""
        return prod(self.box) * self.item

    @property
    def valid(self) -> bool:
        """Return whether a GPU takes the map; it moves 16 bytes at least."""
        row = self.box[0] * self.item
        return (
            self.bytes <= _MOST_BYTES and all(1 <= side <= _MOST_BOX for side in self.box) and 0 not in self.sizes
            and not any(number % 16 for number in (row, self.address, *self.strides[1:]))
            and all(stride < _MOST_STRIDE for stride in self.strides)
            and (self.width == 16 or row <= self.width))

    def offsets(self, corner: tuple[int, ...]) -> tuple[Array, Array]:
        """Return the offset from `address`, in bytes, of each element of the box at a corner, and whether the element
        lies in the tensor."""
        at, inside = np.zeros(1, np.int64), np.ones(1, bool)
        for first, side, size, stride in zip(corner, self.box, self.sizes, self.strides, strict=True):
            along = first + np.arange(side, dtype=np.int64)
            at = np.add.outer(along * stride, at).ravel()
            inside = np.logical_and.outer((along >= 0) & (along < size), inside).ravel()
        return at, inside

    def spread(self, begin: int) -> Array:
        """Return the addresses in shared memory of the elements of a box that begins at `begin`."""
        if self.width > 16 and self.box[0] * self.item != self.width:
            raise Unsupported("a tensor map whose box is narrower than its swizzle")
        phase = begin % _REPEATS
        return _spread(prod(self.box), self.item, self.width, phase) + (begin - phase)


def swizzled(addresses: Array, width: int) -> Array:
    """Return addresses in shared memory under the swizzle of 32, 64 or 128 bytes; 16 is none. A row's number exchanges
    its pieces of 16 bytes, so that the same piece of consecutive rows lies in different banks."""
    return addresses ^ (addresses >> 7 & (width // 16 - 1)) << 4


@lru_cache(_KEPT)
def _spread(elements: int, item: int, width: int, phase: int) -> Array:
    return swizzled(phase + np.arange(elements, dtype=np.int64) * item, width)


def packed(fields: Mapping[str, Sequence[int]]) -> bytes:
    """Return the 128 bytes of a tensor map with these fields; all others are zero."""
    contents = bytearray(BYTES)
    for name, numbers in fields.items():
        at, size = FIELDS[name]
        raw = np.array(numbers, f"<u{size}").tobytes()
        contents[at : at + len(raw)] = raw
    return bytes(contents)


@lru_cache(_KEPT)
def tensor_map(contents: bytes) -> TensorLayout:
    """Return the layout in a tensor map. Raises Unsupported for what only a GPU knows, such as copies by im2col."""

    def numbers(field: str) -> list[int]:
        at, size = FIELDS[field]
        return list(map(int, np.frombuffer(contents, f"<u{size}", LISTS.get(field, 1), at)))

    (address,), (rank,), (kind,), (swizzle,) = map(numbers, ("global_address", "rank", "elemtype", "swizzle_mode"))
    rank += 1
    if rank > 5 or kind >= len(_ITEMS) or swizzle > 3 or any(
        numbers(field) != [0] for field in ("interleave_layout", "swizzle_atomicity", "fill_mode")
    ) or any(step != 1 for step in numbers("element_stride")[:rank]):
        raise Unsupported("needs a GPU: a tensor map of another form")
    box, sizes = (tuple(numbers(field)[:rank]) for field in ("box_dim", "global_dim"))
    strides = (_ITEMS[kind], *numbers("global_stride")[: rank - 1])
    return TensorLayout(address, _ITEMS[kind], 16 << swizzle, box, sizes, strides)


K_BYTES = 32
_WIDTHS = (16, 128, 64, 32)


class Strides(NamedTuple):
    """Layout of a matrix, in bytes: the "leading dimension" and "stride dimension" offsets, and the width of the
    swizzle's row."""

    leading: int
    stride: int
    width: int


def _field(descriptor: int, at: int) -> int:
    return (descriptor >> at & 0x3FFF) << 4


def addresses(descriptors: Array, lines: int, item: int, across: bool) -> Array:
    """Return the addresses (descriptors, lines, elements along K) of the elements of `lines` rows of A or columns of B,
    of `item` bytes. `across`: neighbours in memory lie along M or N, not along K."""
    per_descriptor = []
    for descriptor in descriptors.tolist():
        if descriptor >> 49 & 7:
            raise Unsupported("needs a GPU: a matrix descriptor with a base offset")
        strides = Strides(_field(descriptor, 16), _field(descriptor, 32), _WIDTHS[descriptor >> 62])
        per_descriptor.append(swizzled(_field(descriptor, 0) + _offsets(strides, lines, item, across), strides.width))
    return np.stack(per_descriptor)


@lru_cache(_KEPT)
def _offsets(strides: Strides, lines: int, item: int, across: bool) -> Array:
    leading, stride, width = strides
    line, k = np.ogrid[:lines, : K_BYTES // item]
    if across:
        byte = line * item
        piece, group = (stride, leading) if width == 16 else (leading, stride)
        return byte % width + byte // width * piece + k % 8 * width + k // 8 * group
    byte = k * item
    return line % 8 * width + line // 8 * stride + byte % width + byte // width * leading
