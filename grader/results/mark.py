"""Marks that people give beside the judge: points and comments, requests for regrading, answers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator

from grader.results.record import Record


def _finite(points: float) -> float:
    if not math.isfinite(points):
        raise ValueError("a number expected")
    return points


class Mark(Record):
    """A mark. It is a comment with `points` that a person gives beside the automatic ones (negative: points taken off);
    or a `request` for regrading; or an `answer` to the request with the number `of`.

    `slug` is the folder with the work, "" if there is none yet. `student` is the only member of a group whom the mark
    is for, or somebody who handed in nothing; "" if the mark is for everybody who owns the folder. `at` is ISO 8601,
    UTC.
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
    """Return the marks that count, each request before its answer: a student's newest mark in an assignment, and the
    newest answer to a request. A newer mark without points and comment takes the earlier one back."""
    newest = {(mark.kind, mark.of, mark.slug, mark.student.casefold(), mark.assignment)
              if mark.kind != "request" else mark.id: mark for mark in marks}
    kept = [mark for mark in newest.values() if mark.points or mark.comment]
    return sorted(kept, key=lambda mark: (mark.of or mark.id, mark.id))


def open_requests(marks: Iterable[Mark]) -> list[Mark]:
    """Return the requests without an answer."""
    marks = list(marks)
    answered = {mark.of for mark in marks}
    return [mark for mark in marks if mark.kind == "request" and mark.id not in answered]
