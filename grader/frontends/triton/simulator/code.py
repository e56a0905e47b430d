"""A kernel's text, made ready to run."""

from __future__ import annotations

from dataclasses import dataclass

from grader.frontends.triton.simulator.text import Function


@dataclass(frozen=True, eq=False)
class Code:
    """A kernel's code. In each program `largest` is the size of the largest tensor, and at most `alive` elements are
    alive at a time.

    `stores` and `loads` say for each argument whether the kernel may store and load through it. `spins`: a loop reads
    memory, so it may wait for another program. `relaxed`: some of its atomics do not order the stores of others.
    """

    functions: dict[str, Function]
    entry: str
    file: str
    largest: int
    alive: int
    stores: list[bool]
    loads: list[bool]
    atomics: bool
    relaxed: bool
    spins: bool
