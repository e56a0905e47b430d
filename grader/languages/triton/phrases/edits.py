"""The change that an edit makes, in words that give no solution away."""

from grader.plan.edits import EditKind

EDITS: dict[EditKind, str] = {
    "comparison": "a different comparison",
    "operator": "a different operator",
    "operands": "the two sides of an operator exchanged",
    "brackets": "different brackets",
    "constant": "a different number",
    "name": "a different variable",
    "exchanged": "two names exchanged",
    "order": "two parts exchanged",
    "moved": "a statement that belongs elsewhere",
    "mask": "a different mask (or boundary_check)",
    "other": "a different value where the mask is false",
    "index": "a different index",
    "axis": "a different axis",
    "missing": "a missing part added",
    "extra": "something that should not be there",
    "rounding": "a division that is rounded in a different way",
    "start": "a different initial value",
    "bound": "a different bound or step of a loop",
    "type": "a different type",
    "function": "a different function",
    "grid": "a different grid",
    "block": "a different block size",
    "barrier": "a barrier",
    "place": "memory on the GPU",
    "factor": "a missing factor or divisor added",
    "end": "a last group of tiles that is cut to the rows that are left",
}
