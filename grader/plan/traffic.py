"""Loads and stores of a run, as a simulator counts them on demand: facts as values, each capped."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grader.plan.findings import Count, Program
from grader.plan.plan import MOST_OPERATIONS, Index, Line, Name, StrictModel

SECTOR = 32
"""The fewest bytes that device memory moves ("Device Memory Accesses" in the CUDA C++ Programming Guide)."""

MOST_TOUCHED = 1024
"""The most entries of `Simulated.touched`."""

Kind = Literal["load", "store", "atomic"]


class Watch(StrictModel):
    """The facts that a simulator has to report of a run beside its findings.

    `output` names the output that the other fields are about; "" is the first output that holds nothing yet. `stores`:
    the first bytes of elements of the output, ascending; the last store to each is reported. `programs`: the number of
    programs of each launch that run, spread over its grid; their loads and stores are counted. 0 runs all programs and
    counts nothing. `chosen`: for each launch of a call, in order, the only programs that run, ascending. `touched` asks
    for the bytes that each chosen program touches: of all tensors ("all"), or the stored ones of the output ("output").
    `warps`: count what warps do as well (`WarpTraffic`), in languages that become PTX.
    """

    output: Name = ""
    stores: Annotated[list[Count], Field(max_length=4096)] = []
    programs: Count = 0
    chosen: Annotated[list[Annotated[list[Count], Field(max_length=16)]], Field(max_length=MOST_OPERATIONS)] = []
    touched: Literal["", "all", "output"] = ""
    warps: bool = False


class LastStores(StrictModel):
    """The watched elements whose last store is in `line`: their number, the first byte of the first element, and the
    programs that stored the first (`program`) and the last element (`last`)."""

    line: Line
    elements: Count
    byte: Count
    program: Program
    last: Program


class AccessTraffic(StrictModel):
    """The traffic of a load or store of a kernel, summed over the programs that were run and over their loops.

    A mask switches off `masked` of `lanes`. `needed` are the bytes of the other lanes' elements: each counts once for
    each time that a program runs the line. `moved` are the bytes of the sectors that hold these elements.
    """

    access: Kind
    line: Line
    tensor: Name
    given: Name = ""
    lanes: Count
    masked: Count
    needed: Count
    moved: Count


class WarpAccess(StrictModel):
    """The accesses that warps make by the instructions of a line, in `requests`: one for each warp that makes one.

    `parts` counts what the memory does one after another: sectors of global memory, or for shared memory wavefronts, in
    which each of the 32 banks serves one word. `least` is the number of parts that the same bytes would take side by
    side. `wasteful` requests take more parts than their least, `worst` is the most parts of a request beyond it.
    Sources: "Device Memory Accesses" and "Shared Memory" in the CUDA C++ Programming Guide.
    """

    space: Literal["global", "shared"]
    access: Kind
    line: Line
    tensor: Name
    requests: Count
    parts: Count
    least: Count
    wasteful: Count
    worst: Count


class Branching(StrictModel):
    """The conditional branches of a line: each counts once for each warp that comes to it, and is `divergent` if lanes
    of the warp part there."""

    line: Line
    branches: Count
    divergent: Count


class WarpTraffic(StrictModel):
    """The work of the warps of a launch, over the programs that were run. `multiply_adds` of floating-point numbers
    were made by threads, `tensor_multiply_adds` by tensor cores. `barriers` of whole blocks were passed by so many
    warps. `local` are the bytes of threads' own memory that were loaded and stored. `full`: there were more lines than
    are listed."""

    accesses: Annotated[list[WarpAccess], Field(max_length=256)] = []
    branching: Annotated[list[Branching], Field(max_length=256)] = []
    full: bool = False
    multiply_adds: Count = 0
    tensor_multiply_adds: Count = 0
    barriers: Count = 0
    local: Count = 0


class LaunchTraffic(StrictModel):
    """The traffic of a launch of a kernel, in blocks of `threads`, from a line of the host's code. `programs` of its
    programs were run; `cut`: the run had no operations left before they ended. `full`: there were more accesses than
    are listed."""

    kernel: Index
    line: Line
    grid: tuple[Count, Count, Count]
    threads: Count
    programs: Count
    cut: bool = False
    full: bool = False
    accesses: Annotated[list[AccessTraffic], Field(max_length=128)]
    warps: WarpTraffic | None = None


class TouchedBytes(StrictModel):
    """The bytes of a tensor that one program touches in a launch, as series of runs: the first run's start, the length
    of each, the distance between their starts, and their number. `all`: the list is complete."""

    launch: Index
    program: Count
    all: bool = True
    access: Kind
    tensor: Name
    given: Name = ""
    runs: Annotated[list[tuple[Count, Count, Count, Count]], Field(max_length=256)]
