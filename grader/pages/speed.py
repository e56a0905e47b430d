"""Measured speed in words: how fast, how many points and why, how close to the machine's limits, and where among the
course's stages."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import geometric_mean

from grader.pages.charts import LadderRung, SampleRow
from grader.pages.margins import advised
from grader.pages.text import figure, percent, points
from grader.results.result import IMPOSSIBLE, REFERENCE, AssignmentResult, Performance, Rung, Timing

# The bar of a share of the roof extends this far beyond the roof, so that a value above it is visible.
BAR_TOP = 1.2
ROOF_WORDS = {
    "device copy": "a device copy of the same bytes",
    "matrix product": "this GPU's best matrix product",
    "host to device": "a copy from pinned host memory to the device",
}


def measured(assignment: AssignmentResult) -> bool:
    """Return whether there is a speed to show."""
    speed = assignment.performance
    return speed.status == "measured" and speed.speedup is not None and positive(
        speed.speedup.low, speed.speedup.median, speed.speedup.high)


def how_fast(performance: Performance) -> str:
    """Return a sentence such as `0.97 times the speed of the baseline (0.96 to 0.98)`, with the number of cases if
    there are several."""
    interval = performance.speedup
    if interval is None:
        return ""
    over = f", over {len(performance.timings)} cases" if len(performance.timings) > 1 else ""
    name = performance.baseline or "the baseline"
    said = often(interval.median)
    return f"{said[0].upper()}{said[1:]} {name} ({figure(interval.low)} to {figure(interval.high)}{over})."


def often(ratio: float) -> str:
    """Return `0.97 times the speed of`, or `as fast as` for a ratio within a hundredth of 1."""
    return "as fast as" if abs(ratio - 1) <= 0.01 else f"{figure(ratio)} times the speed of"


def why_points(assignment: AssignmentResult) -> str:
    """Return sentences on the points, on the ratios between which they rise, and on the ratio for the next point."""
    speed = assignment.performance
    most, interval = points(speed.max_points), speed.speedup
    if not speed.max_points:
        return "Speed earns no points in this course."
    got = f"{points(speed.points)} of {most} points"
    if not assignment.right:
        return f"{got}: speed counts only in a kernel that is right."
    if speed.floor is None or speed.target is None or interval is None:
        return f"{got}."
    if speed.points >= speed.max_points:
        said = f"All {most} points: a ratio of {figure(speed.target)} or more earns them."
    elif speed.points <= 0:
        said = f"None of {most} points: they begin above a ratio of {figure(speed.floor)}{_next(speed)}."
    else:
        said = f"{got}: none at a ratio of {figure(speed.floor)}, all at {figure(speed.target)}{_next(speed)}."
    crossed = [name for name, ratio in (("floor", speed.floor), ("target", speed.target))
               if interval.low < ratio <= interval.high]
    return said + (f" The interval reaches across the {' and the '.join(crossed)}, and the doubt counts for you."
                   if crossed else "")


def next_ratio(performance: Performance) -> float | None:
    """Return roughly the ratio that earns one more point; None if there are no more points, or if it is reached."""
    if performance.floor is None or performance.target is None or performance.points >= performance.max_points:
        return None
    wanted = min(math.floor(performance.points) + 1, performance.max_points)
    ratio = performance.floor + (performance.target - performance.floor) * wanted / performance.max_points
    return ratio if performance.speedup is None or ratio > performance.speedup.median else None


def _next(performance: Performance) -> str:
    ratio = next_ratio(performance)
    if ratio is None:
        return ""
    # For a single case the ratio can be given as a time, which students can measure.
    times = [t for t in performance.timings if positive(t.baseline_us)]
    took = f", {figure(times[0].baseline_us / ratio)} µs a call" if len(performance.timings) == len(times) == 1 else ""
    return f"; the {'next' if performance.points > 0 else 'first'} point comes at about {figure(ratio)}{took}"


def how_far(performance: Performance) -> str:
    """Describe how close the timed cases come to the machine's roofs, in a sentence for each roof."""
    said = []
    for roof in dict.fromkeys(t.roof for t in performance.timings if share(t) is not None):
        shares = sorted((value, t.case) for t in performance.timings if t.roof == roof
                        if (value := share(t)) is not None)
        text, most = percent(shares[0][0]), percent(shares[-1][0])
        if text != most:
            text = f"{text} ({shares[0][1]}) to {most} ({shares[-1][1]})"
        said.append(f"It runs at {text} of the speed of {ROOF_WORDS.get(roof, 'what this machine can do at best')}.")
    return " ".join(said)


