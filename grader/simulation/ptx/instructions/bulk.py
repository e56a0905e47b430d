"""Bulk copies of the copy engine: `cp.async.bulk`, and `tensormap`, which describes a tensor's layout to the engine.

See the PTX ISA (9.0), 9.7.9.25.4 to 9.7.9.26. Copies that write shared memory arrive when a thread waits for them;
copies that read it are over at once.
"""

from __future__ import annotations

import numpy as np

from grader.plan.plan import Malformed
from grader.plan.traffic import Kind
from grader.simulation.findings import Named
from grader.simulation.ptx import tensor_maps, tiles
from grader.simulation.ptx.decode import Decoder, Get, Run
from grader.simulation.ptx.instructions.memory import space_of
from grader.simulation.ptx.lanes import WARP
from grader.simulation.ptx.program import ThreadInstruction, split_operands
from grader.simulation.ptx.regions import Region
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.tensor_maps import TensorLayout, tensor_map
from grader.simulation.ptx.tiles import Who, aligned, global_place, of_one, shared_place
from grader.simulation.ptx.transfers import Elements
from grader.simulation.ptx.types import DTYPES, Array, Unsupported

_TO_SHARED = (("shared::cluster", "global", "mbarrier::complete_tx::bytes"),
              ("shared::cta", "global", "mbarrier::complete_tx::bytes"))  # fmt: skip
_TO_GLOBAL = (("global", "shared::cta", "bulk_group"),)
_ITEM = 8
"""The bytes of an element for a copy that names no element type."""
_BOX_ALIGNED, _ALIGNED = 128, 16
_SHARED = Named("", shared=True)
_NONE = np.zeros(0, np.int64)
_NOWHERE = Elements(Region(np.zeros(0, np.uint8), 0, _SHARED), np.zeros(0, np.int64), np.zeros(0, bool))


def bulk(decoder: Decoder, one: ThreadInstruction) -> Run:
    words = one.modifiers[2:]
    if words[:1] in (("commit_group",), ("wait_group",), ("prefetch",)):
        return lambda m: None
    tensor = words[:1] == ("tensor",)
    hinted = words[-1:] == ("L2::cache_hint",)
    ways = tuple(word for word in words[2 * tensor : len(words) - hinted] if word != "tile")
    if ways not in (*_TO_SHARED, *_TO_GLOBAL):
        raise Unsupported(f"needs a GPU: {one}")
    operands = list(one.operands[: len(one.operands) - hinted])
    if len(operands) != 2 + (ways in _TO_SHARED) + (not tensor):
        raise Malformed(f"{one} with {len(operands)} operands")
    barrier = decoder.address(operands.pop()) if ways in _TO_SHARED else None
    return (_box if tensor else _bytes)(decoder, one, operands, barrier)


def _bytes(decoder: Decoder, one: ThreadInstruction, operands: list[str], barrier: Get | None) -> Run:
    """Build `cp.async.bulk`, a copy of contiguous bytes."""
    target, source = map(decoder.address, operands[:2])
    size = decoder.source(operands[2], "u32")

    def copy(m: ChunkState, who: Who) -> None:
        to, of, count = (of_one(get(m), m, who) for get in (target, source, size))
        most = min(aligned(m, who, count, _ALIGNED, "store", _SHARED), m.spaces.shared.bytes + _ALIGNED)
        offsets = np.arange(0, most, _ITEM)
        shared, far = (of, to) if barrier is None else (to, of)
        shared = aligned(m, who, shared, _ALIGNED, "load" if barrier is None else "store", _SHARED)
        far = aligned(m, who, far, _ALIGNED, "store" if barrier is None else "load", Named(""))
        _move(m, who, (shared + offsets)[None], (far, offsets, np.ones(offsets.size, bool)), _ITEM, barrier, count)

    return _for_each(copy)


def _box(decoder: Decoder, one: ThreadInstruction, operands: list[str], barrier: Get | None) -> Run:
    """Build `cp.async.bulk.tensor`, a copy of a box of a tensor: elements outside of the tensor are loaded as zeros,
    and are not stored."""
    described, near = operands if barrier is None else reversed(operands)
    where, corner = split_operands(described.strip()[1:-1])
    map_at, to = decoder.address(f"[{where}]"), decoder.address(near)
    coordinates = [decoder.source(name, "s32") for name in split_operands(corner.strip()[1:-1])]
    if f"{len(coordinates)}d" != one.modifiers[3]:
        raise Malformed(f"{one} with {len(coordinates)} coordinates")

    def copy(m: ChunkState, who: Who) -> None:
        found = _read_map(m, who, of_one(map_at(m), m, who))
        if not found.valid:
            if barrier is not None:
                _due(m, who, barrier, _NOWHERE, np.zeros(0, np.uint8), found.bytes)
            return
        if len(found.box) != len(coordinates):
            raise Unsupported("needs a GPU: a tensor map of other dimensions")
        begin = aligned(m, who, of_one(to(m), m, who), _BOX_ALIGNED, "load" if barrier is None else "store", _SHARED)
        corner = tuple(of_one(get(m), m, who) for get in coordinates)
        _check_corner(m, who, found, corner, stores=barrier is None)
        offsets, inside = found.offsets(corner)
        far = found.address, offsets, inside
        _move(m, who, found.spread(begin)[None], far, found.item, barrier, found.bytes)

    return _for_each(copy)


