"""The class as one CSV file with a row for each person: name and time, then the gradebook's columns."""

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
    """CSV text. `grade` of `max_score` follows the course's policy; `score` of `measured_max` is the graded result.
    People who handed in nothing have a row, too, whose grade is blank unless a person gave one."""
    head, *graded = rows([Entry(submission.folder, submission.result) for submission in class_.graded])
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n", quoting=csv.QUOTE_ALL)
    # PERSON replaces the student's name, and has the points in all of the person, not of the result.
    writer.writerow([*PERSON, *_result(head)])
    for submission, row in zip(class_.graded, graded, strict=True):
        when = ["", "", ""]
        if hand_in := submission.hand_in:
            when = [hand_in.submitted_at or "", {None: "", True: "yes", False: "no"}[hand_in.late],
                    cell("; ".join(_problems(hand_in)))]
        for member in submission.members:
            total = submission.total(member)
            grade = ["" if total is None else points(total), points(submission.max_score(member))]
            writer.writerow([*_person(member), cell(submission.folder), *when, *grade, *_result(row)])
    for member in class_.missing:
        given = class_.given.get(member.id)
        grade = ["", ""] if given is None else [points(given.points), points(given.max_score)]
        writer.writerow([*_person(member), *[""] * (len(PERSON) - 6), *grade, *[""] * len(_result(head))])
    return sheet.getvalue()


def _result(row: Sequence[str | float]) -> list[str | float]:
    """A gradebook's row without the student and the points in all."""
    return [row[1], *row[3:]]


def _problems(hand_in: ManifestEntry) -> list[str]:
    """The intake's problems; for a submission without a graded file, also the files that were left out."""
    left = [] if hand_in.taken else [f"{entry.name}: {entry.why}" for entry in hand_in.left] or ["no file"]
    return [*hand_in.problems, *left]


def _person(member: Member) -> list[str]:
    return [cell(text) for text in (member.id, member.name, member.email, member.section)]
