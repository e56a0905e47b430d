"""Charts by matplotlib as inline SVG: text stays text, colours follow the page's theme, same data, same bytes.

matplotlib is imported by the first chart: a grading without a GPU draws few.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from grader.result import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Drawn in colours that mean nothing, then replaced by the page's CSS variables.
COLOURS = {"#010101": "--ink", "#020202": "--muted", "#030303": "--line", "#040404": "--accent", "#050505": "--paper"}
INK, MUTED, LINE, ACCENT, PAPER = COLOURS
# Any: matplotlib types the keys only in its newer versions.
STYLE: Any = {
    "svg.fonttype": "none", "svg.hashsalt": "kernelmark", "font.size": 9, "text.color": INK, "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED, "xtick.color": LINE, "xtick.labelcolor": MUTED, "axes.spines.top": False,
    "axes.spines.right": False, "axes.spines.left": False, "figure.facecolor": "none", "axes.facecolor": "none",
}
# Inches; two charts stand side by side in a card.
WIDTH = 4.8
# A marker of its own for each, so that no colour is needed to tell them apart.
MARKERS = {"you": ("D", ACCENT), "baseline": ("s", MUTED), "compiled": ("^", MUTED), "target": ("|", INK),
           "floor": ("|", INK), "reference": ("v", MUTED)}
DASHES = {"floor": ":", "target": "--", "baseline": "-"}
# Noise of a tenth of a percent should look small: the axis never shows less than this around the dots.
LEAST_ROOM = 1.03
# A line this close beyond the dots widens the axis; one further away would squeeze them together.
NEAR = 1.3
MOST_ROWS, MOST_DOTS, MOST_SIGNS, MOST_TICKS = 12, 400, 24, 7


@dataclass(frozen=True)
class Rung:
    """A ratio to the baseline's speed, by name."""

    name: str
    ratio: float


@dataclass(frozen=True)
class Row:
    """Ratios in the order they came, and their interval if it says anything."""

    name: str
    ratios: Sequence[float]
    interval: Interval | None = None


def ladder(rungs: Sequence[Rung], speedup: Interval, span: tuple[float, float] | None, name: str, title: str) -> Markup:
    """Ratios to the baseline's speed, a rung each in the order given, on a logarithmic axis.

    The rung called "you" shows its interval; between the ratios of `span` the points rise.
    """
    ratios = [rung.ratio for rung in rungs]
    low, high = min(*ratios, speedup.low) / 1.25, max(*ratios, speedup.high) * 1.25
    with _style():
        figure, axes = _axes(WIDTH, 0.5 + 0.25 * len(rungs))
        if span:
            axes.axvspan(*span, color=ACCENT, alpha=0.1, linewidth=0)
        for row, rung in enumerate(rungs):
            marker, colour = MARKERS.get(rung.name, ("o", MUTED))
            axes.axhline(row, color=LINE, linewidth=0.8)
            if rung.name == "you":
                axes.plot([speedup.low, speedup.high], [row, row], color=ACCENT, linewidth=8, alpha=0.35,
                          solid_capstyle="butt")
            # A stroke has nothing but its edge.
            edge = colour if marker == "|" else PAPER
            axes.plot([rung.ratio], [row], marker=marker, color=colour, markersize=8, markeredgecolor=edge)
            _beside(axes, row, f"{rung.ratio:.3g}×", INK if rung.name == "you" else MUTED)
        axes.set(xscale="log", xlim=(low, high), ylim=(len(rungs) - 0.5, -0.5))
        _ticks(axes, low, high, [rung.name for rung in rungs])
        text = ", ".join(f"{rung.name} {rung.ratio:.3g}" for rung in rungs)
        said = f"Ratios to the baseline's speed, fastest first: {text}. Your interval: {speedup.low:.3g} to " \
               f"{speedup.high:.3g}."
        return _svg(figure, name, title, said)


def strip(rows: Sequence[Row], lines: Mapping[str, float], name: str, title: str) -> Markup:
    """Each row's ratios as dots, from top to bottom as they came, with interval and median if there is one.

    `lines` are ratios marked across all rows; one too far away for the dots to be told apart is named at the edge.
    """
    rows = rows[:MOST_ROWS]
    every = [ratio for row in rows for ratio in row.ratios]
    every += [bound for row in rows if row.interval for bound in (row.interval.low, row.interval.high)]
    low, high = min(every) / LEAST_ROOM, max(every) * LEAST_ROOM
    near = [ratio for ratio in lines.values() if low / NEAR < ratio < high * NEAR]
    low, high = min([low, *(ratio / LEAST_ROOM for ratio in near)]), max([high, *(r * LEAST_ROOM for r in near)])
    with _style():
        figure, axes = _axes(WIDTH, 0.9 + 0.42 * len(rows))
        for number, row in enumerate(rows):
            if number:
                axes.axhline(number - 0.5, color=LINE, linewidth=0.8)
            _row(axes, number, row)
        _lines(axes, lines, low, high)
        axes.set(xscale="log", xlim=(low, high), ylim=(len(rows) - 0.5, -0.5))
        _ticks(axes, low, high, [row.name for row in rows])
        return _svg(figure, name, title, " ".join(_said(row) for row in rows))


