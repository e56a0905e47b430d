"""The formats of text and figures on pages."""

from __future__ import annotations

import math
import re
from typing import Any, TypeVar

from markupsafe import Markup, escape
from pydantic import BaseModel

from grader.results.text import FIELD_BYTES, clean

M = TypeVar("M", bound=BaseModel)

_QUOTED = re.compile(r"`([^`\n]{1,200})`")


def clean_model(model: M, limit: int = FIELD_BYTES) -> M:
    """Return a copy of a model with every text cleaned by `clean`."""
    return type(model).model_validate(_walk(model.model_dump(by_alias=True), limit))


def prose(text: str) -> Markup:
    """Return a message as HTML: escaped, with text between backticks as code."""
    return Markup(_QUOTED.sub(r"<code>\1</code>", str(escape(text))))


def points(value: float) -> str:
    """Return points with at most two decimals: `312.5`, `60`."""
    short = f"{value:.2f}".rstrip("0").rstrip(".")
    return "?" if not math.isfinite(value) else "0" if short == "-0" else short


def of_points(score: float, measured_max: float, max_score: float) -> str:
    """Return points and maximum: `60 of 100 points`; or `60 of 60 points measured` if the grading could not give all
    points."""
    return f"{points(score)} of {points(measured_max)} points" + " measured" * (measured_max < max_score)


def figure(value: float | None) -> str:
    """Return a number with three significant digits: `0.0123`, `1.5`, `4.2e+07`; a dash for None."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else "infinite"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def percent(value: float) -> str:
    """Return a share as `94 %`, and with two digits below ten: `1.2 %`."""
    return f"{100 * value:.0f} %" if value >= 0.0995 else f"{100 * value:.2g} %"


def bytes_(value: float) -> str:
    """Return an amount of memory: `512 bytes`, `65.5 kB`, `537 MB`."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} bytes"


def seconds(value: float | None) -> str:
    """Return a duration with its unit: `1.5 s`, `45.6 ms`."""
    if value is None or not math.isfinite(value):
        return "–"
    if value < 1e-3:
        return f"{value * 1e6:.3g} µs" if value else "0 s"
    if value < 1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.3g} s" if value < 120 else f"{value / 60:.3g} min"


def _walk(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return clean(value, limit)
    if isinstance(value, dict):
        return {_walk(key, limit): _walk(item, limit) for key, item in value.items()}
    if isinstance(value, list):
        return [_walk(item, limit) for item in value]
    return value
