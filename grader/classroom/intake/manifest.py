"""The submissions of a source before anything is copied; and `intake.json` in the folder that an intake writes: owner,
time and origin of each submission, the files that were taken, and the files that were left out. Late policy and exports
read it."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from grader import temporary
from grader.course.workspace import ARCHIVES
from grader.errors import UserError, advised
from grader.results.text import compose

SCHEMA: Final = "kernelmark/intake/v1"
FILE = "intake.json"
MAX_BYTES = 64 << 20

Kind = Literal["folders", "archives", "canvas", "gradescope", "moodle", "git", "pattern"]



def _utf8(text: object) -> object:
    """Replace the surrogates in a file name that is not UTF-8."""
    return os.fsencode(text).decode("utf-8", "replace") if isinstance(text, str) else text


def _name(text: object) -> object:
    return compose(text) if isinstance(text := _utf8(text), str) else text


Text = Annotated[str, BeforeValidator(_utf8)]
Name = Annotated[str, BeforeValidator(_name)]


class ManifestRecord(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Member(ManifestRecord):
    """A person. `source_id` is the id in the source: Canvas's user number, Moodle's participant number, Gradescope's
    `sid`, or a folder's name. `id` is the id in the roster; `source_id` again if the roster lacks the person."""

    id: Name
    name: Name = ""
    email: Name = ""
    section: Name = ""
    source_id: Name = ""


class OmittedFile(ManifestRecord):
    """A file of the source that is left out: its name in the source, and the reason. `meant` are the missing files that
    it seems to be meant for."""

    name: Text
    why: Text
    meant: list[str] = []


class ManifestEntry(ManifestRecord):
    """A submission: its folder in the class, its members, times and files."""

    folder: str
    members: list[Member] = Field(min_length=1, description="one person, or those of a group")
    submitted_at: str | None = Field(default=None, description="ISO 8601 with a zone; null: the source does not say")
    late: bool | None = Field(default=None, description="as the source has it; null: it does not say")
    commit: Text = Field(default="", description="of git clones: the commit that was taken")
    tag: Text = Field(default="", description="its last tag submit/… at that commit")
    origin: list[Text] = Field(description="its folders or files in the source")
    taken: dict[str, Text] = Field(default={}, description="files written, each with its name in the source")
    left: list[OmittedFile] = []
    notes: list[Text] = Field(default=[], description="of what a file was made, in words that the student may see")
    problems: list[Text] = Field(default=[], description="what could not be read, in words that the student may see")

    @field_validator("submitted_at")
    @classmethod
    def _an_instant(cls, text: str | None) -> str | None:
        if text is not None and datetime.datetime.fromisoformat(text).tzinfo is None:
            raise ValueError("expected a time with a zone")
        return text


class Manifest(ManifestRecord):
    """The result of an intake."""

    schema_: Literal["kernelmark/intake/v1"] = Field(default=SCHEMA, alias="schema")
    kind: Kind
    source: Text = Field(description="the name of the file or folder that was taken in")
    course: Text = Field(default="", description="the course file whose assignments were looked for")
    submissions: list[ManifestEntry]
    left: list[OmittedFile] = Field(default=[], description="files that belong to no submission")
    missing: list[Member] = Field(default=[], description="students of the roster without a submission")
    unknown: list[str] = Field(default=[], description="folders of submissions with a member who is not in the roster")

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest in a folder that an intake wrote. Raises UserError, one line."""
    path = folder / FILE
    with advised("name the folder that kernelmark intake wrote", path):
        if path.stat().st_size > MAX_BYTES:
            raise UserError(f"{path}: more than {MAX_BYTES >> 20} MiB; run kernelmark intake again")
        content = path.read_bytes()
    try:
        return Manifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{path}: {where + ': ' if where else ''}{first['msg']}; run kernelmark intake again"
                            ) from None


OTHER = "no assignment's file"
WORK = f"{temporary.PREFIX}intake-"
"""The prefix of the name of the temporary folder in which an intake works."""
LITTER = "hidden, installed, or written by a system"



@dataclass(frozen=True)
class RawPart:
    """A file or folder of a submission: its path; its name as handed in, "" if the folder is the whole submission; its
    name in the source."""

    path: Path
    name: str
    shown: str


@dataclass
class RawSubmission:
    """A submission as its source has it. `folder` is the name that its folder in the class gets if possible."""

    folder: str
    members: list[Member]
    parts: list[RawPart] = field(default_factory=list)
    submitted_at: str | None = None
    late: bool | None = None
    commit: str = ""
    tag: str = ""
    origin: list[str] = field(default_factory=list)
    left: list[OmittedFile] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass
class RawSource:
    """All submissions of a source. The files in `left` belong to none of them."""

    submissions: list[RawSubmission]
    left: list[OmittedFile] = field(default_factory=list)


def is_litter(name: str) -> bool:
    """Return whether a name is one such as `.git`, `.DS_Store`, `__MACOSX` or `__pycache__`."""
    return name.startswith((".", "__"))


def is_archive(name: str) -> bool:
    return name.casefold().endswith(ARCHIVES)


def entries(folder: Path, *, litter: bool = False) -> list[os.DirEntry[str]]:
    """Return the entries of a folder, sorted by name: all except litter, or with `litter` only the litter. Raises
    UserError."""
    with advised("make the folder readable", folder):
        wanted = [entry for entry in os.scandir(folder) if is_litter(entry.name) is litter]
    return sorted(wanted, key=lambda entry: entry.name)


def walk_files(folder: Path, unread: Callable[[OSError], None] | None = None) -> Iterator[tuple[Path, bool]]:
    """Yield each file below a folder, with False; and, with True, each folder that is not searched: litter, installed
    packages, links. If a folder cannot be read, `unread` is called with the error."""
    for at, folders, files in os.walk(folder, onerror=unread):
        if "pyvenv.cfg" in files and Path(at) != folder:
            folders.clear()
            yield Path(at), True
            continue
        for name in sorted(folders):
            # Path.is_symlink would raise for a path that is too long.
            if is_litter(name) or os.path.islink(Path(at, name)):  # noqa: PTH114
                folders.remove(name)
                yield Path(at) / name, True
        folders.sort()
        yield from ((Path(at) / name, False) for name in sorted(files))
