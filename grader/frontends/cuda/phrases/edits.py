"""What an edit changes, in words that give no solution away."""

from grader.plan.edits import EditKind

EDITS: dict[EditKind, str] = {
    "comparison": "another comparison",
    "operator": "another operator",
    "constant": "another number",
    "name": "another variable",
    "exchanged": "two names exchanged",
    "order": "another order of what stands there",
    "index": "another index",
    "axis": "x in place of y, or y in place of x",
    "missing": "something that is missing there",
    "extra": "a statement that should not be there",
    "rounding": "a division that is rounded in another way",
    "start": "a value to start from",
    "type": "another type",
    "function": "another function",
    "grid": "another grid",
    "block": "another number of threads",
    "barrier": "a barrier",
    "member": "another of the members .x, .y, .z and .w",
    "factor": "a factor or divisor that is missing there",
    "end": "an end that a size limits",
}
