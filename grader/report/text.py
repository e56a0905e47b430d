"""Text that a student may have written, made fit to be read; and figures with their units."""

from __future__ import annotations

import math
import re
from typing import Any, TypeVar

from markupsafe import Markup, escape
from pydantic import BaseModel

FIELD_BYTES = 20_000
LEFT_OUT = "\n[… the middle is left out …]\n"
M = TypeVar("M", bound=BaseModel)
S = TypeVar("S", str, bytes)

# Terminators are required, so that an unfinished sequence cannot swallow the text behind it.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[ -/]*[0-~]"
)
# Controls, surrogates, line separators and the characters that reorder or hide the text around them.
_UNSAFE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

_QUOTED = re.compile(r"`([^`\n]{1,200})`")


def clean(text: str, limit: int = FIELD_BYTES) -> str:
    """`text` without terminal escapes, every other invisible control shown, at most about `limit` bytes of UTF-8.

    What is too long is cut in the middle: a traceback says most at its end.
    """
    # A first, coarse cut: no more is worth the search for escapes.
    shown = _UNSAFE.sub(_show, _ESCAPES.sub("", _cut(text, 4 * limit).replace("\r\n", "\n")))
    raw = shown.encode()
    if len(raw) <= limit:
        return shown
    return _cut(raw, limit).decode(errors="ignore")


def clean_model(model: M, limit: int = FIELD_BYTES) -> M:
    """A copy in which every text went through `clean`."""
    return type(model).model_validate(_walk(model.model_dump(by_alias=True), limit))


def prose(text: str) -> Markup:
    """HTML of a message: what stands between backticks is code, and everything is escaped first."""
    return Markup(_QUOTED.sub(r"<code>\1</code>", str(escape(text))))


def points(value: float) -> str:
    """Points to two decimals at most: `312.5`, `60`."""
    return _trim(f"{value:.2f}") if math.isfinite(value) else "?"


def figure(value: float | None) -> str:
    """Three significant digits: `0.0123`, `1.5`, `4.2e+07`; a dash for what is unknown."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else "infinite"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def seconds(value: float | None) -> str:
    """A duration with its unit: `1.5 s`, `45.6 ms`."""
    if value is None or not math.isfinite(value):
        return "–"
    if value < 1e-3:
        return f"{value * 1e6:.3g} µs" if value else "0 s"
    if value < 1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.3g} s" if value < 120 else f"{value / 60:.3g} min"


def _cut(text: S, limit: int) -> S:
    if len(text) <= limit:
        return text
    gap = LEFT_OUT if isinstance(text, str) else LEFT_OUT.encode()
    return text[:limit // 4] + gap + text[limit // 4 - limit:]


def _trim(text: str) -> str:
    short = text.rstrip("0").rstrip(".")
    return "0" if short == "-0" else short


def _show(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return chr(0x2400 + code) if code < 0x20 else f"[U+{code:04X}]"


def _walk(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return clean(value, limit)
    if isinstance(value, dict):
        return {_walk(key, limit): _walk(item, limit) for key, item in value.items()}
    if isinstance(value, list):
        return [_walk(item, limit) for item in value]
    return value
