"""Marks that people give a student's work beside the judge: points and comments, requests for regrading, answers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator

from grader.model.record import Record


def _finite(points: float) -> float:
    if not math.isfinite(points):
        raise ValueError("a number expected")
    return points


class Mark(Record):
    """A mark: `points` that a person gave beside the automatic ones, less than 0 where they are taken off, and a
    comment; a `request` for regrading; or the `answer` to one, which is the request `of`.

    `slug` is the folder whose work it is about, "" if there is none yet. `student` is the one member of a group whom it
    is for, or whoever handed in nothing; "" if it is for everybody whose folder it is. `at` is ISO 8601, UTC.
    """

    id: int = 0
    kind: Literal["mark", "request", "answer"] = "mark"
    slug: str = ""
    student: str = ""
    assignment: str
    points: Annotated[float, AfterValidator(_finite)] = 0
    comment: str = ""
    by: str
    at: str = ""
    of: int | None = None

    @property
    def said(self) -> str:
        """Return the mark as a sentence, for reports and exports."""
        who = f"{self.by} ({self.at[:10]})" if self.at else self.by
        whom = f" for {self.student}" if self.student else ""
        points = f"{signed(self.points)} {'point' if abs(self.points) == 1 else 'points'}" if self.points else ""
        does = {"mark": "", "request": " asks for regrading", "answer": " answers"}[self.kind]
        return f"{who}{does}{whom}: {'; '.join(filter(None, (points, ' '.join(self.comment.split()))))}"


def signed(points: float) -> str:
    """Return points with their sign: `+5`, `−2.5`."""
    return f"{'−' if points < 0 else '+'}{abs(points):.6g}"


def counting(marks: Iterable[Mark]) -> list[Mark]:
    """Return the marks that count, a request before its answer: of a student's marks in an assignment the newest, and
    of the answers to a request the newest. A newer mark without points and comment takes the earlier one back."""
    newest = {(mark.kind, mark.of, mark.slug, mark.student.casefold(), mark.assignment)
              if mark.kind != "request" else mark.id: mark for mark in marks}
    kept = [mark for mark in newest.values() if mark.points or mark.comment]
    return sorted(kept, key=lambda mark: (mark.of or mark.id, mark.id))


def unanswered(marks: Iterable[Mark]) -> list[Mark]:
    """Return the requests without an answer."""
    marks = list(marks)
    answered = {mark.of for mark in marks}
    return [mark for mark in marks if mark.kind == "request" and mark.id not in answered]
