"""Findings about a run of a plan: facts as values, which only `grader.judging.explain` renders to words.

A confined process that reads hostile text sends findings, so the size of each is capped.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grader.plan.plan import Index, Line, Name, StrictModel

MOST_ACCESSES = 24
"""The most loads and stores that are reported for a run."""

Count = Annotated[int, Field(ge=0, lt=2**63)]
Far = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Sides = Annotated[list[Count], Field(max_length=8)]
Program = tuple[Count, Count, Count]
"""A program of a grid: its ids along x, y and z."""


class OutOfBounds(StrictModel):
    """An access outside its tensor.

    `tensor` is the kernel's name for the pointer (`x_ptr`), `given` the parameter behind it, or "" for a temporary.
    `elements` is the size of the buffer; `lowest` and `highest` are the lowest and highest element offset outside. In
    `program`, `lanes` of `active` lanes lie outside; `programs` is the number of programs that reach outside. `masked`:
    the access has a mask. `kept` is the line that allocated a temporary before this call, else 0. The access "granule"
    is a descriptor's store that writes its last bytes as a whole and so reaches past the tensor's end. In the space
    "shared", `tensor` is an array that each program has for itself.
    """

    kind: Literal["out_of_bounds"] = "out_of_bounds"
    access: Literal["load", "store", "atomic", "granule"]
    kernel: Name
    line: Line
    tensor: Name
    given: Name = ""
    elements: Count
    lowest: Far
    highest: Far
    lanes: Count
    active: Count
    programs: Count
    program: Program
    masked: bool
    kept: Line = 0
    space: Literal["global", "shared"] = "global"


class MisalignedAccess(StrictModel):
    """An access at an address that is no multiple of the `bytes` that it moves for a lane. `tensor` and `given` as in
    `OutOfBounds`; `offset` is the distance from the tensor's start in bytes."""

    kind: Literal["misaligned"] = "misaligned"
    access: Literal["load", "store", "atomic"]
    kernel: Name
    line: Line
    tensor: Name
    given: Name = ""
    bytes: Count
    offset: Far
    program: Program


class Recast(StrictModel):
    """A pointer to elements of one type, `before`, taken as one to elements of another size, `after`."""

    kind: Literal["recast"] = "recast"
    kernel: Name
    line: Line
    tensor: Name
    given: Name = ""
    before: Name
    after: Name


class UnwrittenAccess(StrictModel):
    """A load of elements that nothing has written, or an atomic on them: of `out` (poison), or of an uninitialised
    temporary. If `kernel` is "", host code copied the elements. `space` as in `OutOfBounds`. `stored` is for an array
    in the space "shared" whose written rows have gaps of one length between them: the bytes of a row, and the distance
    in bytes between the starts of two neighbours."""

    kind: Literal["unwritten"] = "unwritten"
    kernel: Name
    line: Line
    tensor: Name
    given: Name = ""
    lanes: Count
    program: Program
    access: Literal["load", "atomic"] = "load"
    space: Literal["global", "shared"] = "global"
    stored: tuple[Count, Count] | None = None


class MaskedUse(StrictModel):
    """A use of lanes that a mask switched off and that got no other value: their contents are undefined."""

    kind: Literal["masked_used"] = "masked_used"
    kernel: Name
    line: Line
    tensor: Name


class Race(StrictModel):
    """Two programs of one launch that touch the same element without atomics, where at least one of them writes.

    `certain`: both store, and store different values, so the machine decides which value stays.
    """

    kind: Literal["race"] = "race"
    kernel: Name
    line: Line
    tensor: Name
    given: Name = ""
    element: Count
    programs: tuple[Program, Program]
    certain: bool


class Overflow(StrictModel):
    """An integer of the kernel that leaves the range of its type, as the debug checks of its language define it."""

    kind: Literal["overflow"] = "overflow"
    kernel: Name
    line: Line
    type: Name
    operation: Name
    program: Program


class Assertion(StrictModel):
    """An assertion in the kernel that does not hold. `header` is the file that asserts, if it is not the student's."""

    kind: Literal["assertion"] = "assertion"
    kernel: Name
    line: Line
    header: Name = ""
    message: Annotated[str, Field(max_length=500)]
    program: Program


class EmptyGrid(StrictModel):
    """A launch without any program."""

    kind: Literal["empty_grid"] = "empty_grid"
    kernel: Name
    line: Line
    grid: tuple[Count, Count, Count]


Undefinable = Literal[
    "lanes", "reorder", "hint", "pipeline", "pending", "index", "reduction", "programs", "ticket",
    "descriptor", "unwaited", "visible", "barrier", "warp", "relaxed", "unacquired", "scope", "engine", "tuner",
    "spin", "assume", "fresh", "unordered", "shared", "divergent", "unset", "places", "approximate",
    "streams", "pinned", "inactive", "read_only",
]  # fmt: skip
"""The kinds of undefined behaviour: see `UndefinedBehaviour`."""


