"""`leaderboard.html`, to be published where a course wants it: points under pseudonyms.

A pseudonym is a hash of the student's folder under a key of the course, which lies in `.staff/leaderboard.key` of the
folder of results: the same for as long as that file is kept, and nothing that the page says leads back from it. The
page is there where somebody asked for it once, and goes with its file.
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
# Six bits a syllable, six syllables: of a thousand students two share a pseudonym once in a hundred thousand classes.
CONSONANTS, VOWELS, SYLLABLES = "bdfghjklmnprstvz", "aeio", 6


@dataclass(frozen=True)
class Place:
    rank: int
    pseudonym: str
    line: Line


def begin(out: Path) -> None:
    """Makes the key of `out`, unless it has one, and the page's file: from now on it is drawn with the class page."""
    path = staff(out / KEY)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if not path.exists():
        replace(path, secrets.token_bytes(KEY_BYTES), 0o600)
    (out / PAGE).touch()


def key_of(out: Path) -> bytes | None:
    """The key of `out`; None if nobody asked for the page, or it or the key was taken away. Raises OSError."""
    path = staff(out / KEY)
    key = path.read_bytes() if (out / PAGE).is_file() and path.is_file() else b""
    # With an empty key everybody could try names.
    return key if len(key) == KEY_BYTES else None


def pseudonym(key: bytes, folder: str) -> str:
    number = int.from_bytes(hmac.digest(key, os.fsencode(folder), "sha256"), "big")
    syllables = []
    for _ in range(SYLLABLES):
        syllables.append(CONSONANTS[number & 15] + VOWELS[number >> 4 & 3])
        number >>= 6
    return "".join(syllables[:3]) + "-" + "".join(syllables[3:])


def places(lines: Sequence[Line], key: bytes) -> list[Place]:
    """Those with points, the most first; equal points share a rank. `lines` are graded alike."""
    won = sorted((one for one in lines if one.score > 0), key=lambda one: (-one.score, pseudonym(key, one.folder)))
    scores = [one.score for one in won]
    return [Place(scores.index(one.score) + 1, pseudonym(key, one.folder), one) for one in won]
