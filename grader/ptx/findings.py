"""The findings of a run: the first of each kind at each place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from grader.plan.findings import (
    Assertion,
    EmptyGrid,
    Finding,
    Misaligned,
    OutOfBounds,
    Program,
    Race,
    Undefinable,
    Undefined,
    Unwritten,
)
from grader.ptx.types import Array

MOST = 16
PRINTED = 8_000
Way = Literal["load", "store", "atomic"]


@dataclass(slots=True)
class Spot:
    """An instruction's kernel and line, the numbers of the blocks that run it, and their grid."""

    kernel: str
    line: int
    numbers: Array
    grid: tuple[int, int, int]

    def program(self, number: int) -> Program:
        x, y, _ = self.grid
        number = int(number)
        return number % x, number // x % y, number // (x * y)


@dataclass(frozen=True, slots=True)
class Named:
    """What a kernel calls memory: `name`, and the plan's parameter behind it. `kept` is the line that allocated a
    temporary before this call, else 0."""

    name: str
    given: str = ""
    kept: int = 0
    shared: bool = False


class Sightings:
    """Collects findings, and what kernels print."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Finding] = {}
        self.printed = ""

    def list(self) -> list[Finding]:
        return list(self._known.values())

    def print(self, text: str) -> None:
        self.printed = (self.printed + text)[:PRINTED]

    def _add(self, key: tuple[Any, ...], make: Callable[[], Finding]) -> None:
        if key not in self._known and len(self._known) < MOST:
            self._known[key] = make()

    def out_of_bounds(
        self, spot: Spot, way: Way, what: Named, elements: int, offsets: Array, bad: Array, active: Array
    ) -> None:
        """`bad` are those of the `active` threads that reach outside, `offsets` are theirs in elements: arrays of the
        shape (blocks, threads)."""
        hit = bad.any(1)
        first, outside = int(np.argmax(hit)), offsets[bad]
        key = ("bounds", way, spot.kernel, spot.line, what.name)
        lowest, highest, programs = int(outside.min()), int(outside.max()), int(hit.sum())
        known = self._known.get(key)
        if isinstance(known, OutOfBounds):
            # A loop meets the same blocks again, so cap the count.
            self._known[key] = known.model_copy(update={
                "lowest": min(known.lowest, lowest), "highest": max(known.highest, highest),
                "programs": min(known.programs + programs, int(np.prod(spot.grid)))})
            return
        self._add(key, lambda: OutOfBounds(
            access=way, kernel=spot.kernel, line=spot.line, tensor=what.name[:200], given=what.given,
            elements=elements, lowest=lowest, highest=highest, lanes=int(bad[first].sum()),
            active=int(active[first].sum()), programs=programs, program=spot.program(spot.numbers[first]),
            masked=not bool(active[first].all()), kept=what.kept, space="shared" if what.shared else "global"))

    def misaligned(self, spot: Spot, way: Way, what: Named, size: int, offset: int, block: int) -> None:
        self._add(("misaligned", way, spot.kernel, spot.line, what.name), lambda: Misaligned(
            access=way, kernel=spot.kernel, line=spot.line, tensor=what.name[:200], given=what.given, bytes=size,
            offset=offset, program=spot.program(spot.numbers[block])))

    def unwritten(self, spot: Spot, what: Named, lanes: int, block: int) -> None:
        self._add(("unwritten", spot.kernel, spot.line, what.name), lambda: Unwritten(
            kernel=spot.kernel, line=spot.line, tensor=what.name[:200], given=what.given, lanes=lanes,
            program=spot.program(spot.numbers[block])))

    def copied(self, line: int, elements: int) -> None:
        """Notes a copy by host code of elements of a temporary that nothing has written."""
        self._add(("copied", line), lambda: Unwritten(
            kernel="", line=line, tensor="", lanes=elements, program=(0, 0, 0)))

    def race(self, spot: Spot, what: Named, element: int, numbers: tuple[int, int], certain: bool) -> None:
        """Notes two blocks, by their numbers in the grid, that touch one element."""
        self._add(("race", spot.kernel, spot.line, what.name, certain), lambda: Race(
            kernel=spot.kernel, line=spot.line, tensor=what.name[:200], given=what.given, element=element,
            programs=(spot.program(numbers[0]), spot.program(numbers[1])), certain=certain))

    def undefined(
        self, spot: Spot, what: Undefinable, named: Named | None = None, *, element: int = 0,
        numbers: Sequence[int] = (), certain: bool = True,
    ) -> None:
        key = ("undefined", what, spot.kernel, spot.line)
        known = self._known.get(key)
        if isinstance(known, Undefined) and certain and not known.certain:
            del self._known[key]
        self._add(key, lambda: Undefined(
            what=what, kernel=spot.kernel, line=spot.line, tensor="" if named is None else named.name[:200],
            given="" if named is None else named.given, element=element,
            programs=[spot.program(number) for number in numbers][:2], certain=certain))

    def failed(self, spot: Spot, message: str, block: int, line: int = 0) -> None:
        """Notes an assertion that does not hold in a block, at its place among `spot.numbers`."""
        program = spot.program(spot.numbers[block])
        self._add(("assert", spot.kernel, line or spot.line, message), lambda: Assertion(
            kernel=spot.kernel, line=line or spot.line, message=message[:500], program=program))

    def empty(self, finding: EmptyGrid) -> None:
        self._add(("empty", finding.kernel, finding.line), lambda: finding)
