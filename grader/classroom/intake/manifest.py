"""`intake.json` in the folder that an intake writes: owner, time and origin of each submission, the files that were
taken, and the files that were left out. Late policy and exports read it."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from grader.results.text import composed

SCHEMA: Final = "kernelmark/intake/v1"
FILE = "intake.json"
MAX_BYTES = 64 << 20

Kind = Literal["folders", "archives", "canvas", "gradescope", "moodle", "git", "pattern"]


class ManifestError(Exception):
    """A manifest that cannot be read; one line says what is wrong, where, and what to do."""


def _utf8(text: object) -> object:
    """Replace the surrogates in a file name that is not UTF-8."""
    return os.fsencode(text).decode("utf-8", "replace") if isinstance(text, str) else text


def _name(text: object) -> object:
    return composed(text) if isinstance(text := _utf8(text), str) else text


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


class Left(ManifestRecord):
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
    left: list[Left] = []
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
    left: list[Left] = Field(default=[], description="files that belong to no submission")
    missing: list[Member] = Field(default=[], description="students of the roster without a submission")
    unknown: list[str] = Field(default=[], description="folders of submissions with a member who is not in the roster")

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest in a folder that an intake wrote. Raises ManifestError, one line."""
    path = folder / FILE
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ManifestError(f"{path}: more than {MAX_BYTES >> 20} MiB; run kernelmark intake again")
        return Manifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}; name the folder that kernelmark intake wrote") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ManifestError(f"{path}: {where + ': ' if where else ''}{first['msg']}; run kernelmark intake again"
                            ) from None
