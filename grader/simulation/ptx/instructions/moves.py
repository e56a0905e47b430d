"""Moves between registers, and between kinds of addresses."""

from __future__ import annotations

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoder, Run, vector
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.regions import LOCAL, PARAM, SHARED, WINDOWS
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.types import Unsupported

_UNSIGNED = {1: "b8", 2: "b16", 4: "b32", 8: "b64"}


def _mov(decoder: Decoder, one: ThreadInstruction) -> Run:
    kind, (target, source) = one.modifiers[-1], one.operands
    if target.startswith("{"):
        return _unpack(decoder, kind, vector(target), source)
    if source.startswith("{"):
        return _pack(decoder, kind, target, vector(source))
    get, put = decoder.source(source, kind), decoder.target(target)
    return lambda m: put(m, get(m))


def _bytes(kind: str, parts: int) -> tuple[int, int]:
    whole = {"b16": 2, "b32": 4, "b64": 8}.get(kind, 0)
    if not whole or whole % parts or whole // parts not in _UNSIGNED:
        raise Unsupported(f"a vector in mov.{kind}")
    return whole, whole // parts


def _unpack(decoder: Decoder, kind: str, targets: tuple[str, ...], source: str) -> Run:
    whole, part = _bytes(kind, len(targets))
    get = decoder.source(source, kind)
    puts = [decoder.target(target) for target in targets]
    shifts = [np.dtype(f"u{whole}").type(8 * part * number) for number in range(len(puts))]

    def run(m: ChunkState) -> None:
        value = get(m)
        for put, shift in zip(puts, shifts, strict=True):
            put(m, (value >> shift).astype(f"u{part}"))

    return run


def _pack(decoder: Decoder, kind: str, target: str, sources: tuple[str, ...]) -> Run:
    whole, part = _bytes(kind, len(sources))
    gets = [decoder.source(source, _UNSIGNED[part]) for source in sources]
    put = decoder.target(target)
    dtype = np.dtype(f"u{whole}")
    shifts = [dtype.type(8 * part * number) for number in range(len(gets))]

    def run(m: ChunkState) -> None:
        value = gets[0](m).astype(dtype)
        for get, shift in zip(gets[1:], shifts[1:], strict=True):
            value = value | (get(m).astype(dtype) << shift)
        put(m, value)

    return run


def _space(one: ThreadInstruction) -> str:
    for word in one.modifiers:
        name = word.partition("::")[0]
        if name in WINDOWS:
            return name
    raise Malformed(f"{one} without a space")


def _cvta(decoder: Decoder, one: ThreadInstruction) -> Run:
    begin = WINDOWS[_space(one)]
    narrow = one.modifiers[-1] == "u32"
    get, put = decoder.source(one.operands[1], one.modifiers[-1]), decoder.target(one.operands[0])
    if begin == 0 or narrow:
        return lambda m: put(m, get(m))
    step = np.uint64(begin if one.modifiers[0] != "to" else (1 << 64) - begin)
    return lambda m: put(m, get(m) + step)


def _isspacep(decoder: Decoder, one: ThreadInstruction) -> Run:
    get, put = decoder.source(one.operands[1], "u64"), decoder.target(one.operands[0])
    ends = {"global": (0, SHARED), "shared": (SHARED, LOCAL), "local": (LOCAL, PARAM), "param": (PARAM, 1 << 63),
            "const": (0, 0)}
    low, high = (np.uint64(end) for end in ends[_space(one)])
    return lambda m: put(m, (get(m) >= low) & (get(m) < high))


def _mapa(decoder: Decoder, one: ThreadInstruction) -> Run:
    """Build `mapa`, which maps addresses to another block of a cluster: a cluster has one block here."""
    kind = one.modifiers[-1]
    get, put = decoder.source(one.operands[1], kind), decoder.target(one.operands[0])
    return lambda m: put(m, get(m))


def _policy(decoder: Decoder, one: ThreadInstruction) -> Run:
    put = decoder.target(one.operands[0])
    none = np.zeros((1, 1), np.uint64)
    return lambda m: put(m, none)


MOVES = {"mov": _mov, "cvta": _cvta, "isspacep": _isspacep, "mapa": _mapa, "createpolicy": _policy}
