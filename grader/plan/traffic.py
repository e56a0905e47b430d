"""What a run of a plan loads and stores, as a simulator counts it that is asked to: facts as values, each capped."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grader.plan.findings import Count, Program
from grader.plan.plan import Index, Line, Name, Shaped

SECTOR = 32
"""Bytes: what device memory moves at least ("Device Memory Accesses" in the CUDA C++ Programming Guide)."""

Kind = Literal["load", "store", "atomic"]


class Watch(Shaped):
    """What is to be told of a run beside its findings.

    `stores`: bytes of the output, ascending, where elements begin whose last stores are told. `programs`: so many of
    each launch are run, spread over its grid, and what they load and store is counted; 0 runs all and counts nothing.
    `chosen`: for each launch of a call, in their order, the programs that alone are run, ascending; of these `touched`
    asks for the bytes that each touches, of all tensors or of the output, which it stores to.
    """

    stores: Annotated[list[Count], Field(max_length=4096)] = []
    programs: Count = 0
    chosen: Annotated[list[Annotated[list[Annotated[int, Field(ge=0, lt=2**31)]], Field(max_length=16)]],
                      Field(max_length=64)] = []
    touched: Literal["", "all", "output"] = ""


class Stored(Shaped):
    """What a line stored last, of those elements that were asked for: how many, which is the first, in which byte it
    begins, and the programs of the first and of the last of them."""

    line: Line
    elements: Count
    byte: Count
    program: Program
    last: Program


class Access(Shaped):
    """A load or store of a kernel, summed over the programs that were run and over their loops.

    `masked` of `lanes` a mask switched off. `needed` are the bytes of the elements that are left, an element once each
    time that a program runs the line; `moved` are those of the sectors that hold them.
    """

    access: Kind
    line: Line
    tensor: Name
    given: Name = ""
    lanes: Count
    masked: Count
    needed: Count
    moved: Count


class Launched(Shaped):
    """A launch of a kernel of the plan, in blocks of `threads`, from a line of the host's code. `programs` of it were
    run; `cut` where they used up their operations before their ends."""

    kernel: Index
    line: Line
    grid: tuple[Count, Count, Count]
    threads: Count
    programs: Count
    cut: bool = False
    accesses: Annotated[list[Access], Field(max_length=32)]


class Touched(Shaped):
    """The bytes of a tensor that one program touches in a launch, as series of runs: where the first begins, how long
    each is, how far one begins behind the other, and how many there are. `all` tells whether these are all of them."""

    launch: Index
    program: Annotated[int, Field(ge=0, lt=2**31)]
    all: bool = True
    access: Kind
    tensor: Name
    given: Name = ""
    runs: Annotated[list[tuple[Count, Count, Count, Count]], Field(max_length=256)]
