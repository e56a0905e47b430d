"""A kernel's text, made ready to run."""

from __future__ import annotations

from dataclasses import dataclass

from grader.frontends.triton.simulator.text import Function


@dataclass(frozen=True, eq=False)
class Code:
    """`largest` is the size of the largest tensor, `alive` the most elements that are alive at a time, of one program.

    `stores` and `loads` tell for each argument whether the kernel may store and load through it. `spins`: a loop looks
    at memory, so that it may be one that waits for another program. `relaxed`: it has atomics that do not order what
    others store.
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
