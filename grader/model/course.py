"""`course.toml`: what a TA decides. Validated as a whole before any student's code runs."""

from __future__ import annotations

import difflib
import hashlib
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from grader.model import catalogue
from grader.model.late import Late
from grader.plan.device import DEFAULT_TARGET, TARGETS

Points = Annotated[float, Field(ge=0, le=1_000_000, strict=True)]
Ratio = Annotated[float, Field(gt=0, le=1000, strict=True)]


class CourseError(Exception):
    """course.toml cannot be used; one line that says where, what, and what was expected."""

    def __init__(self, message: str) -> None:
        # Keys and names are quoted from the file, line breaks and all.
        super().__init__("".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in message))


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AssignmentPoints(_Table):
    correctness: Points
    performance: Points


class PointsTable(_Table):
    correctness: Points = 60
    performance: Points = 40
    credit: Literal["all", "per_case"] = "all"
    assignments: dict[str, AssignmentPoints] = {}


class Threshold(_Table):
    """Ratios baseline ÷ student: no performance points at `floor`, all at `target`."""

    floor: Ratio
    target: Ratio

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if self.floor >= self.target:
            raise ValueError(f"floor below target expected, got {self.floor:g} and {self.target:g}")
        return self


class Thresholds(Threshold):
    floor: Ratio = 0.2
    target: Ratio = 0.9
    assignments: dict[str, Threshold] = {}


class LimitsTable(_Table):
    call_seconds: Annotated[float, Field(gt=0, le=3600, strict=True)] = 10
    assignment_seconds: Annotated[float, Field(gt=0, le=86400, strict=True)] = 40
    attempt_seconds: Annotated[float, Field(gt=0, le=86400, strict=True)] = 60
    memory_mb: Annotated[int, Field(ge=256, le=4_194_304, strict=True)] = 4096
    processes: Annotated[int, Field(ge=1, le=100_000, strict=True)] = 64
    file_mb: Annotated[int, Field(ge=1, le=1_048_576, strict=True)] = 64
    source_kb: Annotated[int, Field(ge=1, le=128, strict=True)] = 128

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.call_seconds > self.assignment_seconds:
            raise ValueError("call_seconds at most assignment_seconds expected")
        return self


class IsolationTable(_Table):
    """`minimum` is a level of `grader.engine.forkserver.isolation`: 0 none … 4 sealed."""

    minimum: Annotated[int, Field(ge=0, le=4, strict=True)] = 2


class GpuTable(_Table):
    """`target` is a GPU of `grader.plan.device.TARGETS`."""

    target: str = DEFAULT_TARGET

    @field_validator("target")
    @classmethod
    def _known(cls, target: str) -> str:
        if target not in TARGETS:
            raise ValueError(f"one of {', '.join(TARGETS)} expected")
        return target


class Policy(_Table):
    violation: Literal["zero", "flag"] = "zero"
    assembly: Literal["show", "refuse"] = "show"


class Course(_Table):
    """`assignments` are those that the course has, in any order; None for all that there are."""

    assignments: tuple[str, ...] | None = None
    points: PointsTable = PointsTable()
    thresholds: Thresholds = Thresholds()
    limits: LimitsTable = LimitsTable()
    gpu: GpuTable = GpuTable()
    policy: Policy = Policy()
    isolation: IsolationTable = IsolationTable()
    late: Late = Late()
    sha256: str = ""

    @field_validator("assignments", mode="before")
    @classmethod
    def _named(cls, names: object) -> object:
        named = isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names)
        if names is not None and not named:
            raise ValueError("a list of at least one name expected; without this key the course has every assignment")
        return names

    def select(self, names: Collection[str], only: Collection[str]) -> list[str]:
        """Those of `names` to grade, in their order: the ones in `only`, of the course or not, or else the course's.

        Raises ValueError, one line, where `only` names one that is not there.
        """
        return catalogue.select(names, only or self.assignments or ())

    @property
    def source_bytes(self) -> int:
        """How long a student's file may be."""
        return self.limits.source_kb * 1024

    def points_of(self, assignment: str) -> AssignmentPoints:
        own = self.points.assignments.get(assignment)
        return own or AssignmentPoints(correctness=self.points.correctness, performance=self.points.performance)

    def threshold_of(self, assignment: str) -> Threshold:
        return self.thresholds.assignments.get(assignment, self.thresholds)


def read_course(path: Path, known: frozenset[str]) -> Course:
    """The course in `path`. `known` are the assignments there are. Raises CourseError, one line."""
    try:
        data = path.read_bytes()
        table = tomllib.loads(data.decode())
    except OSError as error:
        raise CourseError(f"{path}: {error.strerror}; a readable file expected") from None
    # tomllib lets through the ValueError of a number of 5,000 digits, and the RecursionError of a thousand "[".
    except (ValueError, RecursionError) as error:
        raise CourseError(f"{path}: not TOML: {error}; a file like the shipped one expected") from None
    if "sha256" in table:
        raise CourseError(f"{path}: sha256: no such key")
    try:
        course = Course.model_validate(table | {"sha256": hashlib.sha256(data).hexdigest()})
    except ValidationError as error:
        raise CourseError(f"{path}: {_first(error)}") from None
    there = f"no such assignment; one of {', '.join(sorted(known))} expected"
    for name in course.assignments or ():
        if name not in known:
            raise CourseError(f"{path}: assignments: {name!r}: {there}")
    for section, names in (("points", course.points.assignments), ("thresholds", course.thresholds.assignments)):
        for name in names:
            if name not in known:
                raise CourseError(f"{path}: {section}.assignments.{name}: {there}")
    for name in course.late.assignments:
        if name not in known:
            raise CourseError(f"{path}: late: {name!r}: {there}")
        if name not in (course.assignments or known):
            raise CourseError(f"{path}: late: {name!r}: not one of this course's assignments = […]; one of "
                              f"{', '.join(course.assignments or ())} expected")
    return course


def _first(error: ValidationError) -> str:
    """The first of the errors: key, what was expected, what was there."""
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"]) or "file"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(first["loc"][-1]), _keys(first["loc"][:-1]), 1)
        meant = f"{near[0]} meant?" if near else "only those of the shipped course.toml expected"
        return f"{key}: no such key; {meant}{more}"
    expected = "a table expected" if first["type"] == "model_type" else first["msg"].removeprefix("Value error, ")
    got = f", got {_shown(first['input'])}" if not isinstance(first["input"], dict) else ""
    return f"{key}: {expected}{got}{more}"


def _keys(path: Sequence[int | str]) -> list[str]:
    """The keys of the table at `path`, in which names of assignments and places in lists stand, too."""
    table: type[BaseModel] = Course
    for part in path:
        if (key := table.model_fields.get(str(part))) is not None:
            table = next(one for one in (key.annotation, *get_args(key.annotation))
                         if isinstance(one, type) and issubclass(one, BaseModel))
    return list(table.model_fields)


def _shown(value: object) -> str:
    try:
        return repr(str(value)[:60])
    except (ValueError, RecursionError):
        # A hexadecimal number of 5,000 digits, or keys a thousand deep.
        return type(value).__name__