def _row(axes: Axes, number: int, row: Row) -> None:
    ratios = row.ratios[:MOST_DOTS]
    if row.interval:
        low, middle, high = row.interval.low, row.interval.median, row.interval.high
        axes.barh(number, high - low, left=low, height=0.8, color=ACCENT, alpha=0.2, linewidth=0)
        axes.plot([middle, middle], [number - 0.4, number + 0.4], color=INK, linewidth=1.4)
        _beside(axes, number, f"{middle:.3g}× ± {(high - low) / middle * 50:.2g} %", INK)
    step = 0.6 / max(len(ratios) - 1, 1)
    offsets = [number - 0.3 + i * step if len(ratios) > 1 else number for i in range(len(ratios))]
    axes.plot(ratios, offsets, linestyle="", marker="o", color=ACCENT, markersize=3.6, markeredgewidth=0)


def _lines(axes: Axes, lines: Mapping[str, float], low: float, high: float) -> None:
    edges: dict[bool, list[str]] = {True: [], False: []}
    inside = 0
    for name, ratio in sorted(lines.items(), key=lambda item: item[1]):
        if low < ratio < high:
            axes.axvline(ratio, color=MUTED, linewidth=1.4, linestyle=DASHES.get(name, "-"))
            right = ratio > math.sqrt(low * high)
            axes.annotate(f"{name} {ratio:.3g}×", (ratio, 1), xycoords=axes.get_xaxis_transform(),
                          # By turns in two rows: two lines may stand close together.
                          xytext=(0, 3 + 12 * (inside % 2)), textcoords="offset points",
                          ha="right" if right else "left", color=MUTED)
            inside += 1
        else:
            edges[ratio <= low].append(f"{name} {ratio:.3g}×")
    for left, names in edges.items():
        if names:
            text = f"← {', '.join(names)}" if left else f"{', '.join(names)} →"
            axes.annotate(text, (0 if left else 1, 1), xycoords="axes fraction", xytext=(0, 27),
                          textcoords="offset points", ha="left" if left else "right", color=MUTED)


def _ticks(axes: Axes, low: float, high: float, names: Sequence[str]) -> None:
    """Round ratios below, names to the left."""
    ticks = [digit * 10.0**power for power in range(-4, 5) for digit in (1, 2, 5) if low <= digit * 10.0**power <= high]
    if len(ticks) < 3:
        from matplotlib.ticker import MaxNLocator

        ticks = [float(tick) for tick in MaxNLocator(4).tick_values(low, high) if low <= tick <= high]
    # A tick for every power is more than fits.
    ticks = ticks[::math.ceil(len(ticks) / MOST_TICKS)]
    axes.minorticks_off()
    axes.set_xticks(ticks, [f"{tick:.4g}×" for tick in ticks])
    axes.set_yticks(range(len(names)), [_drawable(name) for name in names])
    axes.tick_params(axis="y", length=0)
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
        label.set_color(INK if label.get_text() == "you" else MUTED)


def _beside(axes: Axes, row: int, text: str, colour: str) -> None:
    """A figure to the right of a row."""
    axes.annotate(text, (1, row), xycoords=axes.get_yaxis_transform(), xytext=(6, 0), textcoords="offset points",
                  va="center", color=colour)


def _drawable(name: str) -> str:
    """What the font that measures text has signs for, and a label has room for; the description has it whole."""
    short = "".join(sign if sign.isprintable() and sign < "\u0180" else "?" for sign in name)
    return short if len(short) <= MOST_SIGNS else short[:MOST_SIGNS - 1] + "…"


def _said(row: Row) -> str:
    text = f"{row.name + ': ' if row.name else ''}{len(row.ratios)} ratios from {min(row.ratios):.3g} to " \
           f"{max(row.ratios):.3g}"
    if row.interval is None:
        return f"{text}."
    return f"{text}, median {row.interval.median:.3g}, interval {row.interval.low:.3g} to {row.interval.high:.3g}."


def _style() -> AbstractContextManager[None]:
    import matplotlib

    return matplotlib.rc_context(STYLE)


def _axes(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _svg(figure: Figure, name: str, title: str, description: str) -> Markup:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    prefix = re.sub(r"[^a-z0-9]+", "-", name.lower())
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", text)
    for colour, variable in COLOURS.items():
        text = text.replace(colour, f"var({variable})")
    text = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font: \1 var(--sans)", text)
    width, height = (float(part) * 4 / 3 for part in figure.get_size_inches() * 72)
    label = f'<title id="{prefix}-title">{escape(title)}</title><desc id="{prefix}-desc">{escape(description)}</desc>'
    head = f'<svg class="chart" role="img" aria-labelledby="{prefix}-title {prefix}-desc" ' \
           f'width="{width:.0f}" height="{height:.0f}" '
    text = re.sub(r'<svg [^>]*?(viewBox="[^"]*")[^>]*>', lambda found: f"{head}{found.group(1)}>{label}", text, count=1)
    return Markup(re.sub(r"\n\s*", "\n", text.replace("xlink:href", "href")).strip())
