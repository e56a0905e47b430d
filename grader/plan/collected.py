"""The findings of a run as a simulator collects them: the first of each kind at each place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from grader.plan.findings import EmptyGrid, Finding, OutOfBounds, Program, Unwritten

MOST = 16
PRINTED = 8_000

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


class Collected:
    """A collector of findings, and of what kernels print."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Finding] = {}
        self._outside: dict[tuple[Any, ...], Array] = {}
        self.printed = ""

    def list(self) -> list[Finding]:
        return list(self._known.values())

    def print(self, text: str) -> None:
        self.printed = (self.printed + text)[:PRINTED]

    def _add(self, key: tuple[Any, ...], make: Callable[[], Finding]) -> None:
        if key not in self._known and len(self._known) < MOST:
            self._known[key] = make()

    def _add_outside(self, site: Site, finding: OutOfBounds, hit: Array) -> None:
        """Add an access outside its tensor. `hit` are the numbers of the programs that reach outside."""
        key = ("bounds", finding.access, site.kernel, site.line, finding.tensor)
        known = self._known.get(key)
        if isinstance(known, OutOfBounds):
            # In a loop the same programs come again: the union counts each once.
            if known.programs < prod(site.grid):
                self._outside[key] = np.union1d(self._outside[key], hit)
            self._known[key] = known.model_copy(update={
                "lowest": min(known.lowest, finding.lowest), "highest": max(known.highest, finding.highest),
                "programs": len(self._outside[key])})
        elif len(self._known) < MOST:
            self._outside[key] = hit
            self._add(key, lambda: finding)

    def copied(self, line: int, elements: int) -> None:
        """Record that host code copies `elements` elements of a temporary that nothing has written."""
        self._add(("copied", line), lambda: Unwritten(
            kernel="", line=line, tensor="", lanes=elements, program=(0, 0, 0)))

    def empty(self, finding: EmptyGrid) -> None:
        self._add(("empty", finding.kernel, finding.line), lambda: finding)
