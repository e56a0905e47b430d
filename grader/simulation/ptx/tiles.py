"""Elements of memory that the copy engine or the tensor cores access on behalf of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from grader.plan.traffic import Kind
from grader.simulation.findings import Named
from grader.simulation.ptx.regions import APART, PARAM, Region, whole
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.transfers import Elements
from grader.simulation.ptx.types import Array

_HALF = 1 << (APART - 1)

Copy = Callable[[ChunkState, "Who"], None]


class Who(NamedTuple):
    """Threads on whose behalf memory is accessed: indices of blocks and of threads in the part of the chunk that
    runs."""

    blocks: Array
    threads: Array


def active(m: ChunkState) -> Who:
    return Who(*np.nonzero(np.broadcast_to(True if m.mask is None else m.mask, m.shape)))


def of_one(value: Array, m: ChunkState, who: Who) -> int:
    """Return a register's value in the first of the threads."""
    return int(np.broadcast_to(value, m.shape)[who.blocks[0], who.threads[0]])


def shared_place(m: ChunkState, who: Who, addresses: Array, item: int, way: Kind) -> Elements:
    """Return elements of `item` bytes in the shared memory of blocks, at `addresses` of the shape (threads, …). Records
    those outside."""
    space = m.spaces.shared
    within = np.clip(addresses, 0, space.bytes - item)
    inside = (within == addresses) & space.valid[within] & space.valid[within + item - 1]
    if not inside.all():
        begin, end, name = space.array(int(addresses[~inside][0]))
        outside(m, who, way, Named(name, shared=True), (end - begin) // item, (addresses - begin) // item, inside)
    rows = m.spaces.shared_begins()[who.blocks].reshape(-1, *[1] * (addresses.ndim - 1))
    return Elements(space.region, np.where(inside, (within + rows) // item, 0), inside)


def global_place(
    m: ChunkState, who: Who, address: int, offsets: Array, wanted: Array, item: int, way: Kind
) -> Elements:
    """Return elements at `offsets`, in bytes, from an address, for one thread. Elements that are not `wanted` are not
    inside; wanted ones outside of memory are recorded."""
    address = min(address, 1 << 62)
    # A tensor map may be a parameter.
    region = m.spaces.parameters if address >= PARAM else m.spaces.regions.get(
        (address + _HALF >> APART) - 1) or Region(np.zeros(0, np.uint8), 0, Named(""))
    at = (address - region.base + offsets)[None]
    inside = (at >= 0) & (at + item <= region.raw.size)
    if not (inside | ~wanted).all():
        outside(m, who, way, region.named, region.raw.size // item, at // item, inside | ~wanted)
    inside &= wanted
    return Elements(region, np.where(inside, at // item, 0), inside)


def aligned(m: ChunkState, who: Who, address: int, to: int, way: Kind, named: Named) -> int:
    """Return an address, rounded down to a multiple of `to`. Records an address that is no multiple."""
    if address % to:
        m.findings.misaligned(m.spot(), way, named, to, address % (1 << APART), int(who.blocks[0]))
    return address - address % to


def taken(m: ChunkState, who: Who, place: Elements, item: int) -> Array:
    """Return the elements of a place, zeros for those that are not inside. Records elements that nothing has written,
    and elements of copies for which no thread has waited."""
    region, kind = place.region, np.dtype(f"u{item}")
    if region.written is not None:
        known = (region.marks(item).take(place.index, mode="clip") == whole(item)) | ~place.inside
        if not known.all():
            first = int(np.argmin(known.reshape(len(known), -1).all(1)))
            offset = int(place.index[~known][0]) * item
            named, _ = m.spaces.place(region, offset, item)
            loaded = place.index[first][place.inside[first]] * item
            m.findings.unwritten(m.spot(), named, int((~known[first]).sum()), int(who.blocks[first]),
                                 stored=m.spaces.stored_rows(region, loaded, int(who.blocks[first])))
        if m.spaces.copies.flights and region is m.spaces.shared.region:
            early = (m.spaces.copies.flying(place.index * item >> 2) & place.inside).reshape(len(known), -1).any(1)
            if early.any():
                block = int(who.blocks[int(np.argmax(early))])
                m.findings.undefined(m.spot(), "pending", numbers=[int(m.numbers_here()[block])])
    view = region.view(kind)
    return np.where(place.inside, view.take(place.index, mode="clip") if view.size else kind.type(0), kind.type(0))


def outside(
    m: ChunkState, who: Who, way: Kind, named: Named, elements: int, offsets: Array, inside: Array
) -> None:
    """Record threads with elements that are not inside."""
    every, bad, at = np.zeros((3, *m.shape), np.int64)
    flat, far = inside.reshape(len(inside), -1), offsets.reshape(len(offsets), -1)
    every[who], bad[who] = 1, ~flat.all(1)
    at[who] = far[np.arange(len(far)), flat.argmin(1)]
    m.findings.out_of_bounds(m.spot(), way, named, elements, at, bad != 0, every != 0)
