"""The class in figures: what to read first, failures and their causes, points, speed, time.

Grades under another course file are shown, but medians, distributions and charts leave them out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TypeVar

from grader.pages.line import Cell, Line, comparable, devices
from grader.pages.speed import often, positive
from grader.pages.text import figure, points
from grader.results.mark import Mark, open_requests
from grader.results.verdicts import ACCEPTED, GRADERS_FAULT, STUDENTS_FAULT, UNJUDGED, UNTRIED, VERDICTS, Verdict

BINS = 10
MOST_LISTED = 5
MOST_TICKS = 7
MOST_CHECKS = 3
# Heights of successive dots in a lane, in percent, so that close ratios do not overlap.
HEIGHTS = (50, 26, 74, 38, 62)

K = TypeVar("K")
V = TypeVar("V")
LineCell = tuple[Line, Cell]


@dataclass(frozen=True)
class Column:
    """An assignment: the number of students with each verdict, first those who passed and then the most common
    verdicts; and the `checks` that fail most often among students who tried."""

    name: str
    title: str
    verdicts: list[tuple[Verdict, int]]
    scores: Counter[float]
    measured_max: float
    checks: list[tuple[str, int]]

    @property
    def tried(self) -> int:
        """Return the number of submissions that were handed in and judged."""
        return sum(count for verdict, count in self.verdicts if verdict not in UNJUDGED | UNTRIED)

    @property
    def passed(self) -> int:
        return dict(self.verdicts).get(ACCEPTED, 0)


@dataclass
class Group:
    """A failure that several students share. `words` name it, `text` is one student's message, and `hint` is the most
    common hint."""

    words: str
    verdict: Verdict
    text: str = ""
    cells: list[LineCell] = field(default_factory=list)

    @property
    def students(self) -> int:
        return len({line.folder for line, _ in self.cells})

    @property
    def hint(self) -> str:
        hints = Counter(cell.hint for _, cell in self.cells if cell.hint)
        return hints.most_common(1)[0][0] if hints else ""

    @property
    def is_varied(self) -> bool:
        """Return whether students got different hints."""
        return len({cell.hint for _, cell in self.cells if cell.hint}) > 1

    @property
    def mended(self) -> list[LineCell]:
        return [(line, cell) for line, cell in self.cells if cell.repair]

    @property
    def by_assignment(self) -> list[tuple[str, list[Line]]]:
        return list(_grouped((cell.title, line) for line, cell in self.cells).items())


@dataclass(frozen=True)
class Bar:
    """The number of students with points from `low` to `high`; `height` in percent of the highest bar."""

    low: float
    high: float
    count: int
    height: float


@dataclass(frozen=True)
class DotLane:
    """An assignment's ratios on the common axis. Positions are in percent from the left, heights in percent from the
    top."""

    title: str
    words: str
    dots: list[tuple[float, int]]
    marks: list[tuple[str, float]]


@dataclass(frozen=True)
class Speed:
    lanes: list[DotLane]
    ticks: list[tuple[str, float]]
    baseline: float


def columns(lines: Sequence[Line], absent: int = 0) -> list[Column]:
    """Return a column for each assignment, in the order in which lines first have it. `absent` is the number of
    students who handed in nothing."""
    order = list(VERDICTS)
    return [Column(name, cells[0].title, sorted(
        Counter([*(cell.verdict for cell in cells), *["missing"] * absent]).items(),
        key=lambda item: (item[0] != ACCEPTED, item[0] in UNJUDGED, -item[1], order.index(item[0]))),
        Counter(cell.score for cell in cells if cell.verdict not in UNJUDGED and not cell.other),
        max(cell.measured_max for cell in cells),
        sorted(Counter(check for cell in cells if cell.verdict not in UNTRIED for check in set(cell.failed)).items(),
               key=lambda item: (-item[1], item[0]))[:MOST_CHECKS])
        for name, cells in _grouped((name, cell) for line in lines for name, cell in line.cells.items()).items()]


def summary(lines: Sequence[Line]) -> str:
    """Describe the class in a sentence: the number of submissions, their median, and the hardest kernel."""
    if not lines:
        return "No submission has a result yet."
    count = "One submission" if len(lines) == 1 else f"{len(lines)} submissions"
    alike = comparable(lines)
    text = count
    if alike:
        whose = "the median is" if len(alike) == len(lines) else f"the median of the {len(alike)} graded alike is"
        text += f"; {whose} {points(median(line.score for line in alike))} of {points(alike[0].measured_max)} points"
    hardest = min((c for c in columns(lines) if c.tried), key=lambda c: c.passed / c.tried, default=None)
    if hardest and hardest.passed < hardest.tried:
        text += f"; {hardest.title} is the hardest, right in {hardest.passed} of {hardest.tried} handed in"
    return text + "."


def broken(lines: Sequence[Line]) -> list[Group]:
    """Return the failures of the grader, grouped by message, in descending order of frequency."""
    return _groups(lines, lambda cell: cell.verdict in GRADERS_FAULT, lambda cell: cell.message)


def mistakes(lines: Sequence[Line]) -> list[Group]:
    """Return students' mistakes, grouped by kind, in descending order of frequency; missing work comes last."""
    groups = _groups(lines, lambda cell: cell.verdict in STUDENTS_FAULT, lambda cell: cell.mistake)
    return sorted(groups, key=lambda group: group.verdict in UNTRIED)


def mended(lines: Sequence[Line]) -> tuple[int, int]:
    """Return the number of wrong kernels that one change makes right, and the number of all wrong kernels."""
    wrong = pick(lines, lambda cell: cell.verdict in STUDENTS_FAULT and cell.verdict not in UNTRIED)
    return sum(cell.repair is not None for _, cell in wrong), len(wrong)


