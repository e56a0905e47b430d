"""Charts as inline SVG. Text stays text, colours follow the page's theme, and the same data gives the same bytes.

No library is used: a class of 300 with speed has 3,600 charts, and a rescoring draws all of them again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

from grader.results.result import Interval

# In CSS pixels. Two charts stand side by side in a card.
WIDTH, LADDER_ROW, STRIP_ROW, LABEL_ROW, TICKS = 460, 24, 40, 15, 26
FONT, SIGN = 12, 7.7
"""The size of text, and the width of a digit in the widest of the page's fonts, both in pixels."""
INK, MUTED, LINE, ACCENT, PAPER = (f"var(--{name})" for name in ("ink", "muted", "line", "accent", "paper"))
CIRCLE, STROKE = "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z", "M-.7-6h1.4v12h-1.4Z"
# Each series has its own marker, so that colours are not needed to distinguish them.
MARKERS = {"you": ("M0-6.5 6.5 0 0 6.5-6.5 0Z", ACCENT), "baseline": ("M-4.5-4.5h9v9h-9Z", MUTED),
           "compiled": ("M0-5.5 5.5 4.5h-11Z", MUTED), "target": (STROKE, INK), "floor": (STROKE, INK),
           "reference": ("M0 5.5-5.5-4.5h11Z", MUTED)}
DASHES = {"floor": "1.5 3", "target": "6 3"}
# The smallest ratio between the ends of an axis, so that noise of a tenth of a percent looks small.
LEAST_ROOM = 1.03
# A line within this ratio of the dots widens the axis; one further away would squeeze the dots together.
NEAR = 1.3
# The smallest ratio that is drawn: smaller ones cannot have been measured.
LEAST = 1e-9
MOST_ROWS, MOST_DOTS, MOST_SIGNS, MOST_TICKS = 12, 400, 24, 7


@dataclass(frozen=True)
class LadderRung:
    """A named ratio to the baseline's speed."""

    name: str
    ratio: float


@dataclass(frozen=True)
class SampleRow:
    """Ratios in the order of measurement, and their interval if it is informative."""

    name: str
    ratios: Sequence[float]
    interval: Interval | None = None


