"""Why nothing was written to the output, as far as a plan shows it: no launch, none that takes it, an empty grid."""

from __future__ import annotations

from grader.assignment import Assignment
from grader.judge.explain.evidence import Finding
from grader.judge.explain.lines import place
from grader.judge.explain.runs import empty_grid
from grader.plan.plan import Launch, Plan, named
from grader.result import Detail


def explain_unwritten(assignment: Assignment, source: str, plan: Plan, call: int = 0) -> Detail | None:
    """Why a call of a plan cannot write its output, the first (0) or the steady one (1); None where it can.

    `source` is the student's file.
    """
    out = assignment.output.name
    operations = plan.calls()[min(call, len(plan.calls()) - 1)]
    given = {number for number, buffer in enumerate(plan.buffers) if buffer.given == out}
    reaching = [operation for operation in operations if named(operation) & given]
    if any(not isinstance(operation, Launch) or all(operation.grid) for operation in reaching):
        return None
    launches = [operation for operation in reaching or operations if isinstance(operation, Launch)]
    line = launches[0].line if launches else 0
    if reaching:
        finding = empty_grid(line, launches[0].grid)
    elif plan.returned == "tensor":
        finding = Finding(
            f"The function returns a new tensor, and {out} is passed to no launch.",
            f"Write into {out}: pass it to the kernel that stores the answer. What the function returns is ignored.",
            pattern="returned")
    elif launches:
        finding = Finding(
            f"{out} is passed to no launch.",
            f"Pass {out} itself to the kernel that stores the answer: what torch.empty gives is another tensor.",
            pattern="no launch")
    else:
        finding = Finding(
            "The kernel was never launched.",
            "Launch it in the function, as kernel[(programs,)](arguments), for all sizes.",
            pattern="no launch")
    return Detail(
        kind="unwritten", message=f"{out} was never written. {finding.seen}", hint=finding.look,
        pattern=finding.pattern, region=finding.region, place=place(assignment, source, line))
