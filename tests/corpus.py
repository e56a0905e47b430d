"""What each member of the corpus gets: verdict, points and hint, kept in `tests/verdicts.json`.

The tests that grade the corpus hand over what they found. A difference from the file fails them unless JUDGE_VERSION
differs, too. `make verdicts` runs these tests and writes the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from grader.course.forms import file_of, in_any_language
from grader.results.version import JUDGE_VERSION
from tests.members import Member, select

FILE = Path(__file__).parent / "verdicts.json"
VERSION = "judge version"
PROPERTY = "got"
"""The property of a test that holds what its members got, as JSON."""
# Inputs are drawn anew at every grading, and with them come other figures.
FIGURES = re.compile(r"\d[\d,.]*(e[+-]?\d+)?")
RAISE = ("if that is meant, raise JUDGE_VERSION in grader/results/version.py with a row that says what it changes, and "
         "run `make verdicts`")


class MemberOutcome(NamedTuple):
    """What a member got. `points` are None where a test judges without them."""

    verdict: str
    points: float | None
    hint: str

    @classmethod
    def of(cls, verdict: str, points: float | None, hint: str) -> MemberOutcome:
        return cls(verdict, points, FIGURES.sub("#", hint))


Taking = Callable[[Mapping[str, MemberOutcome]], None]


class Book(NamedTuple):
    """The file: members by name, and the version of the judge that they were graded by."""

    version: int
    members: dict[str, MemberOutcome]


def read(file: Path = FILE) -> Book:
    data = json.loads(file.read_text(encoding="utf-8"))
    version = data.pop(VERSION)
    return Book(version, {name: MemberOutcome(*one) for name, one in data.items()})


def text(book: Book) -> str:
    """The file's text, a line for each member."""
    lines = [f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in sorted(book.members.items())]
    return "{\n" + ",\n".join([f"{json.dumps(VERSION)}: {book.version}", *lines]) + "\n}\n"


def name_of(how: str, member: Member, assignment: str) -> str:
    """A member's name in the file, for a way of judging it."""
    return f"{how} {member.name}/{assignment}"


def differences(book: Book, got: Mapping[str, MemberOutcome], version: int = JUDGE_VERSION) -> list[str]:
    """A line for each member that got something else than the book says by the same version of the judge."""
    if book.version != version:
        return []
    said = []
    for name, now in got.items():
        before = book.members.get(name)
        if before is None:
            said.append(f"{name} is not in {FILE.name}: run `make verdicts`")
        elif before != now:
            said.append(f"{name} got {tuple(now)}, and {tuple(before)} before: {RAISE}")
    return said


def merged(
    book: Book, got: Mapping[str, MemberOutcome], there: Mapping[str, bool], version: int = JUDGE_VERSION
) -> Book:
    """The book with what was `got` now. Members that are not `there` any more are left out.

    Raises ValueError where a member got something else by the same version.
    """
    if wrong := [line for line in differences(book, got, version) if line.endswith(RAISE)]:
        raise ValueError("\n".join(wrong))
    kept = {name: member for name, member in book.members.items() if there.get(name, True) and book.version == version}
    return Book(version, {**kept, **got})


def there(book: Book) -> dict[str, bool]:
    """Whether each member of the book still has its file."""
    files = {f"{member.name}/{file}" for member in select() for file in member.files}
    found = {}
    for name in book.members:
        member, _, assignment = name.partition(" ")[2].rpartition("/")
        found[name] = any(f"{member}/{file}" in files for file in in_any_language(file_of(assignment)))
    return found


@cache
def _kept() -> Book:
    return read()


def agrees(got: Mapping[str, MemberOutcome]) -> None:
    """Fails where a member got something else than before by the same version of the judge."""
    assert not (wrong := differences(_kept(), got)), "\n".join(wrong)


def write(properties: Iterable[tuple[str, object]]) -> str:
    """Writes the file anew from the properties of the tests of a run. Returns a sentence about it; raises ValueError
    as `merged` does."""
    got = {name: MemberOutcome(*one) for key, value in properties if key == PROPERTY
           for name, one in json.loads(str(value)).items()}
    book = read() if FILE.exists() else Book(JUDGE_VERSION, {})
    new = merged(book, got, there(book))
    FILE.write_text(text(new), encoding="utf-8")
    return f"{len(got):,} of {len(new.members):,} members written to {FILE}"