def astray(lines: Sequence[Line]) -> list[tuple[Line, str]]:
    """Return a sentence for each student with files of the wrong name or in the wrong place."""
    strays = []
    for line in lines:
        titles = _grouped((cell.elsewhere, cell.title) for cell in line.cells.values() if cell.elsewhere)
        said = [f"Found {file}, perhaps meant for {', '.join(whose)}." for file, whose in titles.items()]
        said += [f"Found {', '.join(line.unread)}, which no assignment reads."] if line.unread else []
        strays += [(line, " ".join(said))] if said else []
    return strays


def waiting(lines: Sequence[Line]) -> list[tuple[Line, Cell, Mark]]:
    """Return the requests for regrading that have no answer, the oldest first."""
    return sorted(((line, cell, mark) for line in lines for cell in line.cells.values()
                   for mark in open_requests(cell.marks)), key=lambda item: item[2].id)


def marked(lines: Sequence[Line]) -> list[tuple[Line, Cell, Mark]]:
    """Return all marks, line by line."""
    return [(line, cell, mark) for line in lines for cell in line.cells.values() for mark in cell.marks]


def pick(lines: Sequence[Line], which: Callable[[Cell], bool]) -> list[LineCell]:
    return [(line, cell) for line in lines for cell in line.cells.values() if which(cell)]


def distribution(scores: Iterable[float], measured_max: float) -> list[Bar]:
    """Return a histogram of points, in ten equal steps from 0 to `measured_max`."""
    top = measured_max if measured_max > 0 else 1.0
    counts = Counter(min(max(int(score / top * BINS), 0), BINS - 1) for score in scores)
    most = max(counts.values(), default=1)
    return [Bar(i * top / BINS, (i + 1) * top / BINS, counts[i], round(100 * counts[i] / most, 1)) for i in range(BINS)]


def speed(lines: Sequence[Line]) -> Speed | None:
    """Return all ratios to the baseline's speed that were measured on the most common device, on one logarithmic
    axis."""
    device = next(iter(devices([line for line in lines if any(c.interval for c in line.cells.values())])), None)
    timed = _grouped((name, cell) for line in lines if line.environment.device == device
                     for name, cell in line.cells.items() if cell.interval and not cell.other)
    if not timed:
        return None
    every = [1.0] + [ratio for cells in timed.values() for ratio in (*_ratios(cells), *_marks(cells).values())]
    low, high = math.log(min(every) / 1.15), math.log(max(every) * 1.15)

    def place(ratio: float) -> float:
        return round(100 * (math.log(ratio) - low) / (high - low), 2)

    lanes = [DotLane(column.title, _said(ratios := _ratios(timed[column.name]), _marks(timed[column.name])),
                  [(place(ratio), HEIGHTS[number % len(HEIGHTS)]) for number, ratio in enumerate(ratios)],
                  [(name, place(ratio)) for name, ratio in _marks(timed[column.name]).items()])
             for column in columns(lines) if column.name in timed]
    ticks = [digit * 10.0**power for power in range(-5, 5) for digit in (1, 2, 5)
             if low < math.log(digit * 10.0**power) < high]
    if len(ticks) > MOST_TICKS:
        ticks = [tick for tick in ticks if f"{tick:e}"[0] == "1"]
    return Speed(lanes, [(f"{tick:g}×", place(tick)) for tick in ticks], place(1))


def slowest(lines: Sequence[Line]) -> list[tuple[Line, Cell, float]]:
    """Return the gradings that took longest, each with the median of its assignment, in seconds."""
    usual = {name: median(cells) for name, cells in _grouped(
        (name, cell.seconds) for line in lines for name, cell in line.cells.items()).items()}
    timed = [(line, cell, usual[name]) for line in lines for name, cell in line.cells.items() if cell.seconds > 0]
    return sorted(timed, key=lambda item: -item[1].seconds)[:MOST_LISTED]


def least_repeatable(lines: Sequence[Line]) -> list[tuple[Line, Cell, float]]:
    """Return the widest intervals of speed, each with half its width divided by its median."""
    wide = [(line, cell, (cell.interval.high - cell.interval.low) / cell.interval.median / 2)
             for line in lines for cell in line.cells.values() if cell.interval]
    return sorted(wide, key=lambda item: -item[2])[:MOST_LISTED]


def _ratios(cells: Sequence[Cell]) -> list[float]:
    return sorted(cell.interval.median for cell in cells if cell.interval)


def _marks(cells: Sequence[Cell]) -> dict[str, float]:
    named = {"floor": cells[0].floor, "target": cells[0].target,
             "reference": next((cell.reference for cell in cells if cell.reference), None)}
    return {name: ratio for name, ratio in named.items() if ratio is not None and positive(ratio)}


def _said(ratios: Sequence[float], marks: dict[str, float]) -> str:
    many = f"{len(ratios)} kernels, the median {often(median(ratios))} the baseline" if len(ratios) > 1 else \
        f"one kernel, {often(ratios[0])} the baseline"
    span = f", from {figure(ratios[0])}× to {figure(ratios[-1])}×" if len(ratios) > 1 else ""
    own = f"; the reference {figure(marks['reference'])}×" if "reference" in marks else ""
    return many + span + own


def _groups(lines: Sequence[Line], which: Callable[[Cell], bool], words: Callable[[Cell], str]) -> list[Group]:
    groups: dict[str, Group] = {}
    for line, cell in pick(lines, which):
        named = words(cell) or VERDICTS[cell.verdict].words
        groups.setdefault(named, Group(named, cell.verdict, cell.message)).cells.append((line, cell))
    return sorted(groups.values(), key=lambda group: (-group.students, -len(group.cells), group.words))


def _grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
