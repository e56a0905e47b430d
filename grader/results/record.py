"""The bases of models: records of results, and tables that people write."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Part of a result. Attempts are stored for years, so keys of other versions are ignored."""

    model_config = ConfigDict(extra="ignore")


class Table(BaseModel):
    """Part of an assignment or a course file, as a person wrote it: an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
