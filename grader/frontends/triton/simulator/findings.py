"""The findings of a run: the first of each kind at each place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.frontends.triton.simulator.pointers import Origin
from grader.frontends.triton.simulator.types import Array
from grader.plan.findings import (
    MOST_ACCESSES,
    Access,
    Assertion,
    EmptyGrid,
    Finding,
    MaskedUsed,
    OutOfBounds,
    Overflow,
    Program,
    Race,
    Recast,
    Undefinable,
    Undefined,
    Unwritten,
)

MOST = 16
PRINTED = 8_000
_OVERFLOW = re.compile(r"^(\w+) overflow detected for operation (\w+)$")


@dataclass
class Site:
    """An operation's kernel and line, the numbers of the programs that run it, and their grid."""

    kernel: str
    line: int
    programs: Array
    grid: tuple[int, int, int]

    def program(self, number: int) -> Program:
        x, y, _ = self.grid
        return number % x, number // x % y, number // (x * y)


class Findings:
    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Finding] = {}
        self.accesses: list[Access] = []
        self.printed = ""

    def list(self) -> list[Finding]:
        return list(self._known.values())

    def join(self, other: Findings, accesses: Sequence[Access]) -> None:
        self.accesses = [*self.accesses, *accesses][:MOST_ACCESSES]
        for key, finding in other._known.items():
            self._add(key, lambda finding=finding: finding)  # type: ignore[misc]
        self.printed = (self.printed + other.printed)[:PRINTED]

    def _add(self, key: tuple[Any, ...], make: Callable[[], Finding]) -> None:
        if key not in self._known and len(self._known) < MOST:
            self._known[key] = make()

    def out_of_bounds(
        self, place: Site, access: Any, source: Origin, elements: int, offsets: Array, bad: Array, live: Array | None
    ) -> None:
        """`bad` are the `live` lanes that lie outside; the arrays have the whole chunk's shape."""
        rows = bad.reshape(len(bad), -1)
        hit = rows.any(1)
        first, outside = int(np.argmax(hit)), offsets[bad]
        active = rows.shape[1] if live is None else int(live[first].sum())
        key = ("bounds", access, place.kernel, place.line, source.name)
        finding = OutOfBounds(
            access=access, kernel=place.kernel, line=place.line, tensor=source.name[:200], given=source.buffer.given,
            elements=elements, lowest=int(outside.min()), highest=int(outside.max()), lanes=int(rows[first].sum()),
            active=active, programs=int(hit.sum()), program=place.program(int(place.programs[first])),
            masked=live is not None, kept=source.buffer.kept)
        known = self._known.get(key)
        if isinstance(known, OutOfBounds):
            # A loop meets the same programs again, so cap the count.
            programs = min(known.programs + finding.programs, int(np.prod(place.grid)))
            self._known[key] = known.model_copy(update={
                "lowest": min(known.lowest, finding.lowest), "highest": max(known.highest, finding.highest),
                "programs": programs})
        else:
            self._add(key, lambda: finding)

    def recast(self, place: Site, source: Origin, before: str, after: str) -> None:
        """Notes a pointer that goes on as one to elements of another size."""
        self._add(("recast", place.kernel, place.line), lambda: Recast(
            kernel=place.kernel, line=place.line, tensor=source.name[:200], given=source.buffer.given, before=before,
            after=after))

    def unwritten(self, place: Site, source: Origin, bad: Array) -> None:
        rows = bad.reshape(len(bad), -1)
        first = int(np.argmax(rows.any(1)))
        self._add(("unwritten", place.kernel, place.line, source.name), lambda: Unwritten(
            kernel=place.kernel, line=place.line, tensor=source.name[:200], given=source.buffer.given,
            lanes=int(rows[first].sum()), program=place.program(int(place.programs[first]))))

    def copied(self, line: int, elements: int) -> None:
        """Notes a copy by host code of elements of a temporary that nothing has written."""
        self._add(("copied", line), lambda: Unwritten(
            kernel="", line=line, tensor="", lanes=elements, program=(0, 0, 0)))

    def masked(self, place: Site, source: Origin) -> None:
        self._add(("masked", place.kernel, place.line, source.name), lambda: MaskedUsed(
            kernel=place.kernel, line=place.line, tensor=source.name[:200]))

    def race(self, place: Site, source: Origin, element: int, numbers: tuple[int, int], certain: bool) -> None:
        self._add(("race", place.kernel, place.line, source.name, certain), lambda: Race(
            kernel=place.kernel, line=place.line, tensor=source.name[:200], given=source.buffer.given, element=element,
            programs=(place.program(numbers[0]), place.program(numbers[1])), certain=certain))

    def undefined(
        self, place: Site, what: Undefinable, source: Origin | None = None, *, element: int = 0,
        programs: Sequence[int] = (), certain: bool = True, line: int = 0,
    ) -> None:
        """Notes undefined behaviour. `line` is given if it is not the place's."""
        line = line or place.line
        self._add(("undefined", what, place.kernel, line), lambda: Undefined(
            what=what, kernel=place.kernel, line=line, tensor="" if source is None else source.name[:200],
            given="" if source is None else source.buffer.given, element=element,
            programs=[place.program(number) for number in programs], certain=certain))

    def failed(self, place: Site, message: str, first: int) -> None:
        """Notes an assertion that does not hold in a program: Triton's own about overflow, or the student's."""
        program = place.program(int(place.programs[first]))
        if overflow := _OVERFLOW.match(message):
            self._add(("overflow", place.kernel, place.line, message), lambda: Overflow(
                kernel=place.kernel, line=place.line, type=overflow[1][:200], operation=overflow[2][:200],
                program=program))
        else:
            self._add(("assert", place.kernel, place.line, message), lambda: Assertion(
                kernel=place.kernel, line=place.line, message=message[:500], program=program))

    def empty(self, finding: EmptyGrid) -> None:
        self._add(("empty", finding.kernel, finding.line), lambda: finding)
