"""The people behind the folders, for the class page and the gradebook: names and sections from the roster, or
pseudonyms.

A grading writes them into `.staff/.people.json` of the folder of results, so that every command that writes the page
again shows the same people. A pseudonym is a hash of the student's folder with the key `.staff/leaderboard.key`. It
stays the same as long as that file exists, and cannot be traced back.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from grader.course.roster import Names
from grader.results.files import replace
from grader.results.hidden import staff
from grader.results.record import Record

KEY = "leaderboard.key"
# The leading dot avoids a clash: no student's folder begins with one.
FILE = ".people.json"
KEY_BYTES = 32
# Six syllables of six bits: in a class of a thousand, two students share one once in a hundred thousand classes.
CONSONANTS, VOWELS, SYLLABLES = "bdfghjklmnprstvz", "aeio", 6


class Person(Record):
    id: str
    name: str = ""
    section: str = ""


@dataclass(frozen=True)
class Owner:
    """The owner of a folder in the form that pages show. If there is a `pseudonym`, nothing else may reveal the
    owner."""

    name: str = ""
    section: str = ""
    pseudonym: str = ""


class People(Record):
    """The members of each folder, and the form in which pages show `names`; the course's `assignments` at the last
    grading, since no others count (None: all); and the `roster`, as far as it is known. `key` makes the pseudonyms."""

    names: Names = "real"
    assignments: tuple[str, ...] | None = None
    folders: dict[str, list[Person]] = {}
    roster: tuple[Person, ...] = ()
    key: bytes = b""

    @property
    def hidden(self) -> bool:
        return self.names == "pseudonyms"

    @property
    def absent(self) -> list[Person]:
        """Return the people on the roster who handed in nothing: they own no folder."""
        known = {person.id.casefold() for members in self.folders.values() for person in members}
        return [person for person in self.roster if person.id.casefold() not in known]

    def shown(self, person: Person) -> Owner:
        """Return the form in which a person without a folder is shown."""
        return Owner("", person.section, pseudonym(self.key, person.id)) if self.hidden else Owner(
            person.name, person.section)

    def owner(self, folder: str) -> Owner:
        members = self.folders.get(folder, [])
        section = ", ".join(dict.fromkeys(member.section for member in members if member.section))
        if self.hidden:
            return Owner("", section, pseudonym(self.key, folder))
        named = any(member.name for member in members)
        return Owner(", ".join(member.name or member.id for member in members) if named else "", section)


def read_people(out: Path) -> People:
    """Return the people of a folder of results; nobody if it has no such file. Raises OSError and ValueError."""
    path = staff(out / FILE)
    if not path.is_file():
        return People()
    try:
        people = People.model_validate_json(path.read_bytes())
    except ValidationError:
        raise ValueError(f"{path} cannot be read; grade again with --roster, which writes it anew") from None
    return people.model_copy(update={"key": made_key(out)}) if people.hidden else people


def shown_people(out: Path) -> tuple[People, str]:
    """Return the people as pages show them, and the reason why they cannot be read, or "". If they cannot, everybody
    has a pseudonym, since the pages may be meant to hide who people are."""
    try:
        return read_people(out), ""
    except (OSError, ValueError) as error:
        why = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
    try:
        key = made_key(out)
    except OSError:
        key = secrets.token_bytes(KEY_BYTES)
    return People(names="pseudonyms", key=key), why


def write_people(
    out: Path, names: Names, folders: Mapping[str, Sequence[Person]], assignments: Sequence[str] | None = None,
    roster: Sequence[Person] = (),
) -> None:
    """Write the form in which people are shown, the course's assignments, and the members of these folders and of those
    that were known before. If a folder's members have neither name nor section now, the earlier members stay; without a
    roster, the earlier roster stays. Raises OSError."""
    try:
        before = read_people(out)
    except ValueError:
        before = People()
    known = before.folders
    given = {folder: list(members) for folder, members in folders.items()
            if folder not in known or any(member.name or member.section for member in members)}
    path = staff(out / FILE)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    replace(path, People(
        names=names, assignments=None if assignments is None else tuple(assignments), folders=known | given,
        roster=tuple(roster) or before.roster,
    ).model_dump_json(exclude={"key"}, indent=1).encode(), _private(path.parent))


def key_of(out: Path) -> bytes:
    """Return the key of `out`; b"" if it has none. Raises OSError."""
    path = staff(out / KEY)
    key = path.read_bytes() if path.is_file() else b""
    # An empty key would let everybody compute the pseudonyms.
    return key if len(key) == KEY_BYTES else b""


def made_key(out: Path) -> bytes:
    """Return the key of `out`, and make it if there is none. Raises OSError."""
    if key := key_of(out):
        return key
    path = staff(out / KEY)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    replace(path, key := secrets.token_bytes(KEY_BYTES), _private(path.parent))
    return key


def pseudonym(key: bytes, folder: str) -> str:
    number = int.from_bytes(hmac.digest(key, os.fsencode(folder), "sha256"), "big")
    syllables = []
    for _ in range(SYLLABLES):
        syllables.append(CONSONANTS[number & 15] + VOWELS[number >> 4 & 3])
        number >>= 6
    return "".join(syllables[:3]) + "-" + "".join(syllables[3:])


def _private(folder: Path) -> int:
    """Return the mode of a file for staff: the group may use it, too, if the folder is shared with one."""
    return 0o600 | folder.stat().st_mode & 0o060
