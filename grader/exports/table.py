"""The class as one CSV file, a row a person: the gradebook's columns behind who and when."""

from __future__ import annotations

import csv
import io

from grader.exports.graded import Class
from grader.intake.manifest import ManifestEntry, Member
from grader.report.gradebook import cell, rows
from grader.report.load import Entry
from grader.report.text import points

PERSON = ("id", "name", "email", "section", "folder", "submitted_at", "late", "problems", "grade",
          "grade_max")


def table(found: Class) -> str:
    """CSV text: `grade` is by the course's policy, and of `grade_max`; `score` is what was graded. Whoever handed
    nothing in has a row, and no grade in it but what a person gave."""
    head, *graded = rows([Entry(one.folder, one.result) for one in found.graded])
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n", quoting=csv.QUOTE_ALL)
    # The first column is the student, of whom there may be several here.
    writer.writerow([*PERSON, *head[1:]])
    for one, row in zip(found.graded, graded, strict=True):
        when = ["", "", ""]
        if one.hand_in:
            when = [one.hand_in.submitted_at or "", {None: "", True: "yes", False: "no"}[one.hand_in.late],
                    cell("; ".join(_problems(one.hand_in)))]
        for member in one.members:
            total = one.total(member)
            grade = ["", ""] if total is None else [points(total), points(one.most(member))]
            writer.writerow([*_person(member), cell(one.folder), *when, *grade, *row[1:]])
    for member in found.missing:
        given = found.given.get(member.id)
        grade = ["", ""] if given is None else [points(given.points), points(given.maximum)]
        writer.writerow([*_person(member), *[""] * (len(PERSON) - 6), *grade, *[""] * (len(head) - 1)])
    return sheet.getvalue()


def _problems(hand_in: ManifestEntry) -> list[str]:
    """What could not be read of it; and where nothing of it could be graded, what it held."""
    left = [] if hand_in.taken else [f"{one.name}: {one.why}" for one in hand_in.left] or ["no file"]
    return [*hand_in.problems, *left]


def _person(member: Member) -> list[str]:
    return [cell(text) for text in (member.id, member.name, member.email, member.section)]
