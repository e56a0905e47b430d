"""Findings of a run, as a simulator collects them: the first of each kind at each place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np

from grader.plan.findings import (
    MOST_ACCESSES,
    Access,
    Assertion,
    EmptyGrid,
    Finding,
    MaskedUse,
    MisalignedAccess,
    OutOfBounds,
    Overflow,
    Program,
    Race,
    Recast,
    Undefinable,
    UndefinedBehaviour,
    UnwrittenAccess,
)
from grader.plan.traffic import Kind

MOST = 16
PRINTED = 8_000
# The message of a check that a language adds in debug mode.
_OVERFLOW = re.compile(r"^(\w+) overflow detected for operation (\w+)$")

Array = Any


@dataclass(slots=True)
class Site:
    """An instruction's kernel and line, the numbers of the programs that run it, and their grid."""

    kernel: str
    line: int
    numbers: Array
    grid: tuple[int, int, int]

    def program(self, number: int) -> Program:
        """Return a program by its number in the grid."""
        x, y, _ = self.grid
        number = int(number)
        return number % x, number // x % y, number // (x * y)


@dataclass(frozen=True, slots=True)
class MemoryNames:
    """Names of a memory: `name` is the kernel's, `given` that of the plan's parameter, "" for none. `kept` is the line
    that allocated a temporary before this call, else 0."""

    name: str
    given: str = ""
    kept: int = 0
    shared: bool = False

    @property
    def space(self) -> Literal["shared", "global"]:
        return "shared" if self.shared else "global"


