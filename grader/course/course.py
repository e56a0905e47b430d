"""`course.toml`, the TA's decisions. The file is validated as a whole before any student's code runs."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AwareDatetime,
    BaseModel,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from grader import languages
from grader.course import catalogue
from grader.course.assignment import Assignment
from grader.course.late import LatePolicy
from grader.course.roster import Names
from grader.course.submission import Languages
from grader.errors import UserError, advised
from grader.plan.device import DEFAULT_TARGET, TARGETS
from grader.results.record import Table
from grader.results.structure import Conditions, selected_conditions

Points = Annotated[float, Field(ge=0, le=1_000_000, strict=True)]
Ratio = Annotated[float, Field(gt=0, le=1000, strict=True)]



class AssignmentPoints(Table):
    correctness: Points
    performance: Points
    structure: Points = 0

    @property
    def max_score(self) -> float:
        return self.correctness + self.performance + self.structure


class PointsTable(Table):
    correctness: Points = 60
    performance: Points = 40
    structure: Points = 0
    credit: Literal["all", "per_case"] = "all"
    assignments: dict[str, AssignmentPoints] = {}


class Threshold(Table):
    """Ratios of baseline time to student time: no performance points at `floor`, all of them at `target`."""

    floor: Ratio
    target: Ratio

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if self.floor >= self.target:
            raise ValueError(f"expected floor below target, got {self.floor:g} and {self.target:g}")
        return self


class Thresholds(Threshold):
    floor: Ratio = 0.2
    target: Ratio = 0.9
    assignments: dict[str, Threshold] = {}


class LimitsTable(Table):
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
            raise ValueError("expected call_seconds of at most assignment_seconds")
        return self


class IsolationTable(Table):
    """The isolation that a course requires. `minimum` is a level of `grader.sandbox.forkserver.isolation`, from 0
    (none) to 4 (sealed)."""

    minimum: Annotated[int, Field(ge=0, le=4, strict=True)] = 2


class GpuTable(Table):
    """The course's GPU; `target` is a GPU of `grader.plan.device.TARGETS`."""

    target: str = DEFAULT_TARGET

    @field_validator("target")
    @classmethod
    def _known(cls, target: str) -> str:
        if target not in TARGETS:
            raise ValueError(f"expected one of {', '.join(TARGETS)}")
        return target


class RecordsTable(Table):
    """The records of gradings. `group` is the Unix group that shares a folder of results; without it, records belong to
    their owner alone."""

    group: Annotated[str, Field(min_length=1, strict=True)] | None = None


class Policy(Table):
    violation: Literal["zero", "flag"] = "zero"
    assembly: Literal["show", "refuse"] = "show"
    libraries: Literal["show", "refuse"] = "show"


class HintsTable(Table):
    """The hints about a wrong kernel. `level` says how much a student sees of a change that makes the kernel right;
    at most `tries` changes of a file are tried."""

    level: Literal["off", "place", "kind", "edit"] = "kind"
    tries: Annotated[int, Field(ge=1, le=4096, strict=True)] = 200


class SubmissionsTable(Table):
    """The rules of a course server: which attempt counts (None: as `late.count` says); the most files of an assignment
    that a student may send in 24 hours (0: any number); the most files of a student that are judged at a time; and the
    moments after which it takes none, by assignment."""

    counts: Literal["best", "last", "chosen"] | None = None
    per_day: Annotated[int, Field(ge=0, le=10_000, strict=True)] = 0
    at_once: Annotated[int, Field(ge=1, le=1_000, strict=True)] = 1
    closes: dict[str, AwareDatetime] = {}


class PageTable(Table):
    """The form of `names` on the class page and in the gradebook."""

    names: Names = "real"


