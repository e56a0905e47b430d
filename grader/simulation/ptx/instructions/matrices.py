"""Matrices that the lanes of a warp hold together: loads, stores and products."""

from __future__ import annotations

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoder, Get, Put, Run, vector
from grader.simulation.ptx.instructions.memory import space_of, together
from grader.simulation.ptx.lanes import WARP, spread, unwarped, warps
from grader.simulation.ptx.memory import ROW
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.tensor_cores import Fragment, Product, matrix_rows, mma, transposed, wmma, wmma_access
from grader.simulation.ptx.types import DTYPES, Array, Unsupported

MOST_KEPT = 16
"""The most matrices that a chunk caches: an unrolled loop multiplies each by several others."""


def _held(m: ChunkState, registers: list[Array]) -> Array:
    """Return registers as (warps, lanes, registers); in memory the lanes lie side by side."""
    parts = [warps(one, m.shape) for one in registers]
    held = np.empty((len(parts), parts[0].size // WARP, WARP), parts[0].dtype)
    for number, part in enumerate(parts):
        held[number] = part.reshape(-1, WARP)
    return held.transpose(1, 2, 0)


def _matrix(m: ChunkState, fragment: Fragment, gets: list[Get]) -> Array:
    """Return the matrices that registers hold, from the cache if they are there. An array identifies a register's
    value, as it is never changed: a new value is a new array."""
    registers = [get(m) for get in gets]
    key = (id(fragment), m.shape, *map(id, registers))
    known = m.matrices.get(key)
    if known is None:
        if len(m.matrices) == MOST_KEPT:
            del m.matrices[next(iter(m.matrices))]
        # The cache also holds the registers, as an `id` may be reused once its array is gone.
        known = m.matrices[key] = registers, fragment.matrix(_held(m, registers))
    return known[1]


def _put(m: ChunkState, puts: list[Put], registers: Array) -> None:
    for number, put in enumerate(puts):
        put(m, unwarped(registers[..., number].reshape(m.shape[0], -1, WARP), m.shape))


def _lanes(m: ChunkState, of_lanes: Array) -> Array:
    """Spread values of each of 32 lanes over all threads: (1, threads)."""
    return of_lanes[np.arange(m.shape[1]) % WARP][None, :]


def _product(decoder: Decoder, one: ThreadInstruction, product: Product) -> Run:
    fragments = product.d, product.a, product.b, product.c
    names = [vector(operand) for operand in one.operands]
    if len(names) != 4 or any(len(part) != fragment.words for part, fragment in zip(names, fragments, strict=True)):
        raise Malformed(f"{one} with other registers")
    puts = [decoder.target(name) for name in names[0]]
    a, b, c = ([decoder.source(name, fragment.register) for name in part]
               for part, fragment in zip(names[1:], fragments[1:], strict=True))

    def run(m: ChunkState) -> None:
        left, right = _matrix(m, product.a, a), _matrix(m, product.b, b)
        _put(m, puts, product.added(left, right, _held(m, [get(m) for get in c])))

    return run


def _mma(decoder: Decoder, one: ThreadInstruction) -> Run:
    return _product(decoder, one, mma(one.modifiers))


def _wmma(decoder: Decoder, one: ThreadInstruction) -> Run:
    if one.modifiers[:1] == ("mma",):
        return _product(decoder, one, wmma(one.modifiers))
    fragment, column_major = wmma_access(one.modifiers)
    loads = one.modifiers[0] == "load"
    names, place = one.operands[:2] if loads else reversed(one.operands[:2])
    stride = None if len(one.operands) < 3 else decoder.source(one.operands[2], "u32")
    address, space = decoder.address(place), space_of(one)
    strides, elements = fragment.offsets(column_major)
    size = fragment.bytes
    dtype = np.dtype(f"u{size}")
    length = fragment.rows if column_major else fragment.columns

    def places(m: ChunkState, number: int) -> Array:
        rows = np.full((1, 1), length, np.uint64) if stride is None else stride(m).astype(np.uint64)
        step = _lanes(m, strides[:, number]).astype(np.uint64) * rows
        return address(m) + (step + _lanes(m, elements[:, number]).astype(np.uint64)) * np.uint64(size)

    count = strides.shape[1]
    if len(vector(names)) != fragment.words:
        raise Malformed(f"{one} with other registers")
    if loads:
        puts = [decoder.target(name) for name in vector(names)]

        def load(m: ChunkState) -> None:
            found = [m.spaces.load(m, space, places(m, number), dtype)[0] for number in range(count)]
            held = np.stack([warps(value, m.shape).reshape(-1, WARP) for value in found], axis=-1)
            _put(m, puts, fragment.pack(held))

        return together(load)
    gets = [decoder.source(name, fragment.register) for name in vector(names)]

    def store(m: ChunkState) -> None:
        held = fragment.unpack(_held(m, [get(m) for get in gets]))
        for number in range(count):
            value = unwarped(held[..., number].reshape(m.shape[0], -1, WARP), m.shape)
            m.spaces.store(m, space, places(m, number), [value], dtype)

    return together(store)


def _rows(decoder: Decoder, one: ThreadInstruction) -> Run:
    """Build `ldmatrix` and `stmatrix`."""
    access = matrix_rows(one.name, one.modifiers)
    loads = one.name == "ldmatrix"
    names, place = one.operands if loads else reversed(one.operands)
    registers, parts = access.lanes.shape[1:]
    if len(vector(names)) != registers:
        raise Malformed(f"{one} with other registers")
    address, space, dtype = decoder.address(place), space_of(one), np.dtype(f"u{access.bytes}")

    def places(m: ChunkState, register: int, part: int) -> Array:
        given = warps(address(m), m.shape)
        return unwarped(
            given[..., access.lanes[:, register, part]] + access.offsets[:, register, part].astype(np.uint64), m.shape)

    if loads:
        puts = [decoder.target(name) for name in vector(names)]

        def load(m: ChunkState) -> None:
            words = _at_once(m, address, registers, access.transposed) if space == "shared" else []
            for register in range(len(words), registers):
                found = [spread(m.spaces.load(m, space, places(m, register, part), dtype)[0], m.shape)
                         for part in range(parts)]
                words.append(np.stack(found, axis=-1).view(np.uint32)[..., 0])
            # Registers are written last, as one of them may hold the address.
            for put, word in zip(puts, words, strict=True):
                put(m, word)

        return _by_rows(load, address, registers, one)
    gets = [decoder.source(name, "b32") for name in vector(names)]

    def store(m: ChunkState) -> None:
        for register, get in enumerate(gets):
            value = np.ascontiguousarray(np.broadcast_to(get(m), m.shape))[..., None].view(dtype)
            for part in range(parts):
                m.spaces.store(m, space, places(m, register, part), [value[..., part]], dtype)

    return _by_rows(store, address, registers, one)


def _by_rows(run: Run, address: Get, registers: int, one: ThreadInstruction) -> Run:
    """Return a run of `ldmatrix` or `stmatrix` that counts as an access to rows of 16 bytes, and not lane by lane."""

    def counted(m: ChunkState) -> None:
        meter, m.warps = m.warps, None
        if meter is not None:
            rows = warps(address(m), m.shape)[..., : 8 * registers].astype(np.int64).reshape(-1, 8 * registers)
            meter.rows("shared", "load" if one.name == "ldmatrix" else "store", m.line(), "", rows, ROW)
        try:
            run(m)
        finally:
            m.warps = meter

    return counted


def _at_once(m: ChunkState, address: Get, registers: int, trans: bool) -> list[Array]:
    """Return the words that `ldmatrix` loads, read as whole rows; none if they have to be read one by one."""
    if m.mask is not None or m.shape[1] % WARP:
        return []
    rows = m.spaces.shared_rows(warps(address(m), m.shape)[..., : 8 * registers])
    if rows is None:
        return []
    # The words of eight rows belong to the lanes in their order.
    words = (transposed(rows) if trans else rows).reshape(m.shape[0], -1, registers, WARP)
    return [words[:, :, register].reshape(m.shape[0], -1) for register in range(registers)]


def _movmatrix(decoder: Decoder, one: ThreadInstruction) -> Run:
    if one.modifiers != ("sync", "aligned", "m8n8", "trans", "b16"):
        raise Unsupported(str(one))
    put, get = decoder.target(one.operands[0]), decoder.source(one.operands[1], "b32")

    def run(m: ChunkState) -> None:
        words = transposed(warps(get(m), m.shape).reshape(-1, WARP))
        put(m, unwarped(words.reshape(m.shape[0], -1, WARP).astype(DTYPES["b32"], copy=False), m.shape))

    return run


MATRICES = {"mma": _mma, "wmma": _wmma, "ldmatrix": _rows, "stmatrix": _rows, "movmatrix": _movmatrix}
