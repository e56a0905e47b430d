"""The class as read from disk: every `<out>/<folder>/result.json`. A file that cannot be read does not hide others."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from grader.pages.people import Owner, People, shown_people
from grader.results.hidden import staff
from grader.results.result import SCHEMA, Result, with_assignments
from grader.results.text import clean

NOBODY = Owner()
MAX_BYTES = 64 * 1024 * 1024
MESSAGE_BYTES = 400


@dataclass(frozen=True)
class Entry:
    """A result, the name of its folder, and its owner as pages show people. Links use the folder, whose name may differ
    from the student's id."""

    folder: str
    result: Result
    owner: Owner = NOBODY


@dataclass(frozen=True)
class Failure:
    """A submission without a result. No fault of its student is known."""

    folder: str
    message: str


@dataclass(frozen=True)
class LoadedResults:
    """The contents of a folder of results: `entries` sorted by student, `failures` by folder. If pseudonyms are shown,
    entries are sorted by pseudonym, since the order of real names would reveal them."""

    entries: list[Entry]
    failures: list[Failure]


def load_results(out: Path, people: People | None = None) -> LoadedResults:
    """Return every student's result under `out`: the complete one for staff, if there is one. Assignments that the
    course no longer has are left out. `people` is by default read from `out`. A file that is missing, unreadable or of
    another version is a failure."""
    entries: list[Entry] = []
    failures: list[Failure] = []
    # The class page reports why people cannot be read.
    people = people or shown_people(out)[0]
    for folder in sorted(path for path in out.iterdir() if _is_folder(path) and not path.name.startswith(".")):
        try:
            if (entry := load_entry(folder, people)).result.assignments:
                entries.append(entry)
        except (OSError, ValueError) as error:
            failures.append(Failure(folder.name, _reason(error)))
    entries.sort(key=lambda entry: ((entry.owner.pseudonym or entry.result.student).casefold(), entry.folder))
    return LoadedResults(entries, failures)


def load_entry(folder: Path, people: People) -> Entry:
    """Return the result of the student whose files are in `folder`. Raises OSError and ValueError."""
    whole = staff(folder) / "result.json"
    result = _read(whole if whole.exists() else folder / "result.json")
    if people.assignments is not None:
        result = with_assignments(result, {name: a for name, a in result.assignments.items()
                                           if name in people.assignments})
    return Entry(folder.name, result, people.owner(folder.name))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        # A folder that cannot be read is reported as a failure.
        return True


def _read(path: Path) -> Result:
    info = path.stat()
    if not stat.S_ISREG(info.st_mode):
        raise ValueError("result.json is not a regular file")
    if info.st_size > MAX_BYTES:
        raise ValueError(f"result.json is larger than {MAX_BYTES // 2**20} MiB")
    result = Result.model_validate_json(path.read_bytes())
    if result.schema_ != SCHEMA:
        raise ValueError(f"result.json is of version {result.schema_!r}; this program reads {SCHEMA!r}")
    return result


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "There is no result.json: the grading did not finish."
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return clean(f"result.json cannot be read: {first['msg']}{f' (at {where})' if where else ''}", MESSAGE_BYTES)
    if isinstance(error, OSError):
        return clean(f"result.json cannot be read: {error.strerror}", MESSAGE_BYTES)
    return clean(str(error), MESSAGE_BYTES)
