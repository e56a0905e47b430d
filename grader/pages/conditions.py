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
    found = a.structure
    if not found.max_points or not a.right:
        return ""
    earning = [one for one in found.conditions if not one.required]
    met, unseen = sum(one.met is True for one in earning), sum(one.met is None for one in earning)
    if not earning:
        return f"The {points(found.max_points)} points for structure stay open. {sentence(found.reason)}"
    left = f", {unseen} not shown, which stay{'s' * (unseen == 1)} open" if unseen else ""
    return (f"{points(found.points)} of {points(found.max_points)} points for structure: {met} of {len(earning)} "
            f"condition{'s' * (len(earning) != 1)} met{left}.")


def shown(a: AssignmentResult) -> list[ShownCondition]:
    """Return the conditions that were looked at, first those that are not met."""
    words = {True: "met", False: "not met", None: "not shown"}
    found = [ShownCondition(CHECK_STATUS[_outcome(one)], words[one.met], _said(one),
                            one.look if one.met is False else "") for one in a.structure.conditions]
    order = [CHECK_STATUS[outcome] for outcome in ("failed", "not_run", "passed")]
    return sorted(found, key=lambda one: order.index(one.status))


def checks(a: AssignmentResult) -> list[CheckResult]:
    """Return the conditions as checks, for those who list checks."""
    return [CheckResult(
        id=f"structure-{one.name}", stage="structure", outcome=_outcome(one),
        detail=None if one.met else Detail(kind="condition", message=_said(one), hint=one.look))
        for one in a.structure.conditions if not one.required]


def _outcome(one: ConditionResult) -> Outcome:
    return "not_run" if one.met is None else "passed" if one.met else "failed"


def _said(one: ConditionResult) -> str:
    required = " This is required." if one.required else ""
    return f"The kernel has to {one.words}.{required} {one.said}".strip()
