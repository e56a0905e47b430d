"""The findings of a run: the first of each kind at each place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.pointers import Origin
from grader.languages.triton.confined.simulator.types import Array
from grader.plan.collected import Collected, Site
from grader.plan.findings import (
    MOST_ACCESSES,
    Access,
    Assertion,
    MaskedUsed,
    OutOfBounds,
    Overflow,
    Race,
    Recast,
    Undefinable,
    Undefined,
    Unwritten,
)

_OVERFLOW = re.compile(r"^(\w+) overflow detected for operation (\w+)$")


class Findings(Collected):
    """A collector of findings about programs, and of the accesses of launches."""

    def __init__(self) -> None:
        super().__init__()
        self.accesses: list[Access] = []

    def join(self, other: Findings, accesses: Sequence[Access]) -> None:
        self.accesses = [*self.accesses, *accesses][:MOST_ACCESSES]
        self._outside = {**other._outside, **self._outside}
        for key, finding in other._known.items():
            self._add(key, lambda finding=finding: finding)  # type: ignore[misc]
        self.print(other.printed)

    def out_of_bounds(
        self, place: Site, access: Any, source: Origin, elements: int, offsets: Array, bad: Array, live: Array | None
    ) -> None:
        """Note an access outside its tensor. `bad` are the `live` lanes that lie outside; the arrays have the whole
        chunk's shape."""
        rows = bad.reshape(len(bad), -1)
        hit = rows.any(1)
        first, outside = int(np.argmax(hit)), offsets[bad]
        active = rows.shape[1] if live is None else int(live[first].sum())
        self._add_outside(place, OutOfBounds(
            access=access, kernel=place.kernel, line=place.line, tensor=source.name[:200], given=source.buffer.given,
            elements=elements, lowest=int(outside.min()), highest=int(outside.max()), lanes=int(rows[first].sum()),
            active=active, programs=int(hit.sum()), program=place.program(place.numbers[first]),
            masked=live is not None, kept=source.buffer.kept), place.numbers[hit])

    def recast(self, place: Site, source: Origin, before: str, after: str) -> None:
        """Note a pointer that is cast to elements of another size."""
        self._add(("recast", place.kernel, place.line), lambda: Recast(
            kernel=place.kernel, line=place.line, tensor=source.name[:200], given=source.buffer.given, before=before,
            after=after))

    def unwritten(self, place: Site, access: Any, source: Origin, bad: Array) -> None:
        rows = bad.reshape(len(bad), -1)
        first = int(np.argmax(rows.any(1)))
        self._add(("unwritten", place.kernel, place.line, source.name), lambda: Unwritten(
            access=access, kernel=place.kernel, line=place.line, tensor=source.name[:200], given=source.buffer.given,
            lanes=int(rows[first].sum()), program=place.program(place.numbers[first])))

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
        """Note undefined behaviour. `line` is given if it is not the place's."""
        line = line or place.line
        self._add(("undefined", what, place.kernel, line), lambda: Undefined(
            what=what, kernel=place.kernel, line=line, tensor="" if source is None else source.name[:200],
            given="" if source is None else source.buffer.given, element=element,
            programs=[place.program(number) for number in programs], certain=certain))

    def failed(self, place: Site, message: str, first: int) -> None:
        """Note an assertion that does not hold in a program: Triton's own about overflow, or the student's."""
        program = place.program(place.numbers[first])
        if overflow := _OVERFLOW.match(message):
            self._add(("overflow", place.kernel, place.line, message), lambda: Overflow(
                kernel=place.kernel, line=place.line, type=overflow[1][:200], operation=overflow[2][:200],
                program=program))
        else:
            self._add(("assert", place.kernel, place.line, message), lambda: Assertion(
                kernel=place.kernel, line=place.line, message=message[:500], program=program))
