"""A sweep as a chart, as a table in the terminal, as CSV, and in sentences."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence

from markupsafe import Markup
from rich.table import Table

from grader.pages import charts
from grader.pages.text import figure, percent
from grader.results.result import Sweep, SweepPoint

# The chart's height, and its margins for the axes' figures, in CSS pixels.
HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 250, 44, 14, 44, 30
NEAR_ROOF = 0.9
POWERS = {1: "", 2: "²", 3: "³"}


def sound(microseconds: float | None) -> float | None:
    """Return the time if it is positive and finite, else None."""
    return microseconds if microseconds is not None and 0 < microseconds < math.inf else None


SERIES: tuple[tuple[str, str, Callable[[SweepPoint], float | None]], ...] = (
    ("baseline", "eager", lambda point: sound(point.baseline_us)),
    ("compiled", "compiled", lambda point: sound(point.compiled_us)),
    ("reference", "reference", lambda point: sound(point.reference_us)),
    ("you", "you", lambda point: sound(point.student_us)),
)
"""The series: marker, name, and time. The last series is drawn on top."""


def rate(sweep: Sweep, point: SweepPoint, microseconds: float | None) -> float | None:
    """Return the rate in the sweep's unit; None without a positive, finite time."""
    time = sound(microseconds)
    if time is None or not 0 < point.amount < math.inf:
        return None
    return point.amount / time / (1e6 if sweep.unit == "TFLOP/s" else 1e3)


def name(point: SweepPoint) -> str:
    return "×".join(map(str, point.sizes.values()))


def _short(point: SweepPoint) -> str:
    """Return a size as text: `8192³` for a cube."""
    sizes = list(point.sizes.values())
    return f"{sizes[0]}{POWERS[len(sizes)]}" if len(set(sizes)) == 1 and len(sizes) in POWERS else name(point)


def chart(sweep: Sweep, label: str, title: str) -> Markup:
    """Draw rates by size: a line with its own marker for each kernel, and a dashed line for the roof. The axis of sizes
    is logarithmic, the axis of rates begins at 0."""
    points = sweep.points
    series = [(marker, said, [rate(sweep, point, time(point)) for point in points]) for marker, said, time in SERIES]
    series = [curve for curve in series if any(value is not None for value in curve[2])]
    roof = [rate(sweep, point, point.roof_us) for point in points]
    every = [value for values in (roof, *(curve[2] for curve in series)) for value in values if value is not None]
    if not every:
        return Markup()
    across, top = _across(points), max(every)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / top

    parts: list[str] = []
    for tick in _ticks(top):
        parts.append(charts.stroke(LEFT, up(tick), charts.WIDTH - RIGHT, up(tick), charts.LINE))
        parts.append(charts.text_at(LEFT - 6, up(tick), f"{tick:,.4g}", anchor="end"))
    parts.append(charts.text_at(0, TOP - 12, sweep.unit))
    parts += _path(across, up, roof, charts.MUTED, 1.4, charts.DASHES["target"])
    for marker, _, values in series:
        shape, colour = charts.MARKERS[marker]
        parts += _path(across, up, values, colour, 2 if marker == "you" else 1.2)
        parts += [charts.mark(across[at], up(value), shape, colour)
                  for at, value in enumerate(values) if value is not None]
    # Label sizes from the largest on, as long as there is room.
    free = float(charts.WIDTH)
    for point, at in zip(reversed(points), reversed(across), strict=True):
        half = charts.SIGN * len(_short(point)) / 2
        middle = min(at, free - half) if point is points[-1] else at
        if half <= middle <= free - half:
            parts.append(charts.text_at(middle, HEIGHT - BOTTOM + 16, _short(point), anchor="middle"))
            parts.append(charts.stroke(at, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 4, charts.LINE))
            free = middle - half - 8
    parts += _legend([(marker, said) for marker, said, _ in series], roofed=any(value is not None for value in roof))
    text = " ".join(f"{said}: {', '.join('none' if value is None else f'{value:.4g}' for value in values)}."
                    for _, said, values in series)
    return charts.svg(parts, HEIGHT, label, title, f"{sweep.unit} at {', '.join(map(name, points))}. {text}")


def standalone(sweep: Sweep, title: str) -> str:
    """Return the chart as the text of a file, with colours for light and dark."""
    colours = {"ink": ("#1b1f24", "#e6e8eb"), "muted": ("#5b6470", "#9aa4b0"), "line": ("#d9dde2", "#3a424c"),
               "accent": ("#0b62c4", "#6cb2ff"), "paper": ("#ffffff", "#14181d")}
    light, dark = (";".join(f"--{key}:{pair[number]}" for key, pair in colours.items()) for number in (0, 1))
    style = (f"<style>svg{{{light};background:var(--paper);font-family:system-ui,sans-serif}}"
             f"@media(prefers-color-scheme:dark){{svg{{{dark}}}}}</style>")
    drawn = str(chart(sweep, "sweep", title)).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return drawn.replace("</title>", f"</title>{style}", 1)