class Findings:
    """A collector of findings, of accesses, and of what kernels print. A program is a block in CUDA."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Finding] = {}
        self._outside: dict[tuple[Any, ...], Array] = {}
        self.accesses: list[Access] = []
        self.printed = ""

    def list(self) -> list[Finding]:
        return list(self._known.values())

    def join(self, other: Findings, accesses: Sequence[Access]) -> None:
        """Add the findings of a launch, and its accesses."""
        self.accesses = [*self.accesses, *accesses][:MOST_ACCESSES]
        self._outside = {**other._outside, **self._outside}
        for key, finding in other._known.items():
            self._add(key, lambda finding=finding: finding)  # type: ignore[misc]
        self.print(other.printed)

    def print(self, text: str) -> None:
        self.printed = (self.printed + text)[:PRINTED]

    def _add(self, key: tuple[Any, ...], make: Callable[[], Finding]) -> None:
        if key not in self._known and len(self._known) < MOST:
            self._known[key] = make()

    def copied(self, line: int, elements: int) -> None:
        """Record that host code copies `elements` elements of a temporary that nothing has written."""
        self._add(("copied", line), lambda: UnwrittenAccess(
            kernel="", line=line, tensor="", lanes=elements, program=(0, 0, 0)))

    def empty(self, finding: EmptyGrid) -> None:
        self._add(("empty", finding.kernel, finding.line), lambda: finding)

    def out_of_bounds(
        self, site: Site, access: Any, memory: MemoryNames, elements: int, offsets: Array, bad: Array,
        live: Array | None, *, masked: bool = False,
    ) -> None:
        """Record an access outside its memory. `bad` are the `live` lanes that lie outside, `offsets` are in elements:
        all are arrays whose first axis are the programs. `masked`: the access has a mask, which may leave all on."""
        rows = bad.reshape(len(bad), -1)
        hit = rows.any(1)
        first, outside = int(np.argmax(hit)), offsets[bad]
        finding = OutOfBounds(
            **_of(site, memory), access=access, elements=elements, lowest=int(outside.min()),
            highest=int(outside.max()), lanes=int(rows[first].sum()),
            active=rows.shape[1] if live is None else int(live[first].sum()), programs=int(hit.sum()),
            program=site.program(site.numbers[first]),
            masked=masked or (live is not None and not live[first].all()), kept=memory.kept, space=memory.space)
        key = ("bounds", access, site.kernel, site.line, finding.tensor)
        known, programs = self._known.get(key), site.numbers[hit]
        if isinstance(known, OutOfBounds):
            # In a loop the same programs come again: the union counts each once.
            if known.programs < prod(site.grid):
                self._outside[key] = np.union1d(self._outside[key], programs)
            self._known[key] = known.model_copy(update={
                "lowest": min(known.lowest, finding.lowest), "highest": max(known.highest, finding.highest),
                "programs": len(self._outside[key])})
        elif len(self._known) < MOST:
            self._outside[key], self._known[key] = programs, finding

    def misaligned(self, site: Site, access: Kind, memory: MemoryNames, size: int, offset: int, row: int) -> None:
        self._add(("misaligned", access, site.kernel, site.line, memory.name), lambda: MisalignedAccess(
            **_of(site, memory), access=access, bytes=size, offset=offset, program=site.program(site.numbers[row])))

    def recast(self, site: Site, memory: MemoryNames, before: str, after: str) -> None:
        """Record a pointer that is cast to elements of another size."""
        self._add(("recast", site.kernel, site.line), lambda: Recast(
            **_of(site, memory), before=before, after=after))

    def unwritten(
        self, site: Site, memory: MemoryNames, lanes: int, row: int, access: Any = "load",
        stored: tuple[int, int] | None = None,
    ) -> None:
        """Record a use of elements that nothing has written, by `lanes` lanes of the program in this row."""
        self._add(("unwritten", site.kernel, site.line, memory.name), lambda: UnwrittenAccess(
            **_of(site, memory), lanes=lanes, program=site.program(site.numbers[row]), access=access, stored=stored,
            space=memory.space))

    def masked(self, site: Site, memory: MemoryNames) -> None:
        self._add(("masked", site.kernel, site.line, memory.name), lambda: MaskedUse(
            kernel=site.kernel, line=site.line, tensor=memory.name[:200]))

    def race(self, site: Site, memory: MemoryNames, element: int, numbers: tuple[int, int], certain: bool) -> None:
        """Record two programs, by their numbers in the grid, that touch one element."""
        self._add(("race", site.kernel, site.line, memory.name, certain), lambda: Race(
            **_of(site, memory), element=element,
            programs=(site.program(numbers[0]), site.program(numbers[1])), certain=certain))

    def undefined(
        self, site: Site, what: Undefinable, memory: MemoryNames | None = None, *, element: int = 0,
        numbers: Sequence[int] = (), certain: bool = True, line: int = 0, earlier: Callable[[], int] = int,
    ) -> None:
        """Record undefined behaviour. A certain finding replaces an uncertain one. `line` is passed if it is not the
        site's. `earlier` returns the line of the access before, and is called for a new finding alone."""
        line = line or site.line
        key = ("undefined", what, site.kernel, line)
        known = self._known.get(key)
        if isinstance(known, UndefinedBehaviour) and certain and not known.certain:
            del self._known[key]
        self._add(key, lambda: UndefinedBehaviour(
            what=what, kernel=site.kernel, line=line, tensor="" if memory is None else memory.name[:200],
            given="" if memory is None else memory.given, element=element,
            programs=[site.program(number) for number in numbers][:2], certain=certain, earlier=earlier()))

    def failed(self, site: Site, message: str, row: int, line: int = 0, header: str = "") -> None:
        """Record an assertion that does not hold in a row's program: the language's own check for overflow, or the
        student's. `header` is the assertion's file if it is not the student's."""
        line, program = line or site.line, site.program(site.numbers[row])
        if overflow := _OVERFLOW.match(message):
            self._add(("overflow", site.kernel, line, message), lambda: Overflow(
                kernel=site.kernel, line=line, type=overflow[1][:200], operation=overflow[2][:200], program=program))
        else:
            self._add(("assert", site.kernel, line, message), lambda: Assertion(
                kernel=site.kernel, line=line, message=message[:500], program=program, header=header[:200]))


def _of(site: Site, memory: MemoryNames) -> dict[str, Any]:
    """Return the fields that findings about a memory share."""
    return {"kernel": site.kernel, "line": site.line, "tensor": memory.name[:200], "given": memory.given}
