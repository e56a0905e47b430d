"""Instructions whose results depend on their operands alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grader.plan.plan import Malformed
from grader.simulation.findings import Named
from grader.simulation.ptx.decode import Decoder, Get, Put, Run
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.types import Array
from grader.simulation.ptx.values import Pure
from grader.simulation.ptx.values.errors import Erring, documented

CARRY = "the carry"
"""The register of the carry flag; the space keeps it apart from names of PTX."""


def pure_builder(pure: Pure) -> Callable[[Decoder, ThreadInstruction], Run]:
    """Return a builder for a pure instruction."""

    def build(decoder: Decoder, one: ThreadInstruction) -> Run:
        rule = pure.find(one.modifiers)
        names = [part.strip() for part in one.operands[0].split("|")] if one.operands else []
        given = list(one.operands[1:])
        sources: list[Get] = []
        for kind in rule.sources:
            if kind == "cc":
                decoder.slot(CARRY, "pred")
                sources.append(decoder.source(CARRY, "pred"))
            elif given:
                sources.append(decoder.source(given.pop(0), kind))
            else:
                raise Malformed(f"{one} with too few operands")
        if given:
            raise Malformed(f"{one} with too many operands")
        targets: list[Put] = []
        for kind in rule.results:
            if kind == "cc":
                targets.append(decoder.into(decoder.slot(CARRY, "pred")))
            elif names:
                targets.append(decoder.target(names.pop(0)))
        if names:
            raise Malformed(f"{one} with too many results")
        if (erring := documented(one.name, one.modifiers)) is not None:
            targets = [_approximated(put, erring, Named(f"{one.name}.{'.'.join(one.modifiers)}")) for put in targets]
        return _run(rule.function, sources, targets)

    return build


def _approximated(put: Put, erring: Erring, named: Named) -> Put:
    """Return a writer of results: exact ones, or results with the documented error on a device that has `errors`."""

    def write(m: ChunkState, value: Array) -> None:
        if "errors" in m.spaces.elsewhere and (not m.spaces.erring or m.line() in m.spaces.erring):
            m.findings.undefined(m.spot(), "approximate", named, certain=False)
            value = erring(value, m.clock)
        put(m, value)

    return write


def _run(function: Callable[..., Any], sources: list[Get], targets: list[Put]) -> Run:
    if len(targets) == 1:
        into = targets[0]
        if len(sources) == 1:
            (first,) = sources

            def one(m: ChunkState) -> None:
                into(m, _single(function(first(m))))

            return one
        if len(sources) == 2:
            first, second = sources

            def two(m: ChunkState) -> None:
                into(m, _single(function(first(m), second(m))))

            return two
        if len(sources) == 3:
            first, second, third = sources

            def three(m: ChunkState) -> None:
                into(m, _single(function(first(m), second(m), third(m))))

            return three

    def run(m: ChunkState) -> None:
        results = function(*[get(m) for get in sources])
        for put, value in zip(targets, results if type(results) is tuple else (results,), strict=False):
            put(m, value)

    return run


def _single(result: Any) -> Array:
    found: Array = result[0] if type(result) is tuple else result
    return found
