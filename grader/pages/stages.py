"""The ladder: a submission's place among the course's stages, and the next stage."""

from __future__ import annotations

from statistics import geometric_mean

from grader.pages import charts
from grader.pages.margins import advised
from grader.pages.speed import positive
from grader.pages.text import figure, points
from grader.results.result import REFERENCE, AssignmentResult, Performance, Rung

# Stage 0 is PyTorch, which is the baseline under another name, and may not be handed in.
START = "V0 "
MOST_RUNGS = 24


def rungs(performance: Performance) -> list[charts.LadderRung]:
    """Return the ladder's rungs, the fastest first."""
    if performance.speedup is None:
        return []
    compiled = [t.baseline_us / t.compiled_us for t in performance.timings
                if t.compiled_us is not None and positive(t.baseline_us, t.compiled_us)]
    ladder = [charts.LadderRung("you", performance.speedup.median), charts.LadderRung("baseline", 1.0)]
    if compiled:
        ladder.append(charts.LadderRung("compiled", geometric_mean(compiled)))
    ladder += [charts.LadderRung(name, ratio)
              for name, ratio in (("target", performance.target), ("floor", performance.floor))
              if ratio is not None and positive(ratio)]
    ladder += [charts.LadderRung(rung.name, rung.ratio) for rung in course_rungs(performance)]
    return sorted(ladder, key=lambda rung: -rung.ratio)


def course_rungs(performance: Performance) -> list[Rung]:
    """Return the course's rungs that a logarithmic axis can show, in their order."""
    return [rung for rung in performance.ladder if positive(rung.ratio)][:MOST_RUNGS]


def ladder_place(performance: Performance) -> str:
    """Describe in a sentence between which of the course's rungs the submission is, and what the next rung teaches; ""
    without rungs.

    A kernel is level with a rung if its interval contains the rung's ratio. A title may contain `code`.
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
    """Suggest a next step after a right answer whose speed was not measured."""
    p = assignment.performance
    if p.status == "measured" or not p.max_points:
        return ""
    worst = advised(assignment.inspection)[:1] if assignment.inspection else []
    more = "".join(f" Before that look at line {lines[0]}, as the compiler and the memory system see it."
                   for lines, _ in worst)
    return f"its speed, {points(p.max_points)} points, once it is graded on a GPU.{more}"


def _named(rung: Rung) -> str:
    return "the finished kernel" if rung.name == REFERENCE else rung.name