def _check_corner(m: ChunkState, who: Who, of: TensorLayout, corner: tuple[int, ...], stores: bool) -> None:
    """Record a corner that the engine refuses with an illegal instruction. On an H200 this is a corner that does not
    begin at a multiple of 16 bytes, and a negative one of a store; loads find zeros there."""
    named = global_place(m, who, of.address, _NONE, _NONE > 0, of.item, "load").region.named
    aligned(m, who, corner[0] * of.item, _ALIGNED, "store" if stores else "load", named)
    for place, size in zip(corner, of.sizes, strict=True):
        if stores and place < 0:
            tiles.outside(m, who, "store", named, size, np.array([[place]]), np.zeros((1, 1), bool))


def _for_each(copy: tiles.Copy) -> Run:
    def run(m: ChunkState) -> None:
        blocks, threads = tiles.active(m)
        for number in range(blocks.size):
            copy(m, Who(blocks[number : number + 1], threads[number : number + 1]))

    return run


def _move(
    m: ChunkState, who: Who, addresses: Array, far: tuple[int, Array, Array], item: int, barrier: Get | None,
    bytes_: int,
) -> None:
    """Copy elements between `addresses` in shared memory and `far`: the address, offsets and mask that `global_place`
    takes. A copy to shared memory has a `barrier`, which counts `bytes_`."""
    m.budget.charge(addresses.size)
    near = shared_place(m, who, addresses, item, "load" if barrier is None else "store")
    way: Kind = "store" if barrier is None else "load"
    other = global_place(m, who, *far, item, way)
    if m.observer is not None and other.inside.any():
        begins = other.index[other.inside] * item
        m.observer.copied(m, way, other.region, begins, int(m.numbers_here()[who.blocks[0]]), item)
    if barrier is None:
        m.version += 1
        other.put(tiles.taken(m, who, Elements(near.region, near.index, near.inside & other.inside), item))
        return
    _due(m, who, barrier, near, tiles.taken(m, who, other, item), bytes_)


def _due(m: ChunkState, who: Who, barrier: Get, place: Elements, values: Array, bytes_: int) -> None:
    """Let a barrier wait for values that are to arrive at a place."""
    begin = aligned(m, who, of_one(barrier(m), m, who), 8, "atomic", _SHARED)
    word = shared_place(m, who, np.array([begin]), 8, "atomic")
    m.spaces.transfers.start(int(word.index[0]), place, values, bytes_)


# Tensor maps.


def _read_map(m: ChunkState, who: Who, address: int) -> TensorLayout:
    """Return the tensor map at an address, and record a map that no GPU takes."""
    begin = aligned(m, who, address, tensor_maps.ALIGNED, "load", Named(""))
    offsets = np.arange(0, tensor_maps.BYTES, _ITEM)
    place = global_place(m, who, begin, offsets, np.ones(offsets.size, bool), _ITEM, "load")
    found = tensor_map(tiles.taken(m, who, place, _ITEM).tobytes())
    if not found.valid:
        block = int(m.numbers_here()[who.blocks[0]])
        m.findings.undefined(m.spot(), "descriptor", place.region.named, numbers=[block])
    return found


def _tensormap(decoder: Decoder, one: ThreadInstruction) -> Run:
    if one.modifiers[:1] == ("cp_fenceproxy",):
        return _copy_map(decoder, one)
    words = one.modifiers
    if words[:2] != ("replace", "tile") or len(words) < 3 or words[2] not in tensor_maps.FIELDS:
        raise Unsupported(str(one))
    at, size = tensor_maps.FIELDS[words[2]]
    space, address = space_of(one), decoder.address(one.operands[0])
    if words[2] in tensor_maps.LISTS:
        number = int(one.operands[1], 0)
        if number >= tensor_maps.LISTS[words[2]] or len(one.operands) != 3:
            raise Malformed(f"{one} of dimension {number}")
        at += number * size
    kind = "b64" if size == 8 else "b32"
    get = decoder.source(one.operands[-1], kind)

    def run(m: ChunkState) -> None:
        m.spaces.store(m, space, address(m) + np.uint64(at), [get(m)], DTYPES[kind])

    return run


def _copy_map(decoder: Decoder, one: ThreadInstruction) -> Run:
    """Build `tensormap.cp_fenceproxy`: the lanes of a warp copy a word each."""
    target, source = map(decoder.address, one.operands[:2])
    if int(one.operands[2], 0) != tensor_maps.BYTES:
        raise Malformed(f"{one} of another size")
    word = DTYPES["b32"]

    def run(m: ChunkState) -> None:
        own = (np.arange(m.shape[1], dtype=np.uint64) % WARP * word.itemsize)[None, :]
        values = m.spaces.load(m, "shared", source(m) + own, word)
        m.spaces.store(m, "global", target(m) + own, values, word)

    return run


TENSOR_MAPS = {"tensormap": _tensormap}