class Course(Table):
    """The course. `assignments` are the names of its assignments, in any order; None: all assignments. `languages` are
    the languages that count; if there are none, all count. `both` as in `grader.course.submission.Languages`."""

    assignments: tuple[str, ...] | None = None
    languages: tuple[str, ...] = ()
    both: Literal["refuse", "first"] = "refuse"
    points: PointsTable = PointsTable()
    thresholds: Thresholds = Thresholds()
    structure: dict[str, dict[str, Any]] = {}
    limits: LimitsTable = LimitsTable()
    gpu: GpuTable = GpuTable()
    policy: Policy = Policy()
    hints: HintsTable = HintsTable()
    isolation: IsolationTable = IsolationTable()
    page: PageTable = PageTable()
    records: RecordsTable = RecordsTable()
    submissions: SubmissionsTable = SubmissionsTable()
    late: Annotated[LatePolicy, Field(validate_default=True)] = LatePolicy()
    sha256: str = ""

    @field_validator("assignments", mode="before")
    @classmethod
    def _named(cls, names: object) -> object:
        named = isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names)
        if names is not None and not named:
            raise ValueError("expected a list of at least one name; without this key the course has every assignment")
        if isinstance(names, list | tuple) and (twice := next((name for name in names if names.count(name) > 1), None)):
            raise ValueError(f"assignment {twice!r} is listed twice; list it once")
        return names

    @field_validator("late")
    @classmethod
    def _counting(cls, late: LatePolicy, info: ValidationInfo) -> LatePolicy:
        table = info.data.get("submissions")
        if table is None or table.counts is None:
            return late
        count = "latest" if table.counts == "last" else table.counts
        if "count" in late.model_fields_set and late.count != count:
            raise ValueError(f"count is {late.count!r}, and submissions.counts {table.counts!r}; leave one of them out")
        return late.model_copy(update={"count": count})

    @field_validator("languages")
    @classmethod
    def _read(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        known = languages.front_ends()
        if wrong := [name for name in names if name not in known]:
            raise ValueError(f"{wrong[0]!r}: no such language; choose from {', '.join(known)}")
        return names

    @property
    def counted(self) -> Languages:
        known = languages.front_ends()
        suffixes = tuple(dict.fromkeys(known[name].suffix for name in self.languages))
        return Languages(suffixes, self.both, self.languages)

    def select(self, names: Collection[str], only: Collection[str], option: str = "") -> list[str]:
        """Return the `names` to grade, in their order: the course's, or the ones in `only`, even if the course
        lacks them. Raises UserError, which begins with the `option`, if `only` holds a name that is not in `names`."""
        return catalogue.select(names, only or self.assignments or (), option)

    @property
    def source_bytes(self) -> int:
        """Return the largest size of a student's file, in bytes."""
        return self.limits.source_kb * 1024

    def points_of(self, assignment: str) -> AssignmentPoints:
        own = self.points.assignments.get(assignment)
        return own or AssignmentPoints(correctness=self.points.correctness, performance=self.points.performance,
                                       structure=self.points.structure)

    def structure_of(self, assignment: Assignment) -> Conditions:
        """Return the conditions that the course has switched on for an assignment: the assignment's own if they earn
        points, with those of its table; otherwise the required ones alone. Raises ValueError, one line."""
        where, points = f"structure.{assignment.name}", self.points_of(assignment.name).structure
        table = dict(self.structure.get(assignment.name, {}))
        required = table.pop("requires", [])
        if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
            raise ValueError(f"{where}.requires: expected a list of conditions")
        own = assignment.own_conditions()
        known = assignment.known_conditions | own
        needed = selected_conditions({name: known.get(name, True) for name in required}, known, f"{where}.requires")
        wanted = (own if points else {}) | needed | selected_conditions(table, known, where)
        # A condition that no kernel of the language can meet earns no points, and costs none.
        wanted = {name: condition for name, condition in wanted.items() if table.get(name) is not False
                  and ((points and name not in assignment.front_end.lacks) or name in needed)}
        if off := needed.keys() - wanted.keys():
            raise ValueError(f"{where}: {min(off)} is required and false; take it out of requires, or set a limit")
        if points and not wanted.keys() - needed.keys():
            raise ValueError(f"{where}: no condition earns its {points:g} points; add one, or give "
                             f"points.assignments.{assignment.name} no points for structure")
        return Conditions(wanted, frozenset(required))

    def threshold_of(self, assignment: str) -> Threshold:
        return self.thresholds.assignments.get(assignment, self.thresholds)


def read_course(path: Path, known: frozenset[str]) -> Course:
    """Return the course in `path`. `known` are the names of all assignments. Raises UserError, one line."""
    with advised("name a readable file", path):
        data = path.read_bytes()
    try:
        table = tomllib.loads(data.decode())
    # tomllib also raises ValueError for a number of 5,000 digits, and RecursionError for a thousand brackets "[".
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not TOML: {error}; write it like the shipped course.toml") from None
    if "sha256" in table:
        raise UserError(f"{path}: sha256: no such key; remove it")
    try:
        course = Course.model_validate(table | {"sha256": hashlib.sha256(data).hexdigest()})
    except ValidationError as error:
        raise UserError(f"{path}: {_first_error(error, table)}") from None
    if not known:
        raise UserError(f"{path}: the course has no assignments; kernelmark new NAME writes one")
    unknown = f"no such assignment; choose from {', '.join(sorted(known))}"
    for name in course.assignments or ():
        if name not in known:
            raise UserError(f"{path}: assignments: {name!r}: {unknown}")
    for section, names in (
            ("points.assignments", course.points.assignments),
            ("thresholds.assignments", course.thresholds.assignments),
            ("submissions.closes", course.submissions.closes), ("structure", course.structure)):
        for name in names:
            if name not in known:
                raise UserError(f"{path}: {section}.{name}: {unknown}")
    if course.structure or course.points.structure or any(
            points.structure for points in course.points.assignments.values()):
        taught = catalogue.assignments()
        for name in course.assignments or known:
            try:
                course.structure_of(taught[name])
            except ValueError as error:
                raise UserError(f"{path}: {error}") from None
    for name in course.late.assignments:
        if name not in known:
            raise UserError(f"{path}: late: {name!r}: {unknown}")
        if name not in (course.assignments or known):
            raise UserError(f"{path}: late: {name!r}: not one of this course's assignments = […]; choose from "
                              f"{', '.join(course.assignments or ())}")
    for given in course.late.overrides:
        if given.points > (most := course.points_of(given.assignment).max_score):
            raise UserError(
                f"{path}: late.overrides of {given.student!r} in {given.assignment}: {given.points:g} points of "
                f"{most:g}; give at most {most:g} (kernelmark mark gives points on top)")
    return course


def _first_error(error: ValidationError, table: object) -> str:
    """Return the first error in words: the key, what is expected, and what the file has."""
    first = error.errors(include_url=False)[0]
    key = _key(first["loc"], table) or "file"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(first["loc"][-1]), _keys(first["loc"][:-1]), 1)
        meant = f"{near[0]} meant?" if near else "use the keys of the shipped course.toml"
        return f"{key}: no such key; {meant}{more}"
    expected = "expected a table" if first["type"] == "model_type" else first["msg"].removeprefix("Value error, ")
    got = f", got {_shown(first['input'])}" if not isinstance(first["input"], dict) else ""
    return f"{key}: {expected}{got}{more}"


