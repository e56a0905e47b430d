"""Instructions whose results depend on their operands alone, and moves between registers and kinds of addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.findings import MemoryNames
from grader.simulation.ptx.decode import Decoder, Get, Put, Run, vector
from grader.simulation.ptx.lanes import Array, Unsupported
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.regions import LOCAL, PARAM, SHARED, WINDOWS
from grader.simulation.ptx.values.floats import Erring, documented
from grader.simulation.ptx.values.rules import Maker

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Machine


CARRY = "the carry"
"""The register of the carry flag; the space keeps it apart from names of PTX."""


def pure_builder(maker: Maker) -> Callable[[Decoder, ThreadInstruction], Run]:
    """Return a builder for a pure instruction, from the maker of its rules."""

    def build(decoder: Decoder, instruction: ThreadInstruction) -> Run:
        rule = maker(instruction.modifiers)
        names = [part.strip() for part in instruction.operands[0].split("|")] if instruction.operands else []
        given = list(instruction.operands[1:])
        sources: list[Get] = []
        for kind in rule.sources:
            if kind == "cc":
                decoder.slot(CARRY, "pred")
                sources.append(decoder.source(CARRY, "pred"))
            elif given:
                sources.append(decoder.source(given.pop(0), kind))
            else:
                raise Malformed(f"{instruction} with too few operands")
        if given:
            raise Malformed(f"{instruction} with too many operands")
        targets: list[Put] = []
        for kind in rule.results:
            if kind == "cc":
                targets.append(decoder.into(decoder.slot(CARRY, "pred")))
            elif names:
                targets.append(decoder.target(names.pop(0)))
        if names:
            raise Malformed(f"{instruction} with too many results")
        if (erring := documented(instruction.name, instruction.modifiers)) is not None:
            name = MemoryNames(f"{instruction.name}.{'.'.join(instruction.modifiers)}")
            targets = [_approximated(target, erring, name) for target in targets]
        return _run(rule.function, sources, targets)

    return build


def _approximated(put: Put, erring: Erring, named: MemoryNames) -> Put:
    """Return a writer of results: exact ones, or results with the documented error on a device that has `errors`."""

    def write(m: Machine, value: Array) -> None:
        if "errors" in m.spaces.deviations and (not m.spaces.erring or m.line() in m.spaces.erring):
            m.findings.undefined(m.site(), "approximate", named, certain=False)
            value = erring(value, m.clock)
        put(m, value)

    return write


def _run(function: Callable[..., Any], sources: list[Get], targets: list[Put]) -> Run:
    if len(targets) == 1:
        into = targets[0]
        if len(sources) == 1:
            (first,) = sources

            def one(m: Machine) -> None:
                into(m, _single(function(first(m))))

            return one
        if len(sources) == 2:
            first, second = sources

            def two(m: Machine) -> None:
                into(m, _single(function(first(m), second(m))))

            return two
        if len(sources) == 3:
            first, second, third = sources

            def three(m: Machine) -> None:
                into(m, _single(function(first(m), second(m), third(m))))

            return three

    def run(m: Machine) -> None:
        results = function(*[get(m) for get in sources])
        for target, value in zip(targets, results if type(results) is tuple else (results,), strict=False):
            target(m, value)

    return run


def _single(result: Any) -> Array:
    value: Array = result[0] if type(result) is tuple else result
    return value


_UNSIGNED = {1: "b8", 2: "b16", 4: "b32", 8: "b64"}


def _mov(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    kind, (target, source) = instruction.modifiers[-1], instruction.operands
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

    def run(m: Machine) -> None:
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

    def run(m: Machine) -> None:
        value = gets[0](m).astype(dtype)
        for get, shift in zip(gets[1:], shifts[1:], strict=True):
            value = value | (get(m).astype(dtype) << shift)
        put(m, value)

    return run


def _space(instruction: ThreadInstruction) -> str:
    for word in instruction.modifiers:
        name = word.partition("::")[0]
        if name in WINDOWS:
            return name
    raise Malformed(f"{instruction} without a space")


def _cvta(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    begin = WINDOWS[_space(instruction)]
    narrow = instruction.modifiers[-1] == "u32"
    get = decoder.source(instruction.operands[1], instruction.modifiers[-1])
    put = decoder.target(instruction.operands[0])
    if begin == 0 or narrow:
        return lambda m: put(m, get(m))
    step = np.uint64(begin if instruction.modifiers[0] != "to" else (1 << 64) - begin)
    return lambda m: put(m, get(m) + step)


def _isspacep(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    get, put = decoder.source(instruction.operands[1], "u64"), decoder.target(instruction.operands[0])
    ends = {"global": (0, SHARED), "shared": (SHARED, LOCAL), "local": (LOCAL, PARAM), "param": (PARAM, 1 << 63),
            "const": (0, 0)}
    low, high = (np.uint64(end) for end in ends[_space(instruction)])
    return lambda m: put(m, (get(m) >= low) & (get(m) < high))


def _mapa(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    """Build `mapa`, which maps addresses to another block of a cluster: a cluster has one block here."""
    kind = instruction.modifiers[-1]
    get, put = decoder.source(instruction.operands[1], kind), decoder.target(instruction.operands[0])
    return lambda m: put(m, get(m))


def _policy(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    put = decoder.target(instruction.operands[0])
    none = np.zeros((1, 1), np.uint64)
    return lambda m: put(m, none)


MOVES = {"mov": _mov, "cvta": _cvta, "isspacep": _isspacep, "mapa": _mapa, "createpolicy": _policy}
