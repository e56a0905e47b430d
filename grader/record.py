"""What all records of results are made of."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, model_validator


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Renewed(Record):
    """A record that has lost fields, `RETIRED`, which those of earlier versions still have."""

    RETIRED: ClassVar[frozenset[str]]

    @model_validator(mode="before")
    @classmethod
    def _renew(cls, data: Any) -> Any:
        return {name: value for name, value in data.items() if name not in cls.RETIRED} if isinstance(
            data, dict) else data
