"""The class in figures: for each assignment, how many are right, and what goes wrong most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from grader.report.charts import Row
from grader.report.findings import CHECK_STATUS, FAILED, PARTLY, PASSED, UNMEASURED, Status, label, status
from grader.report.load import Entry
from grader.report.speed import measured, often, thresholds
from grader.report.text import figure, points

MOST = 3
STATUSES = (PASSED, PARTLY, FAILED, UNMEASURED)


@dataclass
class Tally:
    """One assignment over the whole class. What could not be judged is in `count`, but not in `scores`."""

    name: str
    title: str
    maximum: float = 0
    scores: list[float] = field(default_factory=list)
    count: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    hints: Counter[str] = field(default_factory=Counter)
    ratios: list[float] = field(default_factory=list)
    lines: dict[str, float] = field(default_factory=dict)

    @property
    def row(self) -> Row:
        """The class's ratios, sorted, for the strip."""
        return Row("", sorted(self.ratios))

    @property
    def speed(self) -> str:
        """What the ratios come to, in a sentence."""
        many = f"{len(self.ratios)} kernels" if len(self.ratios) > 1 else "one kernel"
        text = f"Speed of {many}: the median is {often(median(self.ratios))} the baseline"
        return f"{text}, from {figure(min(self.ratios))} to {figure(max(self.ratios))}." if len(self.ratios) > 1 \
            else f"{text}."

    @property
    def counts(self) -> list[tuple[Status, int]]:
        return [(s, self.count[s.key]) for s in STATUSES if self.count[s.key]]

    @property
    def top_checks(self) -> list[tuple[str, int]]:
        return _top(self.checks)

    @property
    def top_hints(self) -> list[tuple[str, int]]:
        return _top(self.hints)


def tallies(entries: Sequence[Entry]) -> list[Tally]:
    """One tally an assignment, in the order of the first result that has it."""
    found: dict[str, Tally] = {}
    for entry in entries:
        for name, assignment in entry.result.assignments.items():
            tally = found.setdefault(name, Tally(name, assignment.title))
            tally.maximum = max(tally.maximum, assignment.measured_max)
            state = status(assignment)
            tally.count[state.key] += 1
            if state is UNMEASURED:
                continue
            tally.scores.append(assignment.score)
            speedup = assignment.performance.speedup
            if measured(assignment) and speedup is not None:
                tally.ratios.append(speedup.median)
                tally.lines = tally.lines or thresholds(assignment.performance)
            failed = [c for c in assignment.correctness.checks if CHECK_STATUS[c.outcome] is FAILED]
            tally.checks.update({label(check) for check in failed})
            tally.hints.update({hint for hint in (assignment.hint, *(c.detail.hint for c in failed if c.detail))
                                if hint})
    return list(found.values())


def summary(entries: Sequence[Entry]) -> str:
    """One sentence on the class: how many, the middle, and the kernel that most still have to get right."""
    if not entries:
        return "No submission has a result yet."
    count = "One submission" if len(entries) == 1 else f"{len(entries)} submissions"
    most = max(entry.result.measured_max for entry in entries)
    text = f"{count}; the median is {points(median(e.result.score for e in entries))} of {points(most)} points"
    graded = [t for t in tallies(entries) if t.scores]
    hardest = min(graded, key=lambda t: t.count["passed"] / len(t.scores), default=None)
    if hardest and hardest.count["passed"] < len(hardest.scores):
        text += f"; {hardest.title} is the hardest, right in {hardest.count['passed']} of {len(hardest.scores)}"
    return text + "."


def _top(counter: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counter.items(), key=lambda item: (-item[1], item[0]))[:MOST]
