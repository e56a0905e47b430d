"""`leaderboard.html`: points under pseudonyms, which a course may publish.

A pseudonym is a hash of the student's folder with a key, the file `.staff/leaderboard.key` in the folder of results. It
stays the same as long as that file is kept, and cannot be traced back from the page. Once requested, the page is
updated until its file is deleted.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.model.files import replace
from grader.model.hidden import staff
from grader.report.line import Line

PAGE = "leaderboard.html"
KEY = "leaderboard.key"
KEY_BYTES = 32
# Six syllables of six bits: in a class of a thousand, two students share one once in a hundred thousand classes.
CONSONANTS, VOWELS, SYLLABLES = "bdfghjklmnprstvz", "aeio", 6


@dataclass(frozen=True)
class RankedLine:
    rank: int
    pseudonym: str
    line: Line


def begin(out: Path) -> None:
    """Makes the key of `out`, unless it has one, and the page's file: from now on it is written with the class page."""
    path = staff(out / KEY)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if not path.exists():
        replace(path, secrets.token_bytes(KEY_BYTES), 0o600)
    (out / PAGE).touch()


def key_of(out: Path) -> bytes | None:
    """The key of `out`; None if the page was never requested, or page or key was removed. Raises OSError."""
    path = staff(out / KEY)
    key = path.read_bytes() if (out / PAGE).is_file() and path.is_file() else b""
    # With an empty key, everybody could compute pseudonyms.
    return key if len(key) == KEY_BYTES else None


def pseudonym(key: bytes, folder: str) -> str:
    number = int.from_bytes(hmac.digest(key, os.fsencode(folder), "sha256"), "big")
    syllables = []
    for _ in range(SYLLABLES):
        syllables.append(CONSONANTS[number & 15] + VOWELS[number >> 4 & 3])
        number >>= 6
    return "".join(syllables[:3]) + "-" + "".join(syllables[3:])


def places(lines: Sequence[Line], key: bytes) -> list[RankedLine]:
    """The students with points, the most points first. Equal points share a rank. `lines` must be graded alike."""
    won = [line for line in lines if line.score > 0]
    won.sort(key=lambda line: (-line.score, pseudonym(key, line.folder)))
    scores = [line.score for line in won]
    return [RankedLine(scores.index(line.score) + 1, pseudonym(key, line.folder), line) for line in won]
