"""`leaderboard.html`: points under pseudonyms, which a course may publish. Once requested, the page is updated until
its file is deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.pages import people
from grader.pages.line import Line
from grader.pages.people import pseudonym

PAGE = "leaderboard.html"


@dataclass(frozen=True)
class RankedLine:
    rank: int
    pseudonym: str
    line: Line


def begin(out: Path) -> None:
    """Make the key of `out` if it has none, and the page's file: from now on the page is written with the class
    page."""
    people.made_key(out)
    (out / PAGE).touch()


def key_of(out: Path) -> bytes | None:
    """Return the key of `out`; None if the page was never requested, or if page or key was deleted. Raises OSError."""
    if not (out / PAGE).is_file():
        return None
    return people.key_of(out) or None


def places(lines: Sequence[Line], key: bytes) -> list[RankedLine]:
    """Return the students who have points, in descending order. Students with equal points share a rank. `lines` must
    be graded by the same rules."""
    ranked = [line for line in lines if line.score > 0]
    ranked.sort(key=lambda line: (-line.score, pseudonym(key, line.folder)))
    scores = [line.score for line in ranked]
    return [RankedLine(scores.index(line.score) + 1, pseudonym(key, line.folder), line) for line in ranked]
