"""The ladder: where a submission stands among the stages that the course teaches, and what the next one brings."""

from __future__ import annotations

from statistics import geometric_mean

from grader.model.result import REFERENCE, AssignmentResult, Performance, Rung
from grader.report import charts
from grader.report.margins import advised
from grader.report.speed import positive
from grader.report.text import figure, points

# Stage 0 is PyTorch: the baseline under another name, and nothing that may be handed in.
START = "V0 "
MOST_RUNGS = 24


def rungs(performance: Performance) -> list[charts.Rung]:
    """What the ladder compares, the fastest first."""
    if performance.speedup is None:
        return []
    compiled = [t.baseline_us / t.compiled_us for t in performance.timings
                if t.compiled_us is not None and positive(t.baseline_us, t.compiled_us)]
    found = [charts.Rung("you", performance.speedup.median), charts.Rung("baseline", 1.0)]
    if compiled:
        found.append(charts.Rung("compiled", geometric_mean(compiled)))
    found += [charts.Rung(name, ratio) for name, ratio in (("target", performance.target), ("floor", performance.floor))
              if ratio is not None and positive(ratio)]
    found += [charts.Rung(rung.name, rung.ratio) for rung in course_rungs(performance)]
    return sorted(found, key=lambda rung: -rung.ratio)


def course_rungs(performance: Performance) -> list[Rung]:
    """The course's own rungs that an axis can show, as they came."""
    return [rung for rung in performance.ladder if positive(rung.ratio)][:MOST_RUNGS]


def standing(performance: Performance) -> str:
    """Between which rungs of the course the submission stands, and what the next one teaches; "" if there are none.

    A kernel whose interval holds a rung's ratio is level with it. A title may hold `code`.
    """
    you = performance.speedup
    steps = sorted((rung for rung in course_rungs(performance) if not rung.name.startswith(START)),
                   key=lambda rung: rung.ratio)
    if you is None or not steps:
        return ""
    below = [rung for rung in steps if rung.ratio < you.low]
    above = [rung for rung in steps if rung.ratio > you.high]
    level = [rung for rung in steps if you.low <= rung.ratio <= you.high]
    if level:
        said = f"Level with {' and '.join(_named(rung) for rung in level)}"
    elif below and above:
        said = f"Between {_named(below[-1])} and {_named(above[0])}"
    elif len(steps) == 1 and steps[0].name == REFERENCE:
        said = f"{'Above' if below else 'Below'} {_named(steps[0])}"
    else:
        said = f"{'Above' if below else 'Below'} every stage of the course"
    if not above:
        return f"{said}."
    title = f": “{above[0].title}”" if above[0].title and above[0].name != REFERENCE else ""
    return f"{said}. Next is {_named(above[0])} at {figure(above[0].ratio)}×{title}."


def next_step(assignment: AssignmentResult) -> str:
    """What comes after a right answer, where the speed that was measured does not say it."""
    p = assignment.performance
    if p.status == "measured" or not p.max_points:
        return ""
    worst = advised(assignment.inspection)[:1] if assignment.inspection else []
    more = "".join(f" Before that look at line {lines[0]}, as the compiler and the memory system see it."
                   for lines, _ in worst)
    return f"its speed, {points(p.max_points)} points, once it is graded on a GPU.{more}"


def _named(rung: Rung) -> str:
    return "the finished kernel" if rung.name == REFERENCE else rung.name