def share(timing: Timing) -> float | None:
    """Return the share of the roof; None if it is not known."""
    known = timing.roof_fraction
    return known if known is not None and positive(known) else None


def bar(timing: Timing) -> float:
    """Return the length of the bar of the roof's share, in percent of BAR_TOP."""
    return round(min(share(timing) or 0.0, BAR_TOP) / BAR_TOP * 100, 1)


def impossible(assignment: AssignmentResult) -> list[Timing]:
    """Return the times that exceed the machine's roof by more than the roof's uncertainty."""
    return [t for t in assignment.performance.timings if (share(t) or 0) > IMPOSSIBLE]


def teraflops(timing: Timing) -> str:
    """Return `604 of 680 TFLOP/s` for a matrix product with a known roof, else ""."""
    sizes = [timing.sizes.get(name) for name in "MNK"]
    if timing.roof != "matrix product" or None in sizes or timing.roof_us is None:
        return ""
    if not positive(timing.student_us, timing.roof_us):
        return ""
    # A multiply-add is two operations. A million operations in a microsecond are one TFLOP/s.
    work = 2 * math.prod(size for size in sizes if size is not None) / 1e6
    return f"{figure(work / timing.student_us)} of {figure(work / timing.roof_us)} TFLOP/s"


def sample_rows(performance: Performance) -> list[SampleRow]:
    """Return a row for each timed case: the ratios of all its blocks, and its interval."""
    return [SampleRow(t.case, usable(t.ratios), t.speedup) for t in performance.timings
            if usable(t.ratios) and positive(t.speedup.low, t.speedup.median, t.speedup.high)]


def thresholds(performance: Performance) -> dict[str, float]:
    """Return the ratios to mark across the samples, by name."""
    named = {"floor": performance.floor, "target": performance.target, "baseline": 1.0}
    return {name: ratio for name, ratio in named.items() if ratio is not None and positive(ratio)}


def usable(ratios: Iterable[float]) -> list[float]:
    """Return the ratios that a logarithmic axis can show."""
    return [ratio for ratio in ratios if positive(ratio)]


def positive(*values: float) -> bool:
    """Return whether a logarithmic axis can show all of these values."""
    # A NaN fails this comparison.
    return all(0 < value < math.inf for value in values)


# Stage 0 is PyTorch, which is the baseline under another name, and may not be handed in.
START = "V0 "
MOST_RUNGS = 24


def rungs(performance: Performance) -> list[LadderRung]:
    """Return the ladder's rungs, the fastest first."""
    if performance.speedup is None:
        return []
    compiled = [t.baseline_us / t.compiled_us for t in performance.timings
                if t.compiled_us is not None and positive(t.baseline_us, t.compiled_us)]
    ladder = [LadderRung("you", performance.speedup.median), LadderRung("baseline", 1.0)]
    if compiled:
        ladder.append(LadderRung("compiled", geometric_mean(compiled)))
    ladder += [LadderRung(name, ratio)
              for name, ratio in (("target", performance.target), ("floor", performance.floor))
              if ratio is not None and positive(ratio)]
    ladder += [LadderRung(rung.name, rung.ratio) for rung in course_rungs(performance)]
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
    performance = assignment.performance
    if performance.status == "measured" or not performance.max_points:
        return ""
    worst = advised(assignment.inspection)[:1] if assignment.inspection else []
    more = "".join(f" Before that look at line {lines[0]}, as the compiler and the memory system see it."
                   for lines, _ in worst)
    return f"its speed, {points(performance.max_points)} points, once it is graded on a GPU.{more}"


def _named(rung: Rung) -> str:
    return "the finished kernel" if rung.name == REFERENCE else rung.name
