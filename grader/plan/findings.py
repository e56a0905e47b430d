"""What a run of a plan has shown: facts as values, rendered to words by `grader.judge.explain` and nowhere else.

They come from a confined process that reads hostile text, so that each is capped.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grader.plan.plan import Line, Name, Shaped

Count = Annotated[int, Field(ge=0, lt=2**63)]
Program = tuple[Count, Count, Count]
"""Which program of a grid: its ids along x, y and z."""


class OutOfBounds(Shaped):
    """An access outside of its tensor. `tensor` is the kernel's name for the pointer (`x_ptr`), `given` the parameter
    behind it or "" for a temporary. `elements` is how many the buffer has, `lowest` and `highest` are the element
    offsets furthest outside; `lanes` of `active` lanes lay outside in the program that is named. `masked` tells whether
    the access had a mask."""

    kind: Literal["out_of_bounds"] = "out_of_bounds"
    access: Literal["load", "store", "atomic"]
    kernel: Name
    line: Line
    tensor: Name
    given: Name = ""
    elements: Count
    lowest: Annotated[int, Field(ge=-(2**63), lt=2**63)]
    highest: Annotated[int, Field(ge=-(2**63), lt=2**63)]
    lanes: Count
    active: Count
    programs: Count
    program: Program
    masked: bool


class Unwritten(Shaped):
    """A load of elements that nothing had written: of `out` (poison), or of a temporary from `torch.empty`."""

    kind: Literal["unwritten"] = "unwritten"
    kernel: Name
    line: Line
    tensor: Name
    given: Name = ""
    lanes: Count
    program: Program


class MaskedUsed(Shaped):
    """Lanes that a mask without `other` switched off are used: Triton leaves undefined what they hold."""

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
    """An integer of the kernel that passed the range of its type, as Triton's own debug checks see it."""

    kind: Literal["overflow"] = "overflow"
    kernel: Name
    line: Line
    type: Name
    operation: Name
    program: Program


class Assertion(Shaped):
    """A `tl.device_assert` of the kernel that does not hold."""

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


Finding = Annotated[
    OutOfBounds | Unwritten | MaskedUsed | Race | Overflow | Assertion | EmptyGrid, Field(discriminator="kind")]
