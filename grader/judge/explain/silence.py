"""Why nothing was written to the output, as far as a plan shows it: no launch, none that takes it, an empty grid."""

from __future__ import annotations

from grader.assignment import Assignment
from grader.judge.explain.evidence import Finding
from grader.judge.explain.lines import place
from grader.judge.explain.runs import empty_grid
from grader.plan.plan import Copy, Data, Fill, Launch, Operation, Plan
from grader.result import Detail


def explain_unwritten(assignment: Assignment, source: str, plan: Plan, call: int = 0) -> Detail | None:
    """Why a call of a plan cannot write its output, the first (0) or the steady one (1); None where it can.

    `source` is the student's file.
    """
    found = silent(assignment, plan, call)
    if found is None:
        return None
    finding, line = found
    return Detail(
        kind="unwritten", message=f"{assignment.output.name} was never written. {finding.seen}", hint=finding.look,
        pattern=finding.pattern, place=place(assignment, source, line))


def silent(assignment: Assignment, plan: Plan, call: int) -> tuple[Finding, int] | None:
    """What a plan shows, and in which line."""
    out = assignment.output.name
    operations = plan.calls()[min(call, len(plan.calls()) - 1)]
    given = {number for number, buffer in enumerate(plan.buffers) if buffer.given == out}
    launches = [operation for operation in operations if isinstance(operation, Launch)]
    reaching = [operation for operation in operations if _takes(operation) & given]
    if any(not isinstance(operation, Launch) or all(operation.grid) for operation in reaching):
        return None
    if empty := [operation for operation in reaching if isinstance(operation, Launch)]:
        return empty_grid(empty[0].line, empty[0].grid), empty[0].line
    if plan.returned == "tensor":
        return Finding(
            f"The function returns a new tensor, and {out} is passed to no launch.",
            f"Write into {out}: pass it to the kernel as what it stores to. What the function returns is not looked "
            "at.", pattern="returned"), 0
    if not launches:
        return Finding(
            "The kernel was never launched.",
            "Launch it in the function, as kernel[(programs,)](arguments): is the grid in square brackets, and is the "
            "launch reached for these sizes?", pattern="no launch"), 0
    return Finding(
        f"{out} is passed to no launch.",
        f"Pass {out} itself to the kernel that stores the answer: a tensor from torch.empty is another one.",
        pattern="no launch"), launches[-1].line


def _takes(operation: Operation) -> set[int]:
    """The buffers that an operation may write to."""
    match operation:
        case Launch():
            return {one.buffer if one.kind == "pointer" else one.view.buffer
                    for one in operation.arguments if one.kind in ("pointer", "descriptor")}
        case Copy() | Fill():
            return {operation.target.buffer}
        case Data():
            return {operation.buffer}
