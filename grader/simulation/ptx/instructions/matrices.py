"""Matrices that the lanes of a warp hold together: loads, stores and products; and products of a warpgroup, four warps,
with matrices in shared memory: `wgmma` of the PTX ISA (9.0, 9.7.15).

Products are computed at once, 16 rows by each warp. The sums of `wgmma` count as under way until `wgmma.wait_group`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx import engines
from grader.simulation.ptx.decode import Decoder, Get, Put, Run, vector
from grader.simulation.ptx.instructions.memory import space_of, together
from grader.simulation.ptx.lanes import DTYPES, WARP, Array, Unsupported, spread, unwarped, warps
from grader.simulation.ptx.memory import ROW
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.tensor_cores import (
    Fragment,
    Product,
    matrix_rows,
    mma,
    numbers,
    transposed,
    warpgroup_fragments,
    wmma,
    wmma_access,
)
from grader.simulation.ptx.tensor_maps import K_BYTES, addresses

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Machine


MOST_KEPT = 16
"""The most matrices that a chunk caches: an unrolled loop multiplies each by several others."""


def _held(m: Machine, registers: list[Array]) -> Array:
    """Return registers as (warps, lanes, registers); in memory the lanes lie side by side."""
    parts = [warps(register, m.shape) for register in registers]
    held = np.empty((len(parts), parts[0].size // WARP, WARP), parts[0].dtype)
    for number, part in enumerate(parts):
        held[number] = part.reshape(-1, WARP)
    return held.transpose(1, 2, 0)


def _matrix(m: Machine, fragment: Fragment, gets: list[Get]) -> Array:
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


def _put(m: Machine, puts: list[Put], registers: Array) -> None:
    for number, put in enumerate(puts):
        put(m, unwarped(registers[..., number].reshape(m.shape[0], -1, WARP), m.shape))


def _lanes(m: Machine, of_lanes: Array) -> Array:
    """Spread values of each of 32 lanes over all threads: (1, threads)."""
    return of_lanes[np.arange(m.shape[1]) % WARP][None, :]


def _product(decoder: Decoder, instruction: ThreadInstruction, product: Product) -> Run:
    fragments = product.d, product.a, product.b, product.c
    names = [vector(operand) for operand in instruction.operands]
    if len(names) != 4 or any(len(part) != fragment.words for part, fragment in zip(names, fragments, strict=True)):
        raise Malformed(f"{instruction} with other registers")
    puts = [decoder.target(name) for name in names[0]]
    a, b, c = ([decoder.source(name, fragment.register) for name in part]
               for part, fragment in zip(names[1:], fragments[1:], strict=True))

    def run(m: Machine) -> None:
        left, right = _matrix(m, product.a, a), _matrix(m, product.b, b)
        _put(m, puts, product.added(left, right, _held(m, [get(m) for get in c])))

    return run


def _mma(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    return _product(decoder, instruction, mma(instruction.modifiers))


def _wmma(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    if instruction.modifiers[:1] == ("mma",):
        return _product(decoder, instruction, wmma(instruction.modifiers))
    fragment, column_major = wmma_access(instruction.modifiers)
    loads = instruction.modifiers[0] == "load"
    names, place = instruction.operands[:2] if loads else reversed(instruction.operands[:2])
    stride = None if len(instruction.operands) < 3 else decoder.source(instruction.operands[2], "u32")
    address, space = decoder.address(place), space_of(instruction)
    strides, elements = fragment.offsets(column_major)
    size = fragment.bytes
    dtype = np.dtype(f"u{size}")
    length = fragment.rows if column_major else fragment.columns

    def places(m: Machine, number: int) -> Array:
        rows = np.full((1, 1), length, np.uint64) if stride is None else stride(m).astype(np.uint64)
        step = _lanes(m, strides[:, number]).astype(np.uint64) * rows
        return address(m) + (step + _lanes(m, elements[:, number]).astype(np.uint64)) * np.uint64(size)

    count = strides.shape[1]
    if len(vector(names)) != fragment.words:
        raise Malformed(f"{instruction} with other registers")
    if loads:
        puts = [decoder.target(name) for name in vector(names)]

        def load(m: Machine) -> None:
            values = [m.spaces.load(m, space, places(m, number), dtype)[0] for number in range(count)]
            held = np.stack([warps(value, m.shape).reshape(-1, WARP) for value in values], axis=-1)
            _put(m, puts, fragment.pack(held))

        return together(load)
    gets = [decoder.source(name, fragment.register) for name in vector(names)]

    def store(m: Machine) -> None:
        held = fragment.unpack(_held(m, [get(m) for get in gets]))
        for number in range(count):
            value = unwarped(held[..., number].reshape(m.shape[0], -1, WARP), m.shape)
            m.spaces.store(m, space, places(m, number), [value], dtype)

    return together(store)


def _rows(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    """Build `ldmatrix` and `stmatrix`."""
    access = matrix_rows(instruction.name, instruction.modifiers)
    loads = instruction.name == "ldmatrix"
    names, place = instruction.operands if loads else reversed(instruction.operands)
    registers, parts = access.lanes.shape[1:]
    if len(vector(names)) != registers:
        raise Malformed(f"{instruction} with other registers")
    address, space, dtype = decoder.address(place), space_of(instruction), np.dtype(f"u{access.bytes}")

    def places(m: Machine, register: int, part: int) -> Array:
        given = warps(address(m), m.shape)
        return unwarped(
            given[..., access.lanes[:, register, part]] + access.offsets[:, register, part].astype(np.uint64), m.shape)

    if loads:
        puts = [decoder.target(name) for name in vector(names)]

        def load(m: Machine) -> None:
            words = _at_once(m, address, registers, access.transposed) if space == "shared" else []
            for register in range(len(words), registers):
                values = [spread(m.spaces.load(m, space, places(m, register, part), dtype)[0], m.shape)
                         for part in range(parts)]
                words.append(np.stack(values, axis=-1).view(np.uint32)[..., 0])
            # Registers are written last, as one of them may hold the address.
            for put, word in zip(puts, words, strict=True):
                put(m, word)

        return _by_rows(load, address, registers, instruction)
    gets = [decoder.source(name, "b32") for name in vector(names)]

    def store(m: Machine) -> None:
        for register, get in enumerate(gets):
            value = np.ascontiguousarray(np.broadcast_to(get(m), m.shape))[..., None].view(dtype)
            for part in range(parts):
                m.spaces.store(m, space, places(m, register, part), [value[..., part]], dtype)

    return _by_rows(store, address, registers, instruction)


def _by_rows(run: Run, address: Get, registers: int, instruction: ThreadInstruction) -> Run:
    """Return a run of `ldmatrix` or `stmatrix` that counts as an access to rows of 16 bytes, and not lane by lane."""

    def counted(m: Machine) -> None:
        meter, m.warps = m.warps, None
        if meter is not None:
            rows = warps(address(m), m.shape)[..., : 8 * registers].astype(np.int64).reshape(-1, 8 * registers)
            meter.rows("shared", "load" if instruction.name == "ldmatrix" else "store", m.line(), "", rows, ROW)
        try:
            run(m)
        finally:
            m.warps = meter

    return counted


def _at_once(m: Machine, address: Get, registers: int, trans: bool) -> list[Array]:
    """Return the words that `ldmatrix` loads, read as whole rows; none if they have to be read one by one."""
    if m.mask is not None or m.shape[1] % WARP:
        return []
    rows = m.spaces.shared_rows(warps(address(m), m.shape)[..., : 8 * registers])
    if rows is None:
        return []
    # The words of eight rows belong to the lanes in their order.
    words = (transposed(rows) if trans else rows).reshape(m.shape[0], -1, registers, WARP)
    return [words[:, :, register].reshape(m.shape[0], -1) for register in range(registers)]


def _movmatrix(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    if instruction.modifiers != ("sync", "aligned", "m8n8", "trans", "b16"):
        raise Unsupported(str(instruction))
    put, get = decoder.target(instruction.operands[0]), decoder.source(instruction.operands[1], "b32")

    def run(m: Machine) -> None:
        words = transposed(warps(get(m), m.shape).reshape(-1, WARP))
        put(m, unwarped(words.reshape(m.shape[0], -1, WARP).astype(DTYPES["b32"], copy=False), m.shape))

    return run


MATRICES = {"mma": _mma, "wmma": _wmma, "ldmatrix": _rows, "stmatrix": _rows, "movmatrix": _movmatrix}


_WARPS, _ROWS = 4, 16
_SHAPE = re.compile(r"m64n(\d{1,3})k(\d{1,3})")


class _Warps(NamedTuple):
    """Warps that take part: `blocks` and `places` are their indices in the part of the chunk that runs, `numbers` their
    numbers in their blocks. `who` is the first thread of each."""

    blocks: Array
    places: Array
    numbers: Array

    @property
    def who(self) -> engines.ThreadIndices:
        return engines.ThreadIndices(self.blocks, self.places * WARP)

    def of(self, value: Array, m: Machine) -> Array:
        """Return a register's value in each warp's first thread."""
        return np.broadcast_to(value, m.shape)[self.blocks, self.places * WARP]


def _warps(m: Machine) -> _Warps:
    here = warps(m.active, m.shape).any(2)
    blocks, places = np.nonzero(here)
    columns = m.frame.columns
    return _Warps(blocks, places, (places * WARP if columns is None else columns[places * WARP]) // WARP)


def _wgmma(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    what = instruction.modifiers[0] if instruction.modifiers else ""
    if instruction.modifiers[1:3] != ("sync", "aligned"):
        raise Unsupported(str(instruction))
    if what == "mma_async":
        return _wgmma_product(decoder, instruction)
    if what == "fence":
        return lambda m: None
    if what == "commit_group":
        return lambda m: m.sums.commit(m)
    if what == "wait_group":
        left = int(instruction.operands[0], 0)
        return lambda m: m.sums.wait(m, left)
    raise Unsupported(str(instruction))


class _Operand(NamedTuple):
    """Matrix of elements of a `kind`, in shared memory at a `descriptor`, or in the registers `held`. `across` is as in
    `addresses`; `sign` multiplies the elements."""

    kind: str
    fragment: Fragment
    descriptor: Get | None
    held: list[Get]
    across: bool
    sign: int

    def matrix(self, m: Machine, of: _Warps, lines: int) -> Array:
        """Return the matrix of each warp: (warps, rows of A or columns of B, elements along K)."""
        if self.descriptor is None:
            held = np.stack([warps(get(m), m.shape)[of.blocks, of.places] for get in self.held], axis=-1)
            return self.fragment.matrix(held) * self.sign
        # The warps of a warpgroup have one descriptor, and so does each part of A.
        keys = np.stack([of.blocks.astype(np.uint64), of.of(self.descriptor(m), m)])
        _, first, every = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        size = self.fragment.bytes
        at = addresses(keys[1, first], lines, size, self.across)
        who = engines.ThreadIndices(*(part[first] for part in of.who))
        place = engines.shared_place(m, who, at, size, "load")
        m.spaces.races.read_by_engine(m, who, place, size)
        matrices = numbers(self.kind, engines.load(m, who, place, size)) * self.sign
        return matrices[every.ravel()]


def _wgmma_product(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    """Build `wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {…}, a, b, scale-d, scale-a, scale-b, across-a,
    across-b;`, where only types of 16 bits in shared memory have `across`, and integers have no scales."""
    kinds, clamps = instruction.modifiers[-3:], "satfinite" in instruction.modifiers
    shape = _SHAPE.fullmatch(instruction.modifiers[3]) if len(instruction.modifiers) == 7 + clamps else None
    if shape is None:
        raise Unsupported(str(instruction))
    columns = int(shape[1])
    a, d, item = warpgroup_fragments(kinds, columns)
    names, left = vector(instruction.operands[0]), vector(instruction.operands[1])
    held = instruction.operands[1].startswith("{")
    scales, across = [1, 1], [0, 0]
    for number, word in enumerate(instruction.operands[4:]):
        (scales if number < 2 else across)[(number + (held and number > 1)) % 2] = int(word, 0)
    if int(shape[2]) * item != K_BYTES or len(names) != d.words or (held and len(left) != a.words):
        raise Malformed(f"{instruction} with other registers")
    if not set(scales) <= {1, -1} or (item != 2 and any(across)):
        raise Malformed(f"{instruction} with other operands")
    A = _Operand(kinds[1], a, None if held else decoder.source(left[0], "b64"),
                 [decoder.source(name, a.register) for name in left] if held else [], bool(across[0]), scales[0])
    B = _Operand(kinds[2], a, decoder.source(instruction.operands[2], "b64"), [], bool(across[1]), scales[1])
    adds = decoder.source(instruction.operands[3], "pred")
    gets, puts = [decoder.source(name, d.register) for name in names], [decoder.target(name) for name in names]
    slots, zero = [decoder.slots[name] for name in names], np.zeros((1, 1), DTYPES[d.register])

    def run(m: Machine) -> None:
        of = _warps(m)
        if m.observer is not None and m.observer.counts:
            # A run that only counts gets zeros, as products would take most of its time.
            m.budget.charge(of.blocks.size * _ROWS * columns)
            for put in puts:
                put(m, zero)
            return
        kept = of.of(adds(m), m)
        # Registers of sums that no warp adds to are not read: nothing may have set them.
        sums = [get(m) for get in gets] if kept.any() else [zero] * len(gets)
        before = d.matrix(np.stack([warps(value, m.shape)[of.blocks, of.places] for value in sums], axis=-1))
        before = np.where(kept[:, None, None], before, before.dtype.type(0))
        rows = A.matrix(m, of, _ROWS * (1 if held else _WARPS))
        if not held:
            rows = rows.reshape(len(rows), _WARPS, _ROWS, -1)[np.arange(len(rows)), of.numbers % _WARPS]
        m.budget.charge(before.size)
        total = np.matmul(rows, B.matrix(m, of, columns).swapaxes(1, 2))
        if before.dtype.kind == "i":
            # Products of bytes are exact in float32's sums.
            total = total.astype(np.int64)
        total = before + total
        registers = d.registers(np.clip(total, -(2**31), 2**31 - 1) if clamps else total)
        every = np.zeros((d.words, m.shape[0], -(-m.shape[1] // WARP), WARP), registers.dtype)
        every[:, of.blocks, of.places] = np.moveaxis(registers, -1, 0)
        for put, value in zip(puts, every, strict=True):
            put(m, unwarped(value, m.shape))
        m.sums.start(m, slots)

    return run


WARPGROUPS = {"wgmma": _wgmma}