def table(sweep: Sweep) -> Table:
    """Return a table of rates by size, with the kernel's share of the roof. The sizes' heading is the sweep's unit."""
    table_ = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    shown = [(said, time) for _, said, time in (SERIES[-1], *SERIES[:-1])
             if any(time(point) is not None for point in sweep.points)]
    for header in (sweep.unit, *(said for said, _ in shown), "your µs", "of the roof"):
        table_.add_column(header, justify="left" if header == sweep.unit else "right", no_wrap=True)
    for point in sweep.points:
        mine, roof = sound(point.student_us), sound(point.roof_us)
        cells = [figure(value) if (value := rate(sweep, point, time(point))) is not None else "–" for _, time in shown]
        share = percent(roof / mine) if mine and roof else "–"
        table_.add_row(name(point), *cells, figure(mine) if mine else "–", share)
    return table_


def as_csv(sweep: Sweep) -> str:
    """Return CSV text with a row for each size: the amount of work, and times in microseconds."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    sizes = list(sweep.points[0].sizes) if sweep.points else []
    times = ("student_us", "baseline_us", "compiled_us", "reference_us", "roof_us")
    write.writerow([*sizes, "bytes" if sweep.unit == "GB/s" else "flop", *times])
    for point in sweep.points:
        times_of = [getattr(point, time) for time in times]
        write.writerow([*point.sizes.values(), f"{point.amount:.0f}",
                        *("" if value is None else f"{value:.3f}" for value in times_of)])
    return out.getvalue()


def sentences(sweep: Sweep) -> list[str]:
    """Return sentences on where the kernel is near the roof, and where it is slower than PyTorch or the reference."""
    timed = [point for point in sweep.points if sound(point.student_us)]
    if not timed:
        return []
    roofed = [point for point in timed if sound(point.roof_us)]
    lines = []
    if roofed:
        best = max(roofed, key=lambda point: _share(point))
        far = next((number for number in range(len(roofed), 0, -1) if _share(roofed[number - 1]) < NEAR_ROOF), 0)
        near = f"; {percent(NEAR_ROOF)} or more from {name(roofed[far])} on" if 0 < far < len(roofed) else ""
        lines.append(f"At most {percent(_share(best))} of the roof, at {name(best)}{near}.")
    for _, said, time in SERIES[:-1]:
        slower = [point for point in timed if (series_us := time(point)) and (point.student_us or 0) > 1.02 * series_us]
        if slower:
            worst = max(slower, key=lambda point: (point.student_us or 0) / (time(point) or math.inf))
            ratio = (worst.student_us or 0) / (time(worst) or math.inf)
            lines.append(f"Slower than {said} at {len(slower)} of {len(timed)} sizes, the most at {name(worst)}: "
                         f"{figure(ratio)} times its time.")
    return lines


def _share(point: SweepPoint) -> float:
    return (point.roof_us or 0) / (point.student_us or math.inf)


def _across(points: Sequence[SweepPoint]) -> list[float]:
    """Return the horizontal position of each size, in pixels."""
    low, high = math.log(max(points[0].amount, 1)), math.log(max(points[-1].amount, 1))
    room = charts.WIDTH - LEFT - RIGHT - 12
    return [LEFT + 6 + room * ((math.log(max(point.amount, 1)) - low) / (high - low) if high > low else 0.5)
            for point in points]


def _ticks(top: float) -> list[float]:
    power = 10.0 ** math.floor(math.log10(top / 5))
    step = next(digit * power for digit in (1, 2, 2.5, 5, 10) if digit * power >= top / 5)
    return [number * step for number in range(math.floor(top / step) + 1)]


def _path(
    across: Sequence[float], up: Callable[[float], float], values: Sequence[float | None], colour: str, width: float,
    dashes: str = "",
) -> list[str]:
    """Draw a line through the values, interrupted where one is missing."""
    text, joined = "", False
    for at, value in zip(across, values, strict=True):
        if value is not None:
            text += f"{'L' if joined else 'M'}{at:.1f} {up(value):.1f}"
        joined = value is not None
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return [f'<path d="{text}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dashed}/>'] if text else []


def _legend(series: Sequence[tuple[str, str]], *, roofed: bool) -> list[str]:
    parts, at = [], float(LEFT + 6)
    for marker, said in reversed(series):
        shape, colour = charts.MARKERS[marker]
        parts += [charts.mark(at, 10, shape, colour), charts.text_at(at + 10, 10, said, charts.INK)]
        at += 24 + charts.SIGN * len(said)
    if roofed:
        parts += [charts.stroke(at - 8, 10, at + 14, 10, charts.MUTED, 1.4, charts.DASHES["target"]),
                  charts.text_at(at + 20, 10, "roof", charts.INK)]
    return parts
