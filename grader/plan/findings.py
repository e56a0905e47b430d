"""What a run of a plan has shown: facts as values, rendered to words by `grader.judge.explain` and nowhere else.

They come from a confined process that reads hostile text, so that each is capped.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grader.plan.plan import Index, Line, Name, Shaped

MOST_ACCESSES = 24
"""Of one run, loads and stores that are told."""

Count = Annotated[int, Field(ge=0, lt=2**63)]
Far = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Sides = Annotated[list[Count], Field(max_length=8)]
Program = tuple[Count, Count, Count]
"""Which program of a grid: its ids along x, y and z."""


class OutOfBounds(Shaped):
    """An access outside of its tensor. `tensor` is the kernel's name for the pointer (`x_ptr`), `given` the parameter
    behind it or "" for a temporary. `elements` is how many the buffer has, `lowest` and `highest` are the element
    offsets furthest outside; `lanes` of `active` lanes lay outside in the program that is named. `masked` tells whether
    the access had a mask. A "granule" is the rest of the last bytes of a tensor that a descriptor's store writes as a
    whole."""

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


class Unwritten(Shaped):
    """A load of elements that nothing had written: of `out` (poison), or of a temporary from `torch.empty`. Where
    `kernel` is "" host code copied them."""

    kind: Literal["unwritten"] = "unwritten"
    kernel: Name
    line: Line
    tensor: Name
    given: Name = ""
    lanes: Count
    program: Program


class MaskedUsed(Shaped):
    """Lanes that a mask switched off, and that were given no value, are used: what they hold is undefined."""

    kind: Literal["masked_used"] = "masked_used"
    kernel: Name
    line: Line
    tensor: Name


class Race(Shaped):
    """Two programs of one launch that touch the same element without atomics, at least one of them writing.

    `certain` where both store, and different values: which of them stays is the machine's choice.
    """

    kind: Literal["race"] = "race"
    kernel: Name
    line: Line
    tensor: Name
    given: Name = ""
    element: Count
    programs: tuple[Program, Program]
    certain: bool


class Overflow(Shaped):
    """An integer of the kernel that passed the range of its type, as debug checks of its language see it."""

    kind: Literal["overflow"] = "overflow"
    kernel: Name
    line: Line
    type: Name
    operation: Name
    program: Program


class Assertion(Shaped):
    """An assertion in the kernel that does not hold."""

    kind: Literal["assertion"] = "assertion"
    kernel: Name
    line: Line
    message: Annotated[str, Field(max_length=500)]
    program: Program


class EmptyGrid(Shaped):
    """A launch of no program at all."""

    kind: Literal["empty_grid"] = "empty_grid"
    kernel: Name
    line: Line
    grid: tuple[Count, Count, Count]


Undefinable = Literal[
    "lanes", "reorder", "hint", "pipeline", "index", "reduction", "programs", "ticket",
    "descriptor", "unwaited", "visible", "barrier", "warp", "relaxed", "tuner",
    "spin", "assume", "fresh", "unordered",
]  # fmt: skip
"""What a kernel may leave to chance: see `Undefined`."""


class Undefined(Shaped):
    """What neither the language nor a GPU defines, and the simulator does.

    Where its order is one of several that are allowed: `lanes` of one store have different values for one element;
    `reorder`: a reshape or concatenation may put its elements in any order; `hint`: a promise to the compiler about
    addresses or values is not so; `pipeline`: a load that may be made before a store of an earlier round of its loop;
    `index`: a gather outside of its source; `reduction`: one whose function may depend on the order;
    `programs`: one uses what another stores in the same launch; `ticket`: programs are told apart by an atomic;
    `unordered`: one loads what another stores in a launch with atomics, none of which orders the two. These are
    `certain` only where the answer was seen to depend on it.

    Wherever it is met: a `descriptor` that no device takes; what an earlier launch wrote is read by a programmatic one
    that has not waited for it, and which that launch started ahead of its end (`unwaited`) or not (`visible`);
    `barrier`: what another lane stored is read without one, in a program of several warps, or of one (`warp`);
    `relaxed`: atomics that order nothing are relied on; `tuner`: configurations that are tried on the same buffers,
    which the kernel adds to; `spin`: a loop that waits by plain loads, and that a compiler takes out; `assume`: an
    assumption stated to the compiler does not hold. `fresh`: what nothing has written is read, and the answer depends
    on it.

    `tensor`, `element` and `programs` are what it concerns, as far as there is one.
    """

    kind: Literal["undefined"] = "undefined"
    what: Undefinable
    kernel: Name
    line: Line
    tensor: Name = ""
    given: Name = ""
    element: Count = 0
    programs: Annotated[list[Program], Field(max_length=2)] = []
    certain: bool = True


class Access(Shaped):
    """Where the lanes of a load, store or atomic lie, as the first programs of a launch show it: what it does whatever
    its mask, in elements of its buffer.

    `first` is lane 0 of program 0; `lanes` how far neighbours lie apart along each dimension of the `tile`, None where
    they do so unevenly; `programs` how far program 0 and the next one lie apart along each axis of the grid, None where
    there is but one or it was not seen, `even` whether all that were seen do; `step` how far program 0 has moved when
    it comes here again, None where it does not. It comes here `times`. `live` and `last` count lanes along each
    dimension up to the last one that the mask leaves on, the first and the last of these times.
    """

    access: Literal["load", "store", "atomic"]
    kernel: Name
    line: Line
    tensor: Name
    buffer: Index
    grid: tuple[Count, Count, Count]
    tile: Sides
    first: Far
    lanes: Annotated[list[Far | None], Field(max_length=8)]
    programs: tuple[Far | None, Far | None, Far | None]
    even: bool
    step: Far | None
    times: Count
    live: Sides
    last: Sides


Finding = Annotated[
    OutOfBounds | Unwritten | MaskedUsed | Race | Undefined | Overflow | Assertion | EmptyGrid,
    Field(discriminator="kind")]
