"""Charts by matplotlib as inline SVG: text stays text, colours follow the page's theme, same data, same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grader.result import Interval

# Drawn in colours that mean nothing, then replaced by the page's CSS variables.
COLOURS = {"#010101": "--ink", "#020202": "--muted", "#030303": "--line", "#040404": "--accent", "#050505": "--paper"}
INK, MUTED, LINE, ACCENT, PAPER = COLOURS
# Any: matplotlib types the keys only in its newer versions.
STYLE: Any = {
    "svg.fonttype": "none", "svg.hashsalt": "kernelmark", "font.size": 9, "text.color": INK, "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED, "xtick.color": LINE, "xtick.labelcolor": MUTED, "axes.spines.top": False,
    "axes.spines.right": False, "axes.spines.left": False, "figure.facecolor": "none", "axes.facecolor": "none",
}
BINS = 10


def distribution(values: Sequence[float], maximum: float, name: str, title: str) -> Markup:
    """How many students have how many points, in ten equal steps from 0 to `maximum`. `name` is unique in the page."""
    top = maximum if maximum > 0 else 1.0
    counts = [0] * BINS
    for value in values:
        counts[min(max(int(value / top * BINS), 0), BINS - 1)] += 1
    with matplotlib.rc_context(STYLE):
        figure, axes = _axes(4.2, 1.35)
        axes.bar([(i + 0.5) * top / BINS for i in range(BINS)], counts, width=top / BINS * 0.86, color=ACCENT)
        for i, count in enumerate(counts):
            if count:
                axes.text((i + 0.5) * top / BINS, count, str(count), ha="center", va="bottom")
        axes.set(xlim=(0, top), ylim=(0, max(*counts, 1) * 1.25), xticks=[0, top / 2, top], yticks=[],
                 xlabel="points")
        axes.set_xticklabels([f"{tick:g}" for tick in (0, top / 2, top)])
        text = ", ".join(f"{count} with {i * top / BINS:g} to {(i + 1) * top / BINS:g}"
                         for i, count in enumerate(counts) if count)
        return _svg(figure, name, title, f"Students by points: {text or 'none'}.")


def ladder(speedup: Interval, name: str, title: str, baseline: str) -> Markup:
    """The student's speed beside the baseline's, as a ratio on a logarithmic axis, with its interval."""
    low, high = min(speedup.low, 1.0) / 1.4, max(speedup.high, 1.0) * 1.4
    with matplotlib.rc_context(STYLE):
        figure, axes = _axes(4.2, 1.1)
        axes.axhline(0, color=LINE, linewidth=1)
        axes.plot([1, 1], [-0.35, 0.35], color=MUTED, linewidth=2)
        axes.plot([speedup.low, speedup.high], [0, 0], color=ACCENT, linewidth=7, alpha=0.35, solid_capstyle="butt")
        axes.plot([speedup.median], [0], marker="D", color=ACCENT, markersize=8, markeredgecolor=PAPER)
        axes.annotate(f"{baseline or 'baseline'}, 1×", (1, -0.45), ha="center", va="top", color=MUTED)
        axes.annotate(f"you, {speedup.median:.3g}×", (speedup.median, 0.45), ha="center", va="bottom")
        axes.set(xscale="log", xlim=(low, high), ylim=(-1.1, 1.1))
        axes.axis("off")
        text = f"{speedup.median:.3g} times the speed of {baseline or 'the baseline'}, " \
               f"interval {speedup.low:.3g} to {speedup.high:.3g}."
        return _svg(figure, name, title, text)


def _axes(width: float, height: float) -> tuple[Figure, Axes]:
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