class UndefinedBehaviour(StrictModel):
    """Behaviour that neither the language nor a GPU defines, but the simulator does.

    For these kinds the simulator takes one of several orders or values that are allowed. The finding is `certain` only
    if the answer was seen to depend on the choice:
    `lanes`: lanes of one store have different values for one element;
    `reorder`: a reshape or concatenation may put its elements in any order;
    `hint`: a promise to the compiler about addresses or values is not kept;
    `pipeline`: a load may be made before a store of an earlier iteration of its loop;
    `index`: a gather reaches outside its source, or a shuffle outside its block;
    `reduction`: a reduction's function may depend on the order;
    `programs`: a program uses what another program stores in the same launch;
    `ticket`: programs choose their work by the result of an atomic;
    `unset`, `places`, `inactive`, `approximate`: an instruction reads a register that nothing has set, the place where
    a program runs, or a lane that takes no part in a shuffle, or gives an approximation. Its result differs from device
    to device (`messages.Deviation`);
    `unordered`: a program loads what another program stores, in a launch with atomics of which none orders the two;
    `streams`, `pinned`: an operation of a call does not wait for that of line `earlier`, though one of the two writes
    what the other uses: they are in different streams (`streams`), or one is host code's own (`pinned`).

    These kinds are undefined wherever they occur:
    `descriptor`: no device takes this descriptor;
    `unwaited`, `visible`: a programmatic launch reads what the launch before it writes, without waiting for it; the
    earlier launch lets it start ahead of its own end (`unwaited`) or does not (`visible`);
    `barrier`, `warp`: a lane reads what another lane stored, without a barrier between, in a program of several warps
    (`barrier`) or of one (`warp`);
    `relaxed`, `unacquired`: the kernel relies on atomics or flags that order nothing; in `unacquired` it is the load
    that may come before them;
    `engine`: the copy engine or the tensor cores read what threads have stored, without a fence between;
    `scope`: programs share an atomic or a flag that orders the threads of one program alone;
    `read_only`: a load takes memory for read-only to which its launch has stored;
    `tuner`: an autotuner tries configurations on the same buffers, and the kernel adds to them;
    `spin`: a loop waits by plain loads, and a compiler may remove it;
    `assume`: an assumption stated to the compiler does not hold;
    `fresh`: the answer depends on elements that nothing has written;
    `pending`: an instruction uses the result of an asynchronous copy or product that nobody has waited for;
    `shared`: threads of a program touch one element of its shared memory without a barrier between;
    `divergent`: some of a program's threads never reach a barrier at which others wait.

    `tensor`, `element` and `programs` name the place, as far as there is one; `earlier` is the line of an access before
    it that takes part, if it is known.
    """

    kind: Literal["undefined"] = "undefined"
    what: Undefinable
    kernel: Name
    line: Line
    tensor: Name = ""
    given: Name = ""
    element: Count = 0
    programs: Annotated[list[Program], Field(max_length=2)] = []
    earlier: Line = 0
    certain: bool = True


class Access(StrictModel):
    """The offsets of the lanes of a load, store or atomic, as the first programs of a launch show them: without regard
    to the mask, in elements of the buffer.

    `first` is the offset of lane 0 of program 0. `lane_strides` are the distances of neighbouring lanes along each
    dimension of the `tile`, None if they vary. `program_strides` are those of program 0 and the next program along each
    axis of the grid, None if there is only one or the next was not seen; `even`: all programs seen lie at these
    distances. Program 0 makes the access `times` times, each time `loop_stride` further than before, None if it makes
    the access once, or if the distance varies. `live` (the first time) and `last` (the last time) count the lanes along
    each dimension up to the last lane that the mask leaves on. `cut`: the mask of a store or atomic may switch off
    lanes that lie inside the tensor, in programs that make the access; `skipped`: some programs make it fewer times.
    `width` is the bytes that a lane takes as an element, 0 if that is not known. A compiler, or a view of another
    dtype, may make it less than an element of the tensor.
    """

    access: Literal["load", "store", "atomic"]
    kernel: Name
    line: Line
    tensor: Name
    buffer: Index
    grid: tuple[Count, Count, Count]
    tile: Sides
    first: Far
    lane_strides: Annotated[list[Far | None], Field(max_length=8)]
    program_strides: tuple[Far | None, Far | None, Far | None]
    even: bool
    loop_stride: Far | None
    times: Count
    live: Sides
    last: Sides
    cut: bool = True
    skipped: bool = False
    width: Count = 0

    @property
    def end(self) -> int | None:
        """Return the offset after the highest one that the programs of the launch reach, without regard to the mask;
        None if the accesses that were seen do not determine it."""
        counts = (*self.tile, *self.grid, self.times)
        apart = (*self.lane_strides, *self.program_strides, self.loop_stride)
        ways = [(count - 1, distance) for count, distance in zip(counts, apart, strict=True) if count > 1]
        if not self.even or any(distance is None for _, distance in ways):
            return None
        return self.first + 1 + sum(further * max(0, distance or 0) for further, distance in ways)


Finding = Annotated[
    OutOfBounds | MisalignedAccess | Recast | UnwrittenAccess | MaskedUse | Race | UndefinedBehaviour | Overflow
    | Assertion | EmptyGrid,
    Field(discriminator="kind")]
