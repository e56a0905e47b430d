"""Loads and stores."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoder, Run, vector
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.races import Signal, Synced
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.types import DTYPES, Array, Unsupported

SPACES = {"global": "global", "shared": "shared", "local": "local", "param": "param", "const": "global"}
# Bytes of a line of the cache, all that "discard" takes.
LINE = 128
_SYNCED = frozenset({"volatile", "relaxed", "acquire", "release", "mmio"})
_TYPES = frozenset({*DTYPES, "b128"}) - {"pred", "cc"}


def space_of(one: ThreadInstruction) -> str:
    """Return the space that an instruction names, "" for generic addresses."""
    for word in one.modifiers:
        if (found := SPACES.get(word.partition("::")[0])) is not None:
            return found
    return ""


def _type_of(one: ThreadInstruction) -> str:
    kind = one.modifiers[-1] if one.modifiers else ""
    if kind not in _TYPES:
        raise Malformed(f"{one} without a type")
    if kind == "b128":
        raise Unsupported("values of 128 bits")
    return kind


def _synced(one: ThreadInstruction) -> Synced:
    return "volatile" if "volatile" in one.modifiers else bool(_SYNCED & set(one.modifiers))


def _ld(decoder: Decoder, one: ThreadInstruction) -> Run:
    kind, space = _type_of(one), space_of(one)
    dtype = DTYPES[kind]
    puts = [decoder.target(name) for name in vector(one.operands[0])]
    if space == "param":
        name, plus = decoder.parts(one.operands[1])
        if name in decoder.function.variables or (not decoder.function.entry and any(
            name == variable.name for variable in decoder.function.parameters)
        ):
            return _from_registers(decoder, one, name, plus)
    address = decoder.address(one.operands[1])
    synced, acquires = _synced(one), "acquire" in one.modifiers
    after: tuple[Signal, ...] = ("load", "fence") if acquires else ("load",)
    if len(puts) == 1:
        put = puts[0]

        def single(m: ChunkState) -> None:
            put(m, m.spaces.load(m, space, address(m), dtype, 1, synced)[0])
            if synced:
                signal(m, *after)
            if acquires:
                synchronise(m, acquire=True)

        return single

    def run(m: ChunkState) -> None:
        for put, value in zip(puts, m.spaces.load(m, space, address(m), dtype, len(puts), synced), strict=True):
            put(m, value)
        if synced:
            signal(m, *after)
        if acquires:
            synchronise(m, acquire=True)

    return run


def _st(decoder: Decoder, one: ThreadInstruction) -> Run:
    kind, space = _type_of(one), space_of(one)
    dtype = DTYPES[kind]
    if space == "param":
        name, plus = decoder.parts(one.operands[0])
        if name not in decoder.function.variables and all(name != each.name for each in decoder.function.returns):
            raise Unsupported(f"{one} to {name[:60]}")
        return _to_registers(decoder, one, name, plus)
    gets = [decoder.source(name, kind) for name in vector(one.operands[1])]
    address = decoder.address(one.operands[0])
    synced, releases = _synced(one), "release" in one.modifiers
    before: tuple[Signal, ...] = ("fence", "store") if releases else ("store",)

    def run(m: ChunkState) -> None:
        if synced:
            signal(m, *before)
        m.spaces.store(m, space, address(m), [get(m) for get in gets], dtype, synced)
        if synced:
            # A flag that is stored after a fence publishes earlier stores, as a relaxed atomic does.
            synchronise(m, release=True, fence=releases)

    return run


def _discard(decoder: Decoder, one: ThreadInstruction) -> Run:
    """Build a loss of what a line of the cache holds: any bits may stand there, and ones do here."""
    address = decoder.address(one.operands[0])
    words = [np.full((1, 1), ~np.uint64(0))] * (LINE // 8)
    return lambda m: m.spaces.store(m, space_of(one), address(m), words, np.dtype(np.uint64))


def together(run: Run) -> Run:
    """Return a run whose accesses count as those of one instruction."""

    def counted(m: ChunkState) -> None:
        with nullcontext() if m.observer is None else m.observer.together():
            run(m)

    return counted


def signal(m: ChunkState, *steps: Signal, mask: Array | None = None) -> None:
    """Record for the race detector steps of the running threads, or of those of `mask`, in this order."""
    if m.spaces.races.checked:
        threads = m.out(np.broadcast_to(m.active if mask is None else mask, m.shape))
        # Accesses before them in the same step are earlier, but for a load, which orders nothing before it.
        m.clock += steps[0] != "load"
        for step in steps:
            m.spaces.races.signalled(threads, m.clock, step)


def synchronise(m: ChunkState, *, release: bool = False, acquire: bool = False, fence: bool = False) -> None:
    """Record for the race detector an atomic of the running blocks, or a fence."""
    if not m.spaces.races.atomics:
        return
    numbers = m.numbers_here()
    if m.mask is not None and m.mask.shape[0] > 1:
        numbers = numbers[m.mask.any(1)]
    # Accesses before it in the same step are earlier.
    m.clock += 1
    m.spaces.races.synchronised(numbers, m.clock, release, acquire, fence)


def _from_registers(decoder: Decoder, one: ThreadInstruction, name: str, plus: int) -> Run:
    """Build a load of an argument or a result of a call, which registers hold."""
    kind = one.modifiers[-1]
    moves = []
    for number, register in enumerate(vector(one.operands[0])):
        slot = f"[{name}+{plus + number * DTYPES[kind].itemsize}]"
        decoder.slot(slot, kind)
        moves.append((decoder.source(slot, kind), decoder.target(register)))

    def run(m: ChunkState) -> None:
        for get, put in moves:
            put(m, get(m))

    return run


def _to_registers(decoder: Decoder, one: ThreadInstruction, name: str, plus: int) -> Run:
    kind = one.modifiers[-1]
    moves = []
    for number, register in enumerate(vector(one.operands[1])):
        slot = f"[{name}+{plus + number * DTYPES[kind].itemsize}]"
        moves.append((decoder.source(register, kind), decoder.into(decoder.slot(slot, kind))))

    def run(m: ChunkState) -> None:
        for get, put in moves:
            put(m, get(m))

    return run


def _nothing(decoder: Decoder, one: ThreadInstruction) -> Run:
    return lambda m: None


MEMORY = {"ld": _ld, "ldu": _ld, "st": _st, "prefetch": _nothing, "prefetchu": _nothing,
          "discard": _discard, "applypriority": _nothing}
