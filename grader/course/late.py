"""`[late]` in course.toml: which hand-in counts, deadlines, the cost of being late, and a person's decisions."""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Iterable
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from grader.results.record import Table
from grader.results.text import compose


def _with_a_time(value: Any) -> Any:
    # A date without a time would mean the midnight at its beginning, which nobody intends.
    if not isinstance(value, datetime.datetime):
        raise ValueError("expected a date with a time, such as 2026-10-01T23:59:00")
    return value


Moment = Annotated[datetime.datetime, BeforeValidator(_with_a_time)]
Percent = Annotated[float, Field(ge=0, le=100, strict=True)]
Name = Annotated[str, Field(min_length=1, strict=True), AfterValidator(compose)]


def _utc(moment: datetime.datetime) -> datetime.datetime:
    return moment.astimezone(datetime.UTC)


class Lateness(NamedTuple):
    """The time from a deadline to a hand-in by the course's clock: whole days, and the seconds of a further day that
    has begun. That day is `length` seconds long."""

    days: int
    seconds: float
    length: float

    @property
    def in_days(self) -> float:
        return self.days + self.seconds / self.length

    def less(self, days: int) -> Lateness:
        """Return the lateness that is left after this many grace days."""
        return Lateness(self.days - days, self.seconds, self.length) if days <= self.days else IN_TIME


IN_TIME = Lateness(0, 0, 86_400)


class Extension(Table):
    """A later deadline for a student, in one assignment or in all that have an earlier deadline."""

    student: Name
    assignment: str | None = None
    until: Moment


class ExcusedAssignment(Table):
    """An assignment that does not count for a student, with the reason and the person who decided it."""

    student: Name
    assignment: str
    reason: Name
    by: Name


class Override(ExcusedAssignment):
    """Points that a person gives, which are final."""

    points: Annotated[float, Field(ge=0, le=1_000_000, strict=True)]


class LatePolicy(Table):
    """The late policy. Times without a zone are in `zone`, and are shown in it. A day lasts until a clock there shows
    the same time again: 25 or 23 hours where clocks change."""

    count: Literal["latest", "best", "chosen"] = "latest"
    zone: str | None = None
    percent: Percent = 0
    by: Literal["day", "linear"] = "day"
    most: Percent = 100
    cap: Percent = 100
    grace_days: Annotated[int, Field(ge=0, le=999, strict=True)] = 0
    deadlines: dict[str, Moment] = {}
    extensions: tuple[Extension, ...] = ()
    excused: tuple[ExcusedAssignment, ...] = ()
    overrides: tuple[Override, ...] = ()

    @field_validator("zone")
    @classmethod
    def _known(cls, zone: str | None) -> str | None:
        try:
            zoneinfo.ZoneInfo(zone or "UTC")
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("expected a time zone of this machine, such as Europe/Berlin") from None
        return zone

    @model_validator(mode="after")
    def _once(self) -> Self:
        for what in ("excused", "overrides"):
            named = [(entry.student.casefold(), entry.assignment) for entry in getattr(self, what)]
            if twice := next((pair for pair in named if named.count(pair) > 1), None):
                raise ValueError(f"{what}: {' '.join(twice)!r} is listed twice; list it once")
        given = {(entry.student.casefold(), entry.assignment) for entry in self.overrides}
        if both := next((
                entry for entry in self.excused if (entry.student.casefold(), entry.assignment) in given), None):
            raise ValueError(f"{both.student!r} is excused from {both.assignment} and given points in it; remove one "
                             "of the two")
        return self

    @model_validator(mode="after")
    def _zoned(self) -> Self:
        moments = [*((f"deadlines.{name}", moment) for name, moment in self.deadlines.items()),
                   *((f"extensions of {extension.student!r}: until", extension.until) for extension in self.extensions)]
        for key, moment in moments:
            if moment.tzinfo is not None:
                continue
            if self.zone is None:
                raise ValueError(
                    f"zone is missing, and {moment.isoformat()} has none of its own; add one such as \"Europe/Berlin\"")
            first, second = (moment.replace(tzinfo=zoneinfo.ZoneInfo(self.zone), fold=fold) for fold in (0, 1))
            if first.utcoffset() != second.utcoffset():
                # When clocks go forward, some times do not exist: such a time comes back as another one.
                skipped = first.astimezone(datetime.UTC).astimezone(first.tzinfo).replace(tzinfo=None) != moment
                raise ValueError(
                    f"{key}: clocks in {self.zone} {'skip' if skipped else 'show twice'} {moment.isoformat()}; choose "
                    f"another hour, or write which is meant: {max(first, second, key=_utc).isoformat()}")
        return self

    @model_validator(mode="after")
    def _extending(self) -> Self:
        for extension in self.extensions:
            ends = [self.instant(end) for name, end in self.deadlines.items() if extension.assignment in (None, name)]
            if not any(self.instant(extension.until) > end for end in ends):
                whose = f"of {extension.student!r} in {extension.assignment or 'every assignment'}"
                why = "is not after the deadline" if ends else "extends no deadline, since there is none"
                raise ValueError(f"extensions: until {extension.until.isoformat()} {whose} {why}")
        return self

    @property
    def assignments(self) -> list[str]:
        """Return the assignments that the policy names."""
        extended = [extension.assignment for extension in self.extensions if extension.assignment is not None]
        return [*self.deadlines, *extended, *(entry.assignment for entry in (*self.excused, *self.overrides))]

    @property
    def names_students(self) -> bool:
        """Return whether the policy names students: other students must not see that."""
        return bool(self.extensions or self.excused or self.overrides)

    def instant(self, moment: datetime.datetime) -> datetime.datetime:
        """Return a moment in UTC."""
        return _utc(moment if moment.tzinfo else moment.replace(tzinfo=zoneinfo.ZoneInfo(self.zone or "UTC")))

    def lateness(self, instant: datetime.datetime, deadline: datetime.datetime) -> Lateness:
        """Return how long after a deadline an instant is."""
        local = deadline.astimezone(zoneinfo.ZoneInfo(self.zone or "UTC"))

        def end(days: int) -> datetime.datetime:
            if not days:
                return _utc(deadline)
            # If clocks show this time twice or skip it, take the later moment.
            there = local + datetime.timedelta(days)
            return max(_utc(there.replace(fold=fold)) for fold in (0, 1))

        if (late := (instant - deadline).total_seconds()) <= 0:
            return IN_TIME
        days = max(0, int(late // IN_TIME.length) - 1)
        while end(days + 1) <= instant:
            days += 1
        return Lateness(days, (instant - end(days)).total_seconds(), (end(days + 1) - end(days)).total_seconds())

    def words(self, instant: datetime.datetime) -> str:
        """Return a time as a clock in the course's zone shows it."""
        return instant.astimezone(zoneinfo.ZoneInfo(self.zone or "UTC")).isoformat()

    def strangers(self, known: Iterable[str]) -> list[str]:
        """Return the ids in extensions, excuses and overrides that are not in `known`."""
        here = {name.casefold() for name in known}
        named = [extension.student for extension in self.extensions]
        named += [entry.student for entry in (*self.excused, *self.overrides)]
        return list(dict.fromkeys(name for name in named if name.casefold() not in here))

    def deadline(self, student: str, assignment: str) -> datetime.datetime | None:
        """Return a student's deadline, in UTC; None if there is none."""
        if assignment not in self.deadlines:
            return None
        extended = [extension.until for extension in self.extensions
                    if extension.student.casefold() == student.casefold()
                    and extension.assignment in (None, assignment)]
        return max(map(self.instant, (self.deadlines[assignment], *extended)))
