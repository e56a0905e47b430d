"""What the record of a run shows. It comes from the student's own process and can be forged: the source is read too."""

from __future__ import annotations

from collections.abc import Iterable

from grader.assignment import Assignment
from grader.judge.policy import allowed
from grader.judge.policy.findings import MAX_VIOLATIONS, Violation
from grader.plan.wire import KernelUse, OperatorUse


def judge_record(
    operators: Iterable[OperatorUse], kernels: Iterable[KernelUse], assignment: Assignment,
) -> list[Violation]:
    """What the record of one call shows against the rules, by line; at most `MAX_VIOLATIONS`."""
    uses = list(operators)
    free = allowed.FREE_OPERATORS | assignment.operators
    found = {Violation(use.line, use.name, _why_operator(use.name)) for use in uses if use.name not in free}
    fills = [use for use in uses if use.name == "aten::fill_" and use.count > allowed.MANY_FILLS]
    found |= {Violation(use.line, use.name, f"{use.count} fills in one call are an answer written from Python.")
              for use in fills}
    # A question, such as is_pinned, is no copy.
    copied = any(use.name in assignment.operators - allowed.FREE_OPERATORS for use in uses)
    if not copied and not any(use.programs for use in kernels):
        found.add(Violation(0, "no kernel was launched", "The work must be done by a Triton kernel of your own."))
    return sorted(found)[:MAX_VIOLATIONS]


def _why_operator(name: str) -> str:
    if name in allowed.EXITS or name == "aten::_local_scalar_dense":
        return "This reads a tensor's values into Python; your kernel is to work on them."
    if "::" not in name:
        return "A kernel needs no other process, no file and nothing of Python's insides."
    return "PyTorch ran this outside your kernels: there only allocation and views are free."
