"""The class as one CSV file with a row for each person: name and time, grades by the course's policy, then the
gradebook's columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from grader.exports.graded import Class
from grader.intake.manifest import ManifestEntry, Member
from grader.report.gradebook import cell, rows
from grader.report.load import Entry
from grader.report.text import points

PERSON = ("id", "name", "email", "section", "folder", "submitted_at", "late", "problems", "grade",
          "max_score")


def table(class_: Class) -> str:
    """CSV text. `grade` of `max_score` and the grade in each assignment follow the course's policy; `score` of
    `measured_max` is the graded result. People who handed in nothing have a row, too, whose grade is blank unless a
    person gave one, and so have those whose result cannot be read."""
    people = [(submission, member) for submission in class_.graded for member in submission.members]
    head, *graded = rows([Entry(submission.folder, submission.result_of(member)) for submission, member in people])
    names = class_.assignments
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n", quoting=csv.QUOTE_ALL)
    # PERSON replaces the student's name, and has the points in all of the person, not of the result.
    writer.writerow([*PERSON, *(cell(f"{name}_grade") for name in names), *_result(head)])
    for (submission, member), row in zip(people, graded, strict=True):
        when = ["", "", ""]
        if hand_in := submission.hand_in:
            when = [hand_in.submitted_at or "", {None: "", True: "yes", False: "no"}[hand_in.late],
                    cell("; ".join(_problems(hand_in)))]
        total = submission.total(member)
        grade = [_blank(total), points(submission.max_score(member)),
                 *(_blank(submission.points(member, name)) for name in names)]
        writer.writerow([*_person(member), cell(submission.folder), *when, *grade, *_result(row)])
    without = [(folder, member) for folder, members in class_.broken.items() for member in members]
    for folder, member in [*without, *(("", member) for member in class_.missing)]:
        grade = [""] * (2 + len(names))
        if (given := class_.given.get(member.id)) is not None:
            by_name = {line.assignment: line.points for line in given.lines}
            grade = [points(given.points), points(given.max_score),
                     *(_blank(by_name.get(name)) for name in names)]
        writer.writerow([*_person(member), cell(folder), "", "", "", *grade, *[""] * len(_result(head))])
    return sheet.getvalue()


def _blank(value: float | None) -> str:
    """Points, or a blank where there are none: people ask about a blank, but believe a zero."""
    return "" if value is None else points(value)


def _result(row: Sequence[str | float]) -> list[str | float]:
    """A gradebook's row without the student and the points in all."""
    return [row[1], *row[3:]]


def _problems(hand_in: ManifestEntry) -> list[str]:
    """The intake's problems; for a submission without a graded file, also the files that were left out."""
    left = [] if hand_in.taken else [f"{entry.name}: {entry.why}" for entry in hand_in.left] or ["no file"]
    return [*hand_in.problems, *left]


def _person(member: Member) -> list[str]:
    return [cell(text) for text in (member.id, member.name, member.email, member.section)]
