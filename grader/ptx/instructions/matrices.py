"""Matrices that the lanes of a warp hold together: loads, stores and products of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.plan.plan import Malformed
from grader.ptx.decode import Decoder, Get, Put, Run, vector
from grader.ptx.instructions.lanes import meet
from grader.ptx.instructions.memory import space_of
from grader.ptx.lanes import WARP, unwarped, warps
from grader.ptx.program import ThreadInstruction
from grader.ptx.state import ChunkState
from grader.ptx.tensor_cores import Fragment, Product, matrix_rows, mma, transposed, wmma, wmma_access
from grader.ptx.types import DTYPES, Array


def _registers(decoder: Decoder, operand: str, fragment: Fragment) -> list[Get]:
    names = _counted(operand, fragment.words)
    return [decoder.source(name, fragment.register) for name in names]


def _counted(operand: str, count: int) -> tuple[str, ...]:
    names = vector(operand)
    if len(names) != count:
        raise Malformed(f"{len(names)} registers where a matrix has {count}")
    return names


def _held(m: ChunkState, gets: list[Get]) -> Array:
    """Registers as (warps of all blocks, lanes, registers)."""
    return np.stack([warps(get(m), m.shape) for get in gets], -1).reshape(-1, WARP, len(gets))


def _put(m: ChunkState, puts: list[Put], values: Array) -> None:
    for number, put in enumerate(puts):
        put(m, unwarped(values[..., number].reshape(m.shape[0], -1, WARP), m.shape))


def _product(decoder: Decoder, one: ThreadInstruction, product: Product) -> Run:
    if len(one.operands) != 4:
        raise Malformed(f"{one} with {len(one.operands)} operands")
    sources = [_registers(decoder, operand, fragment) for operand, fragment in zip(one.operands[1:], product[:3],
                                                                                   strict=True)]  # fmt: skip
    puts = [decoder.target(name) for name in _counted(one.operands[0], product.d.words)]

    def run(m: ChunkState) -> None:
        _put(m, puts, product.evaluate(*(_held(m, gets) for gets in sources)))
        meet(m)

    return run


def _mma(decoder: Decoder, one: ThreadInstruction) -> Run:
    return _product(decoder, one, mma(one.modifiers))


def _wmma(decoder: Decoder, one: ThreadInstruction) -> Run:
    if one.modifiers[:1] == ("mma",):
        return _product(decoder, one, wmma(one.modifiers))
    loads = one.modifiers[:1] == ("load",)
    fragment, by_columns = wmma_access(one.modifiers)
    registers, place = one.operands[:2] if loads else one.operands[1::-1]
    address, space = decoder.address(place), space_of(one)
    if len(one.operands) > 2:
        stride = decoder.source(one.operands[2], "u32")
    else:
        whole = np.full((1, 1), fragment.rows if by_columns else fragment.columns, np.uint32)

        def stride(m: ChunkState) -> Array:
            return whole

    pieces = _pieces(fragment, by_columns)
    if loads:
        puts = [decoder.target(name) for name in _counted(registers, fragment.words)]
        return _loads(fragment, pieces, lambda m: (address(m), stride(m)), puts, space)
    gets = _registers(decoder, registers, fragment)
    return _stores(fragment, pieces, lambda m: (address(m), stride(m)), gets, space)


Piece = tuple[Array, Array]


def _pieces(fragment: Fragment, by_columns: bool) -> tuple[list[Piece], np.dtype[np.generic]]:
    """What each lane accesses at once, as bytes of which some count once for a stride, and its dtype: a register where
    its elements are neighbours in memory, or else an element."""
    strides, steps = fragment.offsets(by_columns)
    each = fragment.places.shape[1] // fragment.words
    groups = strides.reshape(WARP, -1, each), steps.reshape(WARP, -1, each)
    neighbours = (groups[0] == groups[0][..., :1]).all() and (groups[1] - groups[1][..., :1] == np.arange(each)).all()
    if neighbours:
        strides, steps = groups[0][..., 0], groups[1][..., 0]
    size = fragment.bytes * (each if neighbours else 1)
    places = [(strides[:, n] * fragment.bytes, steps[:, n] * fragment.bytes) for n in range(strides.shape[1])]
    return places, np.dtype(f"u{size}")


Where = Callable[[ChunkState], tuple[Array, Array]]


def _addresses(m: ChunkState, begin: Array, stride: Array, piece: Piece) -> Array:
    lanes = np.arange(m.shape[1]) % WARP
    strides, steps = (part[lanes][None].astype(np.uint64) for part in piece)
    addresses: Array = begin + strides * stride + steps
    return addresses


def _loads(
    fragment: Fragment, pieces: tuple[list[Piece], np.dtype[np.generic]], where: Where, puts: list[Put], space: str
) -> Run:
    places, dtype = pieces

    def run(m: ChunkState) -> None:
        begin, stride = where(m)
        parts = [m.spaces.load(m, space, _addresses(m, begin, stride, piece), dtype)[0] for piece in places]
        held = np.stack([warps(part, m.shape) for part in parts], -1).reshape(-1, WARP, len(parts))
        _put(m, puts, np.ascontiguousarray(held).view(DTYPES[fragment.register]))
        meet(m)

    return run


def _stores(
    fragment: Fragment, pieces: tuple[list[Piece], np.dtype[np.generic]], where: Where, gets: list[Get], space: str
) -> Run:
    places, dtype = pieces

    def run(m: ChunkState) -> None:
        begin, stride = where(m)
        parts = np.ascontiguousarray(_held(m, gets)).view(dtype)
        for number, piece in enumerate(places):
            value = unwarped(parts[..., number].reshape(m.shape[0], -1, WARP), m.shape)
            m.spaces.store(m, space, _addresses(m, begin, stride, piece), [value], dtype)
        meet(m)

    return run


def _rows(decoder: Decoder, one: ThreadInstruction) -> Run:
    """ldmatrix and stmatrix: parts of rows, each at the address that a lane of the warp gives."""
    access = matrix_rows(one.name, one.modifiers)
    loads = one.name == "ldmatrix"
    registers, place = one.operands if loads else one.operands[::-1]
    names = _counted(registers, access.lanes.shape[1])
    address = decoder.address(place)
    dtype, each = np.dtype(f"u{access.bytes}"), access.lanes.shape[2]
    puts = [decoder.target(name) for name in names] if loads else []
    gets = [] if loads else [decoder.source(name, "b32") for name in names]

    def run(m: ChunkState) -> None:
        given = warps(address(m), m.shape)
        values: list[list[Array]] = []
        for register in range(len(names)):
            parts = []
            if gets:
                word = np.broadcast_to(gets[register](m), m.shape)
                held = np.ascontiguousarray(word)[..., None].view(dtype)
            for part in range(each):
                begin = given[..., access.lanes[:, register, part]]
                at = unwarped(begin + access.offsets[:, register, part].astype(np.uint64), m.shape)
                if loads:
                    parts.append(m.spaces.load(m, "shared", at, dtype)[0])
                else:
                    m.spaces.store(m, "shared", at, [held[..., part]], dtype)
            values.append(parts)
        # Registers may be among those of the address.
        for put, found in zip(puts, values, strict=False):
            both = [np.broadcast_to(part, m.shape) for part in found]
            put(m, np.ascontiguousarray(np.stack(both, -1)).view(np.uint32)[..., 0])
        meet(m)

    return run


def _movmatrix(decoder: Decoder, one: ThreadInstruction) -> Run:
    if one.modifiers != ("sync", "aligned", "m8n8", "trans", "b16"):
        raise Malformed(str(one))
    put, get = decoder.target(one.operands[0]), decoder.source(one.operands[1], "b32")
    return lambda m: put(m, unwarped(transposed(warps(get(m), m.shape)), m.shape))


MATRICES = {"mma": _mma, "wmma": _wmma, "ldmatrix": _rows, "stmatrix": _rows, "movmatrix": _movmatrix}