def _key(path: Sequence[int | str], table: object) -> str:
    """Return a key in the form in which its author finds it: an entry of a list by its student, if it names one, or
    else by its position."""
    key = ""
    for part in path:
        inner: Any = table
        table = None
        with contextlib.suppress(KeyError, IndexError, TypeError):
            table = inner[part]
        if isinstance(part, int) and isinstance(table, dict) and table.get("student"):
            of = f" in {_shown(table['assignment'])}" if table.get("assignment") else ""
            key += f" of {_shown(table['student'])}{of}:"
        else:
            key += f"{' ' if key.endswith(':') else '.' * bool(key)}{part}"
    return key.removesuffix(":")


def _keys(path: Sequence[int | str]) -> list[str]:
    """Return the keys of the table at `path`; parts that are names of assignments or positions in lists are skipped."""
    table: type[BaseModel] = Course
    for part in path:
        if (key := table.model_fields.get(str(part))) is not None:
            table = next(kind for kind in (key.annotation, *get_args(key.annotation))
                         if isinstance(kind, type) and issubclass(kind, BaseModel))
    return list(table.model_fields)


def _shown(value: object) -> str:
    try:
        return repr(str(value)[:60])
    except (ValueError, RecursionError):
        # The value may be a hexadecimal number of 5,000 digits, or keys nested a thousand deep.
        return type(value).__name__
