"""A kernel's code: its text, prepared to run."""

from __future__ import annotations

from dataclasses import dataclass

from grader.languages.triton.confined.simulator.text import Function


@dataclass(frozen=True, eq=False)
class Code:
    """A kernel's code. `largest` is the number of elements of its largest tensor, `alive` the most elements of a
    program that are alive at a time.

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
