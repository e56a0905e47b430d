"""Products of a warpgroup, four warps, with matrices in shared memory: `wgmma` of the PTX ISA (9.0, 9.7.15).

Products are computed at once, 16 rows by each warp. Their sums count as under way until `wgmma.wait_group`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx import tiles
from grader.simulation.ptx.decode import Decoder, Get, Run, vector
from grader.simulation.ptx.lanes import WARP, unwarped, warps
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.shared_matrices import K_BYTES, addresses
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.tensor_cores import Fragment, numbers, warpgroup_fragments
from grader.simulation.ptx.types import DTYPES, Array, Unsupported

_WARPS, _ROWS = 4, 16
_SHAPE = re.compile(r"m64n(\d{1,3})k(\d{1,3})")


class _Warps(NamedTuple):
    """Warps that take part: `blocks` and `places` are their indices in the part of the chunk that runs, `numbers` their
    numbers in their blocks. `who` is the first thread of each."""

    blocks: Array
    places: Array
    numbers: Array

    @property
    def who(self) -> tiles.Who:
        return tiles.Who(self.blocks, self.places * WARP)

    def of(self, value: Array, m: ChunkState) -> Array:
        """Return a register's value in each warp's first thread."""
        return np.broadcast_to(value, m.shape)[self.blocks, self.places * WARP]


def _warps(m: ChunkState) -> _Warps:
    here = warps(m.active, m.shape).any(2)
    blocks, places = np.nonzero(here)
    columns = m.frame.columns
    return _Warps(blocks, places, (places * WARP if columns is None else columns[places * WARP]) // WARP)


def _wgmma(decoder: Decoder, one: ThreadInstruction) -> Run:
    what = one.modifiers[0] if one.modifiers else ""
    if one.modifiers[1:3] != ("sync", "aligned"):
        raise Unsupported(str(one))
    if what == "mma_async":
        return _product(decoder, one)
    if what == "fence":
        return lambda m: None
    if what == "commit_group":
        return lambda m: m.sums.commit(m)
    if what == "wait_group":
        left = int(one.operands[0], 0)
        return lambda m: m.sums.wait(m, left)
    raise Unsupported(str(one))


class _Operand(NamedTuple):
    """Matrix of elements of a `kind`, in shared memory at a `descriptor`, or in the registers `held`. `across` is as in
    `addresses`; `sign` multiplies the elements."""

    kind: str
    fragment: Fragment
    descriptor: Get | None
    held: list[Get]
    across: bool
    sign: int

    def matrix(self, m: ChunkState, of: _Warps, lines: int) -> Array:
        """Return the matrix of each warp: (warps, rows of A or columns of B, elements along K)."""
        if self.descriptor is None:
            held = np.stack([warps(get(m), m.shape)[of.blocks, of.places] for get in self.held], axis=-1)
            return self.fragment.matrix(held) * self.sign
        # The warps of a warpgroup have one descriptor, and so does each part of A.
        keys = np.stack([of.blocks.astype(np.uint64), of.of(self.descriptor(m), m)])
        _, first, every = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        size = self.fragment.bytes
        at = addresses(keys[1, first], lines, size, self.across)
        who = tiles.Who(*(part[first] for part in of.who))
        place = tiles.shared_place(m, who, at, size, "load")
        if m.spaces.races.checked:
            m.spaces.races.read_by_warp(m, who, place, size)
        found = numbers(self.kind, tiles.taken(m, who, place, size)) * self.sign
        return found[every.ravel()]


def _product(decoder: Decoder, one: ThreadInstruction) -> Run:
    """Build `wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {…}, a, b, scale-d, scale-a, scale-b, across-a,
    across-b;`, where only types of 16 bits in shared memory have `across`, and integers have no scales."""
    kinds, clamps = one.modifiers[-3:], "satfinite" in one.modifiers
    shape = _SHAPE.fullmatch(one.modifiers[3]) if len(one.modifiers) == 7 + clamps else None
    if shape is None:
        raise Unsupported(str(one))
    columns = int(shape[1])
    a, d, item = warpgroup_fragments(kinds, columns)
    names, left = vector(one.operands[0]), vector(one.operands[1])
    held = one.operands[1].startswith("{")
    scales, across = [1, 1], [0, 0]
    for number, word in enumerate(one.operands[4:]):
        (scales if number < 2 else across)[(number + (held and number > 1)) % 2] = int(word, 0)
    if int(shape[2]) * item != K_BYTES or len(names) != d.words or (held and len(left) != a.words):
        raise Malformed(f"{one} with other registers")
    if not set(scales) <= {1, -1} or (item != 2 and any(across)):
        raise Malformed(f"{one} with other operands")
    A = _Operand(kinds[1], a, None if held else decoder.source(left[0], "b64"),
                 [decoder.source(name, a.register) for name in left] if held else [], bool(across[0]), scales[0])
    B = _Operand(kinds[2], a, decoder.source(one.operands[2], "b64"), [], bool(across[1]), scales[1])
    adds = decoder.source(one.operands[3], "pred")
    gets, puts = [decoder.source(name, d.register) for name in names], [decoder.target(name) for name in names]
    slots, zero = [decoder.slots[name] for name in names], np.zeros((1, 1), DTYPES[d.register])

    def run(m: ChunkState) -> None:
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
        found = d.registers(np.clip(total, -(2**31), 2**31 - 1) if clamps else total)
        every = np.zeros((d.words, m.shape[0], -(-m.shape[1] // WARP), WARP), found.dtype)
        every[:, of.blocks, of.places] = np.moveaxis(found, -1, 0)
        for put, value in zip(puts, every, strict=True):
            put(m, unwarped(value, m.shape))
        m.sums.start(m, slots)

    return run


WARPGROUPS = {"wgmma": _wgmma}
