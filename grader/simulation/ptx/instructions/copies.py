"""Asynchronous copies into shared memory, `cp.async`, copies of the copy engine, `cp.async.bulk` and `tensormap`, and
the barriers in memory that threads wait at for them, `mbarrier`. See the PTX ISA (9.0), 9.7.9.25.4 to 9.7.9.26.

A barrier is a word of 64 bits. From the lowest bits on it holds the threads still to arrive, the threads of each phase,
the bytes of copies still to come, and in the highest bit the phase's parity. Data of bulk copies arrives when a thread
tests the barrier: see `grader.simulation.ptx.engines`. Copies that read shared memory are over at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.plan.plan import Malformed
from grader.plan.traffic import Kind
from grader.simulation.findings import MemoryNames
from grader.simulation.ptx import engines, tensor_maps
from grader.simulation.ptx.decode import Decoder, Get, Run
from grader.simulation.ptx.engines import (
    FIELD,
    PENDING,
    PHASE,
    Elements,
    ThreadIndices,
    after,
    aligned,
    global_place,
    of_first,
    shared_place,
)
from grader.simulation.ptx.instructions.memory import signal, space_of, together
from grader.simulation.ptx.lanes import DTYPES, WARP, Array, Unsupported
from grader.simulation.ptx.program import ThreadInstruction, split_operands
from grader.simulation.ptx.races import Synced
from grader.simulation.ptx.regions import Region
from grader.simulation.ptx.tensor_maps import TensorLayout, tensor_map

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Machine


_WORD = DTYPES["b64"]
_ARRIVALS = frozenset({
    "arrive", "expect_tx", "complete_tx", "release", "relaxed", "noComplete", "cta", "cluster", "shared", "shared::cta",
    "b64"})


def _mbarrier(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    what = instruction.modifiers[0] if instruction.modifiers else ""
    if what == "init":
        return _init(decoder, instruction)
    if what == "inval":
        return lambda m: None
    if what in ("arrive", "expect_tx", "complete_tx") and set(instruction.modifiers) <= _ARRIVALS:
        named = not instruction.operands[0].startswith("[")
        return arrival(decoder, instruction, instruction.operands[0] if named else "_", instruction.operands[named:])
    if what in ("test_wait", "try_wait"):
        return _wait(decoder, instruction)
    raise Unsupported(str(instruction))


def _init(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    address, space = decoder.address(instruction.operands[0]), space_of(instruction)
    count = decoder.source(instruction.operands[1], "u32")

    def run(m: Machine) -> None:
        expected = count(m).astype(np.uint64) & PENDING
        m.spaces.store(m, space, address(m), [expected | expected << FIELD], _WORD)

    return run


def arrival(decoder: Decoder, instruction: ThreadInstruction, state: str, operands: tuple[str, ...]) -> Run:
    """Build the arrival of threads at the barrier of the first operand. The second operand is the number of arrivals of
    each thread, 1 by default; for `expect_tx` and `complete_tx` it is the bytes that are to come or have come."""
    if not operands:
        raise Malformed(f"{instruction} without a barrier")
    address, space = decoder.address(operands[0]), space_of(instruction)
    count = decoder.source(operands[1], "u32") if len(operands) > 1 else None
    put = decoder.target(state)
    kind = instruction.modifiers[1 if instruction.modifiers[0] == "arrive" else 0]
    bytes_ = {"expect_tx": 1, "complete_tx": -1}.get(kind, 0)
    arrives = "arrive" in instruction.modifiers

    def run(m: Machine) -> None:
        before = np.zeros(m.shape, np.uint64)
        for piece in m.spaces.resolve(m, space, address(m), 8, "atomic", 8):
            mask = np.broadcast_to(True if piece.mask is None else piece.mask, m.shape)
            index = np.broadcast_to(piece.offsets >> 3, m.shape)[mask]
            words = piece.region.view(_WORD)
            m.spaces.races.meets(m, piece.region, piece.offsets, piece.mask)
            before[mask] = words[index]
            own = np.ones((1, 1), np.uint32) if count is None else count(m)
            own = np.broadcast_to(own, m.shape)[mask].astype(np.int64)
            places, at = np.unique(index, return_inverse=True)
            arrived, due = np.zeros((2, places.size), np.int64)
            np.add.at(arrived, at, arrives if bytes_ else own)
            np.add.at(due, at, bytes_ * own)
            words[places] = after(words[places], arrived, due)
        m.version += 1
        put(m, before)
        signal(m, "arrive")

    return run


def _wait(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    put, address = decoder.target(instruction.operands[0]), decoder.address(instruction.operands[1])
    space = space_of(instruction)
    parity = "parity" in instruction.modifiers
    state = decoder.source(instruction.operands[2], "u32" if parity else "b64")

    def run(m: Machine) -> None:
        at = address(m)
        if m.spaces.transfers.due or m.spaces.races.checked:
            for piece in m.spaces.resolve(m, space, at, 8, "load", 8):
                m.spaces.races.meets(m, piece.region, piece.offsets, piece.mask)
                m.spaces.transfers.arrive(m, piece, m.spaces.races.unit)
        (word,) = m.spaces.load(m, space, at, _WORD, 1, Synced.GRID)
        given = state(m) & np.uint32(1) != 0 if parity else state(m) & PHASE != 0
        over = (word & PHASE != 0) != given
        put(m, over)
        passed = over if m.mask is None else over & m.mask
        if passed.any():
            signal(m, "wait", mask=passed)
        if not (over if m.mask is None else over | ~m.mask).all():
            m.failed_poll = m.version

    return run


MBARRIERS = {"mbarrier": _mbarrier}


_TO_SHARED = (("shared::cluster", "global", "mbarrier::complete_tx::bytes"),
              ("shared::cta", "global", "mbarrier::complete_tx::bytes"))  # fmt: skip
_TO_GLOBAL = (("global", "shared::cta", "bulk_group"),)
_ITEM = 8
"""The bytes of an element for a copy that names no element type."""
_BOX_ALIGNED, _ALIGNED = 128, 16
_SHARED = MemoryNames("", shared=True)
_NONE = np.zeros(0, np.int64)
_NOWHERE = Elements(Region(np.zeros(0, np.uint8), 0, _SHARED), np.zeros(0, np.int64), np.zeros(0, bool))


def bulk(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    words = instruction.modifiers[2:]
    if words[:1] in (("commit_group",), ("wait_group",), ("prefetch",)):
        return lambda m: None
    tensor = words[:1] == ("tensor",)
    hinted = words[-1:] == ("L2::cache_hint",)
    ways = tuple(word for word in words[2 * tensor : len(words) - hinted] if word != "tile")
    if ways not in (*_TO_SHARED, *_TO_GLOBAL):
        raise Unsupported(f"needs a GPU: {instruction}")
    operands = list(instruction.operands[: len(instruction.operands) - hinted])
    if len(operands) != 2 + (ways in _TO_SHARED) + (not tensor):
        raise Malformed(f"{instruction} with {len(operands)} operands")
    barrier = decoder.address(operands.pop()) if ways in _TO_SHARED else None
    return (_box if tensor else _bytes)(decoder, instruction, operands, barrier)


def _bytes(decoder: Decoder, instruction: ThreadInstruction, operands: list[str], barrier: Get | None) -> Run:
    """Build `cp.async.bulk`, a copy of contiguous bytes."""
    target, source = map(decoder.address, operands[:2])
    size = decoder.source(operands[2], "u32")

    def copy(m: Machine, who: ThreadIndices) -> None:
        to, of, count = (of_first(get(m), m, who) for get in (target, source, size))
        most = min(aligned(m, who, count, _ALIGNED, "store", _SHARED), m.spaces.shared.bytes + _ALIGNED)
        offsets = np.arange(0, most, _ITEM)
        shared, far = (of, to) if barrier is None else (to, of)
        shared = aligned(m, who, shared, _ALIGNED, "load" if barrier is None else "store", _SHARED)
        far = aligned(m, who, far, _ALIGNED, "store" if barrier is None else "load", MemoryNames(""))
        _move(m, who, (shared + offsets)[None], (far, offsets, np.ones(offsets.size, bool)), _ITEM, barrier, count)

    return _for_each(copy)


def _box(decoder: Decoder, instruction: ThreadInstruction, operands: list[str], barrier: Get | None) -> Run:
    """Build `cp.async.bulk.tensor`, a copy of a box of a tensor: elements outside of the tensor are loaded as zeros,
    and are not stored."""
    described, near = operands if barrier is None else reversed(operands)
    where, corner = split_operands(described.strip()[1:-1])
    map_at, to = decoder.address(f"[{where}]"), decoder.address(near)
    coordinates = [decoder.source(name, "s32") for name in split_operands(corner.strip()[1:-1])]
    if f"{len(coordinates)}d" != instruction.modifiers[3]:
        raise Malformed(f"{instruction} with {len(coordinates)} coordinates")

    def copy(m: Machine, who: ThreadIndices) -> None:
        layout = _read_map(m, who, of_first(map_at(m), m, who))
        if not layout.valid:
            if barrier is not None:
                _due(m, who, barrier, _NOWHERE, np.zeros(0, np.uint8), layout.bytes)
            return
        if len(layout.box) != len(coordinates):
            raise Unsupported("needs a GPU: a tensor map of other dimensions")
        begin = aligned(m, who, of_first(to(m), m, who), _BOX_ALIGNED, "load" if barrier is None else "store", _SHARED)
        corner = tuple(of_first(get(m), m, who) for get in coordinates)
        _check_corner(m, who, layout, corner, stores=barrier is None)
        offsets, inside = layout.offsets(corner)
        far = layout.address, offsets, inside
        _move(m, who, layout.spread(begin)[None], far, layout.item, barrier, layout.bytes)

    return _for_each(copy)


def _check_corner(m: Machine, who: ThreadIndices, of: TensorLayout, corner: tuple[int, ...], stores: bool) -> None:
    """Record a corner that the engine refuses with an illegal instruction. On an H200 this is a corner that does not
    begin at a multiple of 16 bytes, and a negative one of a store; loads find zeros there."""
    named = global_place(m, who, of.address, _NONE, _NONE > 0, of.item, "load").region.named
    aligned(m, who, corner[0] * of.item, _ALIGNED, "store" if stores else "load", named)
    for place, size in zip(corner, of.sizes, strict=True):
        if stores and place < 0:
            engines.outside(m, who, "store", named, size, np.array([[place]]), np.zeros((1, 1), bool))


def _for_each(copy: engines.Copy) -> Run:
    def run(m: Machine) -> None:
        blocks, threads = engines.active(m)
        for number in range(blocks.size):
            copy(m, ThreadIndices(blocks[number : number + 1], threads[number : number + 1]))

    return run


def _move(
    m: Machine, who: ThreadIndices, addresses: Array, far: tuple[int, Array, Array], item: int, barrier: Get | None,
    bytes_: int,
) -> None:
    """Copy elements between `addresses` in shared memory and `far`: the address, offsets and mask that `global_place`
    takes. A copy to shared memory has a `barrier`, which counts `bytes_`."""
    m.budget.charge(addresses.size)
    near = shared_place(m, who, addresses, item, "load" if barrier is None else "store")
    way: Kind = "store" if barrier is None else "load"
    far_place = global_place(m, who, *far, item, way)
    if m.observer is not None and far_place.inside.any():
        begins = far_place.index[far_place.inside] * item
        m.observer.copied(m, way, far_place.region, begins, int(m.numbers_here()[who.blocks[0]]), item)
    if barrier is None:
        m.spaces.races.read_by_engine(m, who, near, item)
        m.version += 1
        far_place.put(engines.load(m, who, Elements(near.region, near.index, near.inside & far_place.inside), item))
        return
    _due(m, who, barrier, near, engines.load(m, who, far_place, item), bytes_)


def _due(m: Machine, who: ThreadIndices, barrier: Get, place: Elements, values: Array, bytes_: int) -> None:
    """Let a barrier wait for values that are to arrive at a place."""
    begin = aligned(m, who, of_first(barrier(m), m, who), 8, "atomic", _SHARED)
    word = shared_place(m, who, np.array([begin]), 8, "atomic")
    m.spaces.transfers.start(int(word.index[0]), place, values, bytes_)


# Tensor maps.


def _read_map(m: Machine, who: ThreadIndices, address: int) -> TensorLayout:
    """Return the tensor map at an address, and record a map that no GPU takes."""
    begin = aligned(m, who, address, tensor_maps.ALIGNED, "load", MemoryNames(""))
    offsets = np.arange(0, tensor_maps.BYTES, _ITEM)
    place = global_place(m, who, begin, offsets, np.ones(offsets.size, bool), _ITEM, "load")
    layout = tensor_map(engines.load(m, who, place, _ITEM).tobytes())
    if not layout.valid:
        block = int(m.numbers_here()[who.blocks[0]])
        m.findings.undefined(m.site(), "descriptor", place.region.named, numbers=[block])
    return layout


def _tensormap(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    if instruction.modifiers[:1] == ("cp_fenceproxy",):
        return _copy_map(decoder, instruction)
    words = instruction.modifiers
    if words[:2] != ("replace", "tile") or len(words) < 3 or words[2] not in tensor_maps.FIELDS:
        raise Unsupported(str(instruction))
    at, size = tensor_maps.FIELDS[words[2]]
    space, address = space_of(instruction), decoder.address(instruction.operands[0])
    if words[2] in tensor_maps.LISTS:
        number = int(instruction.operands[1], 0)
        if number >= tensor_maps.LISTS[words[2]] or len(instruction.operands) != 3:
            raise Malformed(f"{instruction} of dimension {number}")
        at += number * size
    kind = "b64" if size == 8 else "b32"
    get = decoder.source(instruction.operands[-1], kind)

    def run(m: Machine) -> None:
        m.spaces.store(m, space, address(m) + np.uint64(at), [get(m)], DTYPES[kind])

    return run


def _copy_map(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    """Build `tensormap.cp_fenceproxy`: the lanes of a warp copy a word each."""
    target, source = map(decoder.address, instruction.operands[:2])
    if int(instruction.operands[2], 0) != tensor_maps.BYTES:
        raise Malformed(f"{instruction} of another size")
    word = DTYPES["b32"]

    def run(m: Machine) -> None:
        own = (np.arange(m.shape[1], dtype=np.uint64) % WARP * word.itemsize)[None, :]
        values = m.spaces.load(m, "shared", source(m) + own, word)
        m.spaces.store(m, "global", target(m) + own, values, word)

    return run


TENSOR_MAPS = {"tensormap": _tensormap}


def _cp(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    words = instruction.modifiers
    if words[:3] == ("async", "mbarrier", "arrive"):
        # Threads arrive at once, as if their copies were over. Without `noinc` the barrier expects one arrival more,
        # which cancels this one.
        arrive = arrival(decoder, instruction, "_", instruction.operands) if "noinc" in words else lambda m: None

        def arrived(m: Machine) -> None:
            m.spaces.wait_for_copies(m, None)
            arrive(m)

        return arrived
    if words[:2] == ("async", "bulk"):
        return bulk(decoder, instruction)
    if words[:1] != ("async",):
        raise Unsupported(str(instruction))
    if words[1:2] == ("commit_group",):
        return lambda m: m.spaces.copies.commit(m.spaces.running(m))
    if words[1:2] and words[1] in ("wait_group", "wait_all"):
        left = None if words[1] == "wait_all" else int(instruction.operands[0], 0)
        return lambda m: m.spaces.wait_for_copies(m, left)
    target, source = (decoder.address(operand) for operand in instruction.operands[:2])
    # Some compilers write the size in hexadecimal digits.
    bytes_of = {form: size for size in (4, 8, 16) for form in (f"{size}", f"{size:#x}")}
    if instruction.operands[2].lower() not in bytes_of:
        raise Malformed(f"{instruction} of {instruction.operands[2][:20]} bytes")
    count = bytes_of[instruction.operands[2].lower()] // 4
    hinted = any(word.endswith("cache_hint") for word in words)
    rest = instruction.operands[3 : len(instruction.operands) - hinted]
    real = decoder.source(rest[0], "u32") if rest else None
    dtype = DTYPES["b32"]

    def run(m: Machine) -> None:
        if real is None:
            values = m.spaces.load(m, "global", source(m), dtype, count)
        else:
            # Words past the source's size are zero, and are not read.
            size = real(m)
            begin = m.spaces.aligned(m, source(m), 4 * count, size > 0)
            values = []
            for number in range(count):
                here = size > np.uint32(4 * number)
                if here.all():
                    values += m.spaces.load(m, "global", begin + np.uint64(4 * number), dtype)
                    continue
                mask = here if m.mask is None else here & m.mask
                if not mask.any():
                    values.append(np.zeros((1, 1), dtype))
                    continue
                with m.under(mask):
                    value = m.spaces.load(m, "global", begin + np.uint64(4 * number), dtype)[0]
                values.append(np.where(here, value, dtype.type(0)))
        m.spaces.store(m, "shared", target(m), values, dtype, copied=True)

    return run if real is None else together(run)


COPIES = {"cp": _cp}
