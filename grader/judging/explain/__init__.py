"""Messages and hints: why a submission failed, and what its author should inspect. A hint follows from evidence; a part
that does not is marked as a guess.

Facts come in as values and leave as sentences.
"""

from grader.judging.explain.case import explain_case
from grader.judging.explain.explained_call import ExplainedCall
from grader.judging.explain.failures import explain_failure, explain_unreadable
from grader.judging.explain.findings import explain_findings
from grader.judging.explain.operations import between_elements, left_unread
from grader.judging.explain.refusals import (
    explain_condition,
    explain_foreign,
    explain_missing,
    explain_remarks,
    explain_slips,
)
from grader.judging.explain.stops import explain_slow, explain_stop, explain_timed
from grader.judging.explain.summary import explain_assignment

__all__ = [
    "ExplainedCall", "between_elements", "explain_assignment", "explain_case", "explain_condition", "explain_failure",
    "explain_findings", "explain_foreign", "explain_missing", "explain_remarks", "explain_slips", "explain_slow",
    "explain_stop", "explain_timed", "explain_unreadable", "left_unread",
]
