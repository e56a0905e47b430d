"""Why a submission failed, and where its author should look: hints that follow from evidence, never from a guess."""

from grader.judge.explain.case import explain_case
from grader.judge.explain.failures import explain_failure
from grader.judge.explain.summary import explain_assignment

__all__ = ["explain_assignment", "explain_case", "explain_failure"]
