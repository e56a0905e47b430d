"""Whether the work was done by the student's own kernels: read from the source, and judged from the record of a run."""

from grader.judge.policy.findings import Violation
from grader.judge.policy.reader import read_source
from grader.judge.policy.record import judge_record
from grader.judge.policy.source import SourceProblem

__all__ = ["SourceProblem", "Violation", "judge_record", "read_source"]
