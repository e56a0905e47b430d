"""What an edit changes, in words that give no solution away."""

from grader.plan.edits import EditKind

EDITS: dict[EditKind, str] = {
    "comparison": "another comparison",
    "operator": "another operator",
    "operands": "the two sides of an operator exchanged",
    "brackets": "other brackets",
    "constant": "another number",
    "name": "another variable",
    "exchanged": "two names exchanged",
    "order": "another order of what stands there",
    "moved": "a statement that belongs elsewhere",
    "mask": "another mask (or boundary_check)",
    "other": "another value where the mask is false",
    "index": "another index",
    "axis": "another axis",
    "missing": "something that is missing there",
    "extra": "something that should not be there",
    "rounding": "a division that is rounded in another way",
    "start": "another value to start from",
    "bound": "another bound or step of a loop",
    "type": "another type",
    "function": "another function",
    "grid": "another grid",
    "block": "another block size",
    "barrier": "a barrier",
    "place": "memory on the GPU",
    "factor": "a factor or divisor that is missing there",
    "end": "a last group of tiles that is cut to the rows that are left",
}
