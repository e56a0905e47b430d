"""Findings of a run: the first of each kind at each place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from grader.plan.collected import Collected, Site
from grader.plan.findings import (
    Assertion,
    Misaligned,
    OutOfBounds,
    Race,
    Undefinable,
    Undefined,
    Unwritten,
)
from grader.plan.traffic import Kind
from grader.simulation.ptx.types import Array


@dataclass(frozen=True, slots=True)
class Named:
    """Names of a memory: `name` is the kernel's, `given` that of the plan's parameter, "" for none. `kept` is the line
    that allocated a temporary before this call, else 0."""

    name: str
    given: str = ""
    kept: int = 0
    shared: bool = False


class Sightings(Collected):
    """Collector of findings about threads."""

    def out_of_bounds(
        self, spot: Site, way: Kind, what: Named, elements: int, offsets: Array, bad: Array, active: Array
    ) -> None:
        """Record an access outside its memory. `bad` masks the `active` threads that reach outside, `offsets` are in
        elements: all are arrays of the shape (blocks, threads)."""
        hit = bad.any(1)
        first, outside = int(np.argmax(hit)), offsets[bad]
        self._add_outside(spot, OutOfBounds(
            access=way, kernel=spot.kernel, line=spot.line, tensor=what.name[:200], given=what.given,
            elements=elements, lowest=int(outside.min()), highest=int(outside.max()), lanes=int(bad[first].sum()),
            active=int(active[first].sum()), programs=int(hit.sum()), program=spot.program(spot.numbers[first]),
            masked=not bool(active[first].all()), kept=what.kept, space="shared" if what.shared else "global"),
            spot.numbers[hit])

    def misaligned(self, spot: Site, way: Kind, what: Named, size: int, offset: int, block: int) -> None:
        self._add(("misaligned", way, spot.kernel, spot.line, what.name), lambda: Misaligned(
            access=way, kernel=spot.kernel, line=spot.line, tensor=what.name[:200], given=what.given, bytes=size,
            offset=offset, program=spot.program(spot.numbers[block])))

    def unwritten(
        self, spot: Site, what: Named, lanes: int, block: int, access: Literal["load", "atomic"] = "load",
        stored: tuple[int, int] | None = None,
    ) -> None:
        self._add(("unwritten", spot.kernel, spot.line, what.name), lambda: Unwritten(
            kernel=spot.kernel, line=spot.line, tensor=what.name[:200], given=what.given, lanes=lanes,
            program=spot.program(spot.numbers[block]), access=access, stored=stored,
            space="shared" if what.shared else "global"))

    def race(self, spot: Site, what: Named, element: int, numbers: tuple[int, int], certain: bool) -> None:
        """Record two blocks, by their numbers in the grid, that touch one element."""
        self._add(("race", spot.kernel, spot.line, what.name, certain), lambda: Race(
            kernel=spot.kernel, line=spot.line, tensor=what.name[:200], given=what.given, element=element,
            programs=(spot.program(numbers[0]), spot.program(numbers[1])), certain=certain))

    def undefined(
        self, spot: Site, what: Undefinable, named: Named | None = None, *, element: int = 0,
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

    def failed(self, spot: Site, message: str, block: int, line: int = 0, header: str = "") -> None:
        """Record an assertion that does not hold in a block, an index of `spot.numbers`; `header` is the assertion's
        file if it is not the student's."""
        program = spot.program(spot.numbers[block])
        self._add(("assert", spot.kernel, line or spot.line, message), lambda: Assertion(
            kernel=spot.kernel, line=line or spot.line, message=message[:500], program=program, header=header[:200]))
