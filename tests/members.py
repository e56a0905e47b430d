"""Members of the corpus: whole submissions, kept as data in `tests/submissions/`.

    python -m tests.members NAME...      (writes each into build/members/NAME and prints that folder)

`<language>/<assignment>.toml`, or `hostile/<family>.toml`, has a table for each member, named `verdict/name`:

* A key with a dot in it is a file. Its value is a text, or a list of texts and names: of other members, and of pieces
  that many share, in `shared.toml` or `MADE`.
* With `base`, another member or a piece, the file is what differs from the file of that name there, as a diff: lines
  after `-` go, lines after `+` come, others stay. They must stand in one place of it; `@@` parts two places.
* The other keys are NOTES, a string or a list of them. They head the first file as comments, `# expect: words`, so that
  whoever reads it knows what it is and what must come of it.
"""

import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from grader.home import ROOT

HERE = Path(__file__).parent / "submissions"
SHARED = HERE / "shared.toml"
NOTES = frozenset((
    "about", "expect", "never", "proved", "verdict", "least", "needs", "triton", "flag", "on_a_gpu", "alone_on_a_gpu"))
# Pieces that nobody would write by hand.
MADE = {
    "brackets": f"deep = {'[' * 65_300}{']' * 65_300}\n",
    "errors": "".join(f"WRONG({n})\n" for n in range(2000)),
    "names": "".join(f"a{n} = lambda: (a{(7 * n + 1) % 2500}, a{(3 * n + 2) % 2500}.b)\n" for n in range(2500)),
    "signs": f"deep = {'-~' * 51_000}1\n",
    "sums": f"deep = {'1+' * 60_000}1\n",
}


@dataclass(frozen=True, order=True)
class Member:
    """A submission of the corpus, by its name: `wrong_answer/silu_wrong_sign`."""

    name: str

    @property
    def verdict(self) -> str:
        """The verdict that it must get, or `hostile`."""
        return self.name.partition("/")[0]

    @property
    def title(self) -> str:
        """The last part of its name."""
        return self.name.rpartition("/")[2]

    @property
    def files(self) -> Mapping[str, str]:
        """The text of each of its files."""
        return _files(self.name)

    @property
    def source(self) -> str:
        """The text of its only file."""
        (text,) = self.files.values()
        return text

    def notes(self, what: str) -> list[str]:
        """Its notes of one kind."""
        assert what in NOTES
        return _list(tables()[self.name].get(what, []))

    def folder(self) -> Path:
        """A folder with its files, which goes with this process."""
        return _folder(self.name)

    def written(self, folder: Path) -> Path:
        """Write its files into a folder, which is made. Returns the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (folder / name).write_bytes(text.encode())
        return folder


def select(*verdicts: str) -> list[Member]:
    """Return the members that must get one of these verdicts, by name; without a verdict all members."""
    return sorted(member for member in map(Member, tables()) if not verdicts or member.verdict in verdicts)


def changed(base: str, diff: str) -> str:
    """Return a text with a diff applied. Raises ValueError where its lines do not stand in one place of the text."""
    for place in re.split(r"^@@\n", diff, flags=re.MULTILINE):
        # A line that is empty has lost its blank to an editor.
        lines = [(line[:1] or " ", line[1:] + "\n") for line in place.split("\n")[:-1]]
        if wrong := [sign + line for sign, line in lines if sign not in "-+ "]:
            raise ValueError(f"a line of a diff begins with -, + or a blank, not so: {wrong[0]}")
        old, new = ("".join(line for sign, line in lines if sign in kept) for kept in ("- ", "+ "))
        if (count := f"\n{base}".count(f"\n{old}")) != 1:
            raise ValueError(f"lines to change must stand in one place of the base, not in {count}: {old}")
        base = f"\n{base}".replace(f"\n{old}", f"\n{new}")[1:]
    return base


@cache
def tables(folder: Path = HERE) -> Mapping[str, Mapping[str, Any]]:
    """Return the tables of all members. Raises ValueError for a name that stands twice, or an unknown key."""
    found: dict[str, Mapping[str, Any]] = {}
    for path in sorted(folder.glob("*/*.toml")):
        for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if name in found:
                raise ValueError(f"{path}: {name} stands twice in the corpus; choose another name")
            if wrong := [key for key in table if "." not in key and key not in NOTES | {"base"}]:
                raise ValueError(f"{path}: {name}: {wrong[0]} is no note; choose one of {', '.join(sorted(NOTES))}")
            found[name] = table
    return found


@cache
def pieces() -> Mapping[str, str]:
    """Return what many members share, by name."""
    return tomllib.loads(SHARED.read_text(encoding="utf-8")) | MADE


def _source(name: str, file: str) -> str:
    """A file without its notes, or a piece."""
    if "/" not in name:
        return pieces()[name]
    table = tables()[name]
    parts = table[file]
    if "base" in table:
        try:
            return changed(_source(table["base"], file), parts)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return parts if isinstance(parts, str) else "".join(part if "\n" in part else _source(part, file) for part in parts)


@cache
def _files(name: str) -> Mapping[str, str]:
    table = tables()[name]
    files = {key: _source(name, key) for key in table if "." in key}
    first = next(iter(files))
    mark = "//" if first.endswith(".cu") else "#"
    return files | {first: "".join(f"{mark} {line}\n" for line in _comments(table)) + files[first]}


def _comments(table: Mapping[str, Any]) -> Iterator[str]:
    yield from table.get("about", "").splitlines()
    for kind in table:
        if kind in NOTES - {"about"}:
            yield from (f"{kind.replace('_', ' ')}: {words}" for words in _list(table[kind]))


def _list(found: str | list[str]) -> list[str]:
    return [found] if isinstance(found, str) else found


@cache
def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="kernelmark-members-")


@cache
def _folder(name: str) -> Path:
    return Member(name).written(Path(_temporary().name) / name)


if __name__ == "__main__":
    for named in sys.argv[1:]:
        if named not in tables():
            sys.exit(f"{named}: no such member; choose one of {', '.join(get_close_matches(named, tables(), 5, 0))}")
        shutil.rmtree(out := ROOT / "build" / "members" / named, ignore_errors=True)
        print(Member(named).written(out))
