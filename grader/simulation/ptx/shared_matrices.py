"""Matrices in shared memory as `wgmma` reads them, by descriptor: see "Matrix Descriptor" and "Strides" of the PTX ISA
(9.0, 9.7.15.5).

A matrix has lines along M or N, rows of A or columns of B, of 32 bytes each along K. It lies in pieces of eight rows of
`width` bytes, which is the swizzle's width (16: none); the descriptor gives the distances between pieces.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from grader.simulation.ptx.tensor_maps import swizzled
from grader.simulation.ptx.types import Array, Unsupported

K_BYTES = 32
_WIDTHS = (16, 128, 64, 32)
_KEPT = 1024


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
    found = []
    for descriptor in descriptors.tolist():
        if descriptor >> 49 & 7:
            raise Unsupported("needs a GPU: a matrix descriptor with a base offset")
        strides = Strides(_field(descriptor, 16), _field(descriptor, 32), _WIDTHS[descriptor >> 62])
        found.append(swizzled(_field(descriptor, 0) + _offsets(strides, lines, item, across), strides.width))
    return np.stack(found)


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
