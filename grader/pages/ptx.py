"""A kernel's PTX for people to read: each instruction with its source line, and important instructions marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.results.launched import TENSOR_INSTRUCTIONS

_TENSOR = f"(?:{'|'.join(map(re.escape, TENSOR_INSTRUCTIONS))})"
# The first pattern that matches counts. See "Instructions" in the PTX ISA.
KINDS = (
    (r"cp\.async\.bulk", "copy engine"), (r"cp\.async\.c", "asynchronous copy"), (r"ld\S*\.global", "load"),
    (r"st\S*\.global", "store"), (r"(?:atom|red)\.", "atomic"), (_TENSOR, "tensor cores"),
    (r"(?:ld|st)\S*\.shared|ldmatrix|stmatrix", "shared memory"), (r"shfl\.", "between lanes"),
    (r"bar\.sync|barrier\.", "barrier"), (r"(?:ld|st)\S*\.local", "local memory"),
    (r"div\.|rcp\.|sqrt\.|rsqrt\.|ex2\.|sin\.|cos\.", "special function"), (r"bra\b", "branch"))
_KINDS = [(re.compile(rf"(?:^|\s){pattern}"), kind) for pattern, kind in KINDS]
_PLACE = re.compile(r"[ \t]*\.loc[ \t]+(\d{1,7})[ \t]+(\d{1,7})\s")
_LEFT_OUT = ("//", ".file", "$L__tmp", "$L__func_")


@dataclass(frozen=True)
class PtxInstruction:
    """An instruction of PTX. `line` is 0 before the first source line; `kind` is "" if the instruction is not
    marked."""

    line: int
    text: str
    kind: str


def instructions(ptx: str) -> Iterator[PtxInstruction]:
    """Return the instructions of a PTX text, without the lines for debuggers."""
    line, own = 0, ""
    for text in ptx.split(".section", maxsplit=1)[0].splitlines():
        if place := _PLACE.match(text):
            own = own or place[1]
            line = int(place[2]) if place[1] == own else line
        elif (word := text.strip()) and not word.startswith(_LEFT_OUT):
            plain = text.partition("//")[0].rstrip().expandtabs(4)
            kind = next((kind for pattern, kind in _KINDS if pattern.search(plain)), "")
            yield PtxInstruction(line, plain, kind)
