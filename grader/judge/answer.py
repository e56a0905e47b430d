"""What is wrong with an answer, with the line that evidence names and what was printed."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judge.compare import Comparison
from grader.judge.explain import explain_case, explain_failure
from grader.judge.prepared import Prepared
from grader.judge.simulation import Ran
from grader.model.assignment import Case, Inputs
from grader.model.result import Detail
from grader.plan.plan import Plan


def explain_answer(
    prepared: Prepared, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran, comparison: Comparison
) -> Detail | None:
    """What is wrong with what the last of these calls left; None if nothing is. Raises InfrastructureError."""
    task = prepared.task
    detail = explain_case(
        task.assignment, case, inputs[-1], ran.output, comparison, inputs_changed=ran.changed, findings=ran.findings,
        accesses=ran.accesses, plan=plan, call=len(inputs) - 1, source=task.text)
    if detail is None and ran.touched:
        detail = explain_failure(
            task.assignment, "out_of_bounds", f"A store lies outside of {' and '.join(ran.touched)}.")
    if detail is None:
        return None
    placed = prepared.witness.placed(detail, case, inputs, comparison, ran.findings)
    return placed.model_copy(update={"traceback": "", "output": ran.printed})
