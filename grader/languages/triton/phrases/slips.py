"""Slips of the pen that a file's text shows by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.languages.phrases import Slip, fact

_RANGE = re.compile(r"[ \t]*+for\s++\w++\s++in\s++((?:tl\.)?(?:static_)?range\(([^()#]{1,200}+)\))\s*+:")
_NUMBER = re.compile(r"-?\d{1,9}")
_NAME = re.compile(r"[A-Za-z_]\w*")


def slips(source: str) -> Iterator[Slip]:
    """Yield loops that make no iteration, for any sizes: `range(n, 0)` and `range(0, n, -1)`."""
    for number, line in enumerate(source.splitlines(), 1):
        if (match := _RANGE.match(line)) and _is_empty(*(word.strip() for word in match[2].split(","))):
            yield Slip(number, fact("slip.no_round.seen", line=number, range=match[1]), fact("slip.no_round.advice"),
                       empties=True)


def _is_empty(start: str, stop: str = "", step: str = "1", *others: str) -> bool:
    """Return whether a range of names and numbers is empty. Names are sizes, which are at least 1."""
    start, stop = (start, stop) if stop else ("0", start)
    down = step.startswith("-")
    if others or not (_NUMBER.fullmatch(step) or (_NAME.fullmatch(step) and not down)):
        return False
    low, high = (stop, start) if down else (start, stop)
    if _NUMBER.fullmatch(low) and _NUMBER.fullmatch(high):
        return int(low) >= int(high)
    return low == high or bool(_NAME.fullmatch(low) and _NUMBER.fullmatch(high) and int(high) <= 0)
