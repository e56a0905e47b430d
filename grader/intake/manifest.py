"""`intake.json` in the folder that an intake writes: whose each submission is, when it was handed in, and where it came
from; what was taken of it and what was left. Policy and exports read this."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

SCHEMA: Final = "kernelmark/intake/v1"
FILE = "intake.json"
MAX_BYTES = 64 << 20

Kind = Literal["folders", "archives", "canvas", "gradescope", "moodle", "git", "pattern"]


class ManifestError(Exception):
    """There is no manifest that can be read; one line that says what, where and what was expected."""


def _utf8(text: object) -> object:
    """Text of what may be the bytes of a file's name."""
    return os.fsencode(text).decode("utf-8", "replace") if isinstance(text, str) else text


Text = Annotated[str, BeforeValidator(_utf8)]


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Member(Record):
    """A person. `id` is the roster's, or else the one of the source, which is always `source_id`: Canvas's number of a
    user, Moodle's of a participant, Gradescope's `sid`, a folder's name."""

    id: Text
    name: Text = ""
    email: Text = ""
    section: Text = ""
    source_id: Text = ""


class Left(Record):
    """Something of the source that is not graded, by its name there, and why. `meant` are the missing files that it
    seems to be meant for."""

    name: Text
    why: Text
    meant: list[str] = []


class HandIn(Record):
    """A submission: the folder it was written to, and whose it is."""

    folder: str
    members: list[Member] = Field(min_length=1, description="one person, or those of a group")
    submitted_at: str | None = Field(default=None, description="ISO 8601 with a zone; null: the source does not say")
    late: bool | None = Field(default=None, description="as the source has it; null: it does not say")
    origin: list[Text] = Field(description="its folders or files in the source")
    taken: dict[str, Text] = Field(default={}, description="files written, each with its name in the source")
    left: list[Left] = []
    problems: list[Text] = Field(default=[], description="what could not be read of it, as its student may read it")

    @field_validator("submitted_at")
    @classmethod
    def _an_instant(cls, text: str | None) -> str | None:
        if text is not None and datetime.datetime.fromisoformat(text).tzinfo is None:
            raise ValueError("a time with a zone expected")
        return text


class Manifest(Record):
    """What an intake made of a source."""

    schema_: Literal["kernelmark/intake/v1"] = Field(default=SCHEMA, alias="schema")
    kind: Kind
    source: Text = Field(description="the name of the file or folder that was taken in")
    submissions: list[HandIn]
    left: list[Left] = Field(default=[], description="what belongs to no submission")
    missing: list[Member] = Field(default=[], description="of the roster, those of whom there is no submission")
    unknown: list[str] = Field(default=[], description="folders of submissions of which the roster lacks a member")

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


def read_manifest(folder: Path) -> Manifest:
    """The manifest in a folder that an intake wrote. Raises ManifestError, one line."""
    path = folder / FILE
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ManifestError(f"{path}: more than {MAX_BYTES >> 20} MiB; the file that an intake wrote expected")
        return Manifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}; the folder that kernelmark intake wrote expected") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ManifestError(f"{path}: {where + ': ' if where else ''}{first['msg']}; "
                            "the file as kernelmark intake wrote it expected") from None
