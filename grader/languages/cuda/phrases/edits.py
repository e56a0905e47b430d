"""Descriptions of edits, in words that give no solution away."""

from grader.plan.edits import EditKind

EDITS: dict[EditKind, str] = {
    "comparison": "a different comparison",
    "operator": "a different operator",
    "constant": "a different number",
    "name": "a different variable",
    "exchanged": "two names exchanged",
    "order": "two parts exchanged",
    "index": "a different index",
    "axis": "x in place of y, or y in place of x",
    "missing": "a missing part added",
    "extra": "a statement that should not be there",
    "rounding": "a division that is rounded in a different way",
    "start": "an initial value",
    "type": "a different type",
    "function": "a different function",
    "grid": "a different grid",
    "block": "a different number of threads",
    "barrier": "a barrier",
    "member": "a different one of the members .x, .y, .z and .w",
    "factor": "a missing factor or divisor added",
    "end": "an end that is limited by a size",
}