@dataclass(frozen=True)
class _Axis:
    """Ratios from `low` to `high`, logarithmic, between the pixels `left` and `right`."""

    low: float
    high: float
    left: float
    right: float

    def at(self, ratio: float) -> float:
        share = math.log(max(ratio, LEAST) / self.low) / math.log(self.high / self.low)
        return self.left + share * (self.right - self.left)

    @property
    def ticks(self) -> list[float]:
        """Return round ratios for the axis."""
        low, high = self.low, self.high
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        ticks = [digit * 10.0**power for power in range(first, last) for digit in (1, 2, 5)]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) < 3:
            # Over such a short range the axis is nearly linear.
            least = (high - low) / 5
            power = 10.0 ** math.floor(math.log10(least))
            step = next(digit * power for digit in (1, 2, 2.5, 5, 10) if digit * power >= least)
            ticks = [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
        # Even one tick for each power may be more than fits.
        return ticks[::math.ceil(len(ticks) / MOST_TICKS)]


def ladder(
    rungs: Sequence[LadderRung], speedup: Interval, span: tuple[float, float] | None, name: str, title: str
) -> Markup:
    """Draw ratios to the baseline's speed on a logarithmic axis, one rung for each, in the given order.

    The rung "you" shows its interval. `span` are the ratios between which points rise.
    """
    ratios = [rung.ratio for rung in rungs]
    figures = [f"{rung.ratio:.3g}×" for rung in rungs]
    names = [rung.name for rung in rungs]
    axis = _axis(min(*ratios, speedup.low) / 1.25, max(*ratios, speedup.high) * 1.25, names, figures)
    bottom = LADDER_ROW * len(rungs)
    parts = []
    if span:
        left, right = (min(max(axis.at(ratio), axis.left), axis.right) for ratio in span)
        parts.append(_box(left, 0, right - left, bottom, ACCENT, 0.1))
    for number, rung in enumerate(rungs):
        middle = LADDER_ROW * (number + 0.5)
        mine = rung.name == "you"
        parts.append(stroke(axis.left, middle, axis.right, middle, LINE))
        if mine:
            left, right = axis.at(speedup.low), axis.at(speedup.high)
            parts.append(_box(left, middle - 5, right - left, 10, ACCENT, 0.35))
        shape, colour = MARKERS.get(rung.name, (CIRCLE, MUTED))
        parts.append(mark(axis.at(rung.ratio), middle, shape, colour))
        parts += _named(axis, middle, rung.name, figures[number], INK if mine else MUTED, INK if mine else MUTED)
    text = ", ".join(f"{rung.name} {rung.ratio:.3g}" for rung in rungs)
    said = f"Ratios to the baseline's speed, fastest first: {text}. Your interval: {speedup.low:.3g} to " \
           f"{speedup.high:.3g}."
    return svg([*parts, *_below(axis, bottom)], bottom + TICKS, name, title, said)


def strip(rows: Sequence[SampleRow], lines: Mapping[str, float], name: str, title: str) -> Markup:
    """Draw each row's ratios as dots, in order of measurement from top to bottom, with interval and median if known.

    `lines` are ratios that are marked across all rows. One that would squeeze the dots together is only named at the
    edge.
    """
    rows = rows[:MOST_ROWS]
    every = [ratio for row in rows for ratio in row.ratios]
    every += [bound for row in rows if row.interval for bound in (row.interval.low, row.interval.high)]
    low, high = min(every) / LEAST_ROOM, max(every) * LEAST_ROOM
    near = [ratio for ratio in lines.values() if low / NEAR < ratio < high * NEAR]
    low, high = min([low, *(ratio / LEAST_ROOM for ratio in near)]), max([high, *(r * LEAST_ROOM for r in near)])
    figures = [f"{row.interval.median:.3g}× ± {(row.interval.high - row.interval.low) / row.interval.median * 50:.2g} %"
               if row.interval else "" for row in rows]
    axis = _axis(low, high, [row.name for row in rows], figures)
    labels, top = _labels(axis, lines)
    bottom = top + STRIP_ROW * len(rows)
    parts = []
    for number, row in enumerate(rows):
        edge = top + STRIP_ROW * number
        if number:
            parts.append(stroke(axis.left, edge, axis.right, edge, LINE))
        parts += [*_row(axis, edge, row), *_named(axis, edge + STRIP_ROW / 2, row.name, figures[number], MUTED, INK)]
    for line, ratio in lines.items():
        if axis.low < ratio < axis.high:
            parts.append(stroke(axis.at(ratio), top, axis.at(ratio), bottom, MUTED, 1.4, DASHES.get(line, "")))
    text = " ".join(_said(row) for row in rows)
    return svg([*labels, *parts, *_below(axis, bottom)], bottom + TICKS, name, title, text)


def _row(axis: _Axis, top: float, row: SampleRow) -> Iterator[str]:
    ratios = row.ratios[:MOST_DOTS]
    if row.interval:
        left, middle, right = (axis.at(r) for r in (row.interval.low, row.interval.median, row.interval.high))
        yield _box(left, top + 4, right - left, STRIP_ROW - 8, ACCENT, 0.2)
        yield stroke(middle, top + 4, middle, top + STRIP_ROW - 4, INK, 1.4)
    step = 0.6 * STRIP_ROW / max(len(ratios) - 1, 1)
    first = top + STRIP_ROW * (0.2 if len(ratios) > 1 else 0.5)
    # A stroke without length, but with round ends, is a dot.
    dots = "".join(f"M{axis.at(ratio):.1f} {first + number * step:.1f}h0" for number, ratio in enumerate(ratios))
    yield f'<path d="{dots}" fill="none" stroke="{ACCENT}" stroke-width="4.6" stroke-linecap="round"/>'


def _labels(axis: _Axis, lines: Mapping[str, float]) -> tuple[list[str], float]:
    """Return the names of the lines, to stand above the rows, and their height. Lines beyond an edge are named in the
    top row."""
    within: list[tuple[float, str]] = []
    edges: dict[bool, list[str]] = {True: [], False: []}
    for name, ratio in sorted(lines.items(), key=lambda item: item[1]):
        text = f"{name} {ratio:.3g}×"
        if axis.low < ratio < axis.high:
            within.append((axis.at(ratio), text))
        else:
            edges[ratio <= axis.low].append(text)
    parts = []
    top = 0.0
    if any(edges.values()):
        top += LABEL_ROW
        if edges[True]:
            parts.append(text_at(axis.left, LABEL_ROW / 2, f"← {', '.join(edges[True])}"))
        if edges[False]:
            parts.append(text_at(axis.right, LABEL_ROW / 2, f"{', '.join(edges[False])} →", anchor="end"))
    # The names alternate between two rows, since lines may be close together.
    rows = min(len(within), 2)
    for number, (place, text) in enumerate(within):
        row = top + LABEL_ROW * (rows - number % 2 - 0.5)
        parts.append(text_at(place, row, text, anchor="end" if place > (axis.left + axis.right) / 2 else "start"))
    return parts, top + LABEL_ROW * rows + 4


def _axis(low: float, high: float, names: Sequence[str], figures: Sequence[str]) -> _Axis:
    """Return an axis between the names on its left and the figures on its right."""
    left, right = (SIGN * max(len(text) for text in texts) + 10 for texts in (map(_short, names), figures))
    low = max(low, LEAST)
    return _Axis(low, max(high, low * LEAST_ROOM), left, WIDTH - right)


def _named(axis: _Axis, middle: float, name: str, figure: str, colour: str, ink: str) -> Iterator[str]:
    yield text_at(axis.left - 8, middle, _short(name), colour, "end")
    if figure:
        yield text_at(axis.right + 8, middle, figure, ink)


def _below(axis: _Axis, bottom: float) -> Iterator[str]:
    yield stroke(axis.left, bottom, axis.right, bottom, LINE)
    for tick in axis.ticks:
        yield stroke(axis.at(tick), bottom, axis.at(tick), bottom + 4, LINE)
        yield text_at(axis.at(tick), bottom + 4 + FONT, f"{tick:.4g}×", anchor="middle")


def _short(name: str) -> str:
    """Return a name that is shortened to fit its label; the description has the full name."""
    return name if len(name) <= MOST_SIGNS else name[:MOST_SIGNS - 1] + "…"


def _said(row: SampleRow) -> str:
    text = f"{row.name + ': ' if row.name else ''}{len(row.ratios)} ratios from {min(row.ratios):.3g} to " \
           f"{max(row.ratios):.3g}"
    if row.interval is None:
        return f"{text}."
    return f"{text}, median {row.interval.median:.3g}, interval {row.interval.low:.3g} to {row.interval.high:.3g}."


def mark(x: float, y: float, shape: str, colour: str) -> str:
    edge = "" if shape == STROKE else f' stroke="{PAPER}"'
    return f'<path transform="translate({x:.1f} {y:g})" d="{shape}" fill="{colour}"{edge}/>'


def text_at(x: float, middle: float, text: str, colour: str = MUTED, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{middle:g}" dy=".35em" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def stroke(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="M{x1:.1f} {y1:g}L{x2:.1f} {y2:g}" stroke="{colour}" stroke-width="{width:g}"{dashed}/>'


def _box(x: float, y: float, width: float, height: float, colour: str, opacity: float) -> str:
    return f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{height:g}" fill="{colour}" opacity="{opacity}"/>'


def svg(parts: Sequence[str], height: float, name: str, title: str, description: str) -> Markup:
    prefix = re.sub(r"[^a-z0-9]+", "-", name.lower())
    lines = "\n".join(parts)
    return Markup(
        f'<svg class="chart" role="img" aria-labelledby="{prefix}-title {prefix}-desc" width="{WIDTH}" '
        f'height="{height:g}" viewBox="0 0 {WIDTH} {height:g}" font-size="{FONT}">'
        f'<title id="{prefix}-title">{escape(title)}</title><desc id="{prefix}-desc">{escape(description)}</desc>\n'
        f'{lines}\n</svg>')
