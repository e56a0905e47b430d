"""The conditions on how a kernel works, in words."""

from __future__ import annotations

from dataclasses import dataclass

from grader.pages.findings import CHECK_STATUS, Status, sentence
from grader.pages.text import points
from grader.results.result import AssignmentResult, CheckResult, Detail, Outcome
from grader.results.structure import ConditionResult


@dataclass(frozen=True)
class ShownCondition:
    """A condition with its status in a word, the sentences about it, and what to do, "" where it is met."""

    status: Status
    word: str
    said: str
    look: str


def heading(a: AssignmentResult) -> str:
    """Return the sentence about the points for structure; "" if the course gives none, or none here."""
    structure = a.structure
    if not structure.max_points or not a.right:
        return ""
    earning = [condition for condition in structure.conditions if not condition.required]
    met = sum(condition.met is True for condition in earning)
    unseen = sum(condition.met is None for condition in earning)
    if not earning:
        return f"The {points(structure.max_points)} points for structure stay open. {sentence(structure.reason)}"
    left = f", {unseen} not shown, which stay{'s' * (unseen == 1)} open" if unseen else ""
    return (f"{points(structure.points)} of {points(structure.max_points)} points for structure: {met} of "
            f"{len(earning)} condition{'s' * (len(earning) != 1)} met{left}.")


def shown(a: AssignmentResult) -> list[ShownCondition]:
    """Return the conditions that were checked, first those that are not met."""
    words = {True: "met", False: "not met", None: "not shown"}
    conditions = [ShownCondition(CHECK_STATUS[_outcome(condition)], words[condition.met], _said(condition),
                                 condition.look if condition.met is False else "")
                  for condition in a.structure.conditions]
    order = [CHECK_STATUS[outcome] for outcome in ("failed", "not_run", "passed")]
    return sorted(conditions, key=lambda condition: order.index(condition.status))


def checks(a: AssignmentResult) -> list[CheckResult]:
    """Return the conditions as checks, for those who list checks."""
    return [CheckResult(
        id=f"structure-{condition.name}", stage="structure", outcome=_outcome(condition),
        detail=None if condition.met else Detail(kind="condition", message=_said(condition), hint=condition.look))
        for condition in a.structure.conditions if not condition.required]


def _outcome(condition: ConditionResult) -> Outcome:
    return "not_run" if condition.met is None else "passed" if condition.met else "failed"


def _said(condition: ConditionResult) -> str:
    required = " This is required." if condition.required else ""
    return f"The kernel has to {condition.words}.{required} {condition.said}".strip()
