"""Why nothing was written to a tensor, as far as a plan shows it: no launch, none that takes it, an empty grid, or one
that comes after the launch that reads it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader import frontends
from grader.judge.explain.evidence import Finding, plural
from grader.judge.explain.lines import in_line, phrases_of, place, quoted
from grader.judge.explain.runs import empty_grid
from grader.model.assignment import Assignment
from grader.model.result import Detail
from grader.plan.findings import Access, Unwritten
from grader.plan.plan import Copy, Launch, Plan, Pointer, named


def explain_unwritten(assignment: Assignment, source: str, plan: Plan, call: int = 0) -> Detail | None:
    """Why a call of a plan cannot write its output, the first (0) or the steady one (1); None where it can.

    `source` is the student's file.
    """
    out = assignment.output.name
    operations = plan.calls()[min(call, len(plan.calls()) - 1)]
    given = {number for number, buffer in enumerate(plan.buffers) if buffer.given == out}
    # A copy does not write its source.
    reaching = [operation for operation in operations if named(operation) & given
                and not (isinstance(operation, Copy) and operation.target.buffer not in given)]
    if any(not isinstance(operation, Launch) or all(operation.grid) for operation in reaching):
        return None
    copies = [operation for operation in operations if isinstance(operation, Copy)]
    launches = [operation for operation in reaching or operations if isinstance(operation, Launch)]
    line = launches[0].line if launches else copies[-1].line if copies else 0
    words = phrases_of(assignment)
    copied = words.calls.copy_into.format(out=out) if assignment.operators else ""
    if reaching:
        finding = empty_grid(line, launches[0].grid, words)
    elif plan.returned == "tensor":
        finding = Finding(
            f"The function returns a new tensor, and nothing writes to {out}.",
            words.calls.returned.format(out=out, copy_into=copied), pattern="returned")
    elif copies and not launches:
        finding = Finding(
            f"The copy{in_line(line)} goes into another tensor, and none into {out}.",
            words.calls.no_copy.format(out=out), pattern="no copy")
    elif launches:
        finding = Finding(
            f"{out} is passed to no launch.", words.calls.not_passed.format(out=out), pattern="no launch")
    else:
        finding = Finding(
            "The kernel was never launched.", words.calls.no_launch, pattern="no launch")
    return Detail(
        kind="unwritten", message=f"{out} was never written. {finding.seen}", hint=finding.look,
        pattern=finding.pattern, place=place(assignment, source, line))


def read_too_early(found: Unwritten, accesses: Sequence[Access], plan: Plan, call: int) -> Finding | None:
    """Says that a launch reads a temporary to which only a later launch of the same call stores.

    `accesses` are what was seen of the call.
    """
    stores = {(one.kernel, one.buffer) for one in accesses if one.access != "load"}
    operations = plan.calls()[min(call, len(plan.calls()) - 1)]
    launches = [one for one in operations if isinstance(one, Launch)]
    for number, launch in enumerate(launches):
        kernel = plan.kernels[launch.kernel]
        if kernel.name != found.kernel:
            continue
        names = frontends.of(kernel).argument_names(kernel)
        read = {argument.buffer for name, argument in zip(names, launch.arguments, strict=True)
                if name == found.tensor and isinstance(argument, Pointer)}
        storing = [at for at, one in enumerate(launches)
                   if not {(plan.kernels[one.kernel].name, buffer) for buffer in named(one) & read}.isdisjoint(stores)]
        if storing and storing[0] > number:
            return Finding(
                f"The launch in line {launch.line} reads {quoted(found.tensor)}, which nothing has written yet: the "
                f"launch in line {launches[storing[0]].line}, which stores there, comes after it.",
                "Launches run one after another, as they are written: the one that stores comes first.",
                pattern="reads too early", line=launch.line)
    return None


def explain_copies(out: str, plan: Plan, call: int, elements: int) -> Finding | None:
    """What copies into an output leave out, or write twice, where copies alone write to it."""
    operations = plan.calls()[min(call, len(plan.calls()) - 1)]
    given = {number for number, buffer in enumerate(plan.buffers) if buffer.given == out}
    copies = [one for one in operations if isinstance(one, Copy) and one.target.buffer in given]
    if not copies or any(isinstance(one, Launch) and named(one) & given for one in operations):
        return None
    starts = {one.target.offset for one in copies}
    total = sum(math.prod(one.target.shape) for one in copies)
    many = f"The copies{in_line(copies[0].line)} write {plural(len(copies), 'part')} of {out}"
    if len(starts) < len(copies):
        return Finding(f"{many}, and more than one of them begins at the same element.",
                       f"Each part goes to a place of its own: which slice of {out} is it?", pattern="copies",
                       line=copies[0].line)
    if total < elements:
        return Finding(f"{many}, {total:,} of {elements:,} elements in all.",
                       "Is the last, partial one among them? A size divided with // rounds down.", pattern="copies",
                       line=copies[0].line)
    return None
