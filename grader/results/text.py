"""Cleaning of text that a submission may have written. Text is cleaned before it is stored or shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TypeVar

FIELD_BYTES = 20_000
MOST_NAMED = 12
LEFT_OUT = "\n[… the middle is left out …]\n"
S = TypeVar("S", str, bytes)

# Terminators are required: otherwise an unfinished sequence could hide the text behind it.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[ -/]*[0-~]"
)
# Controls, surrogates, line separators and the characters that reorder or hide the text around them.
_UNSAFE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def clean(text: str, limit: int = FIELD_BYTES) -> str:
    """Return `text` without terminal escapes, with other control characters made visible, of at most about `limit`
    bytes.

    Long text loses its middle: the end of a traceback says most.
    """
    # A first, coarse cut bounds the search for escapes.
    shown = _UNSAFE.sub(_show, _ESCAPES.sub("", _cut(text, 4 * limit).replace("\r\n", "\n")))
    raw = shown.encode()
    if len(raw) <= limit:
        return shown
    return _cut(raw, limit).decode(errors="ignore")


def compose(text: str) -> str:
    """Return a name or an id with composed letters. macOS spells é in file names as e and an accent."""
    return unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """Return a name or heading without case and accents, for comparison and sorting."""
    apart = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


def some(names: Sequence[str]) -> str:
    """Return names in a line, at most MOST_NAMED of them."""
    more = f" and {len(names) - MOST_NAMED:,} more" * (len(names) > MOST_NAMED)
    return "; ".join(names[:MOST_NAMED]) + more


def plural(count: int, word: str) -> str:
    """Return a number and its noun, such as `1 file` or `2,000 files`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _cut(text: S, limit: int) -> S:
    if len(text) <= limit:
        return text
    gap = LEFT_OUT if isinstance(text, str) else LEFT_OUT.encode()
    return text[:limit // 4] + gap + text[limit // 4 - limit:]


def _show(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return chr(0x2400 + code) if code < 0x20 else f"[U+{code:04X}]"
