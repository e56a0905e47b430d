"""The class as one CSV file with a row for each person: name and time, grades by the course's policy, then the
gradebook's columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from grader.classroom.exports.graded import Class, marks_in
from grader.classroom.intake.manifest import ManifestEntry, Member
from grader.pages.gradebook import MARK_COLUMNS, cell, rows, said
from grader.pages.load import Entry
from grader.pages.text import points
from grader.results.mark import Mark
from grader.results.result import Result

PERSON = ("id", "name", "email", "section", "folder", "submitted_at", "late", "problems", "grade",
          "max_score")
LATE = {None: "", True: "yes", False: "no"}


def table(class_: Class) -> str:
    """Return the class as CSV text. The columns `grade`, `max_score` and the grade in each assignment follow the
    course's policy; `score` and `measured_max` are the graded result. People who handed in nothing, and people whose
    result cannot be read, have a row, too; its grade is blank unless a person gave one."""
    people = [(submission, member) for submission in class_.graded for member in submission.members]
    head, *graded = rows([Entry(submission.folder, _without_marks(submission.result)) for submission, _ in people])
    names = class_.assignments
    marks = [{name: submission.marks(member, name) for name in names} for submission, member in people]
    alone: dict[str, dict[str, Sequence[Mark]]] = {
        id_: {name: marks_in(grade, name) for name in names}
        for id_, grade in class_.given.items()}
    marked = [name for name in names if any(columns[name] for columns in [*marks, *alone.values()])]
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n", quoting=csv.QUOTE_ALL)
    # PERSON replaces the columns of the student's name and of the maximum, which is the person's own, not the result's.
    writer.writerow([*PERSON, *(cell(f"{name}_grade") for name in names),
                     *(cell(f"{name}_{what}") for name in marked for what in MARK_COLUMNS), *_result(head)])
    for (submission, member), row, marks_of in zip(people, graded, marks, strict=True):
        hand_in = submission.hand_in
        when = [submission.submitted_at(member), LATE[submission.late(member)],
                cell("; ".join(_problems(hand_in))) if hand_in else ""]
        total = submission.total(member)
        grade = [_blank(total), points(submission.max_score(member)),
                 *(_blank(submission.points(member, name)) for name in names),
                 *(text for name in marked for text in said(marks_of[name]))]
        writer.writerow([*_person(member), cell(submission.folder), *when, *grade, *_result(row)])
    without = [(folder, member) for folder, members in class_.broken.items() for member in members]
    for folder, member in [*without, *(("", member) for member in class_.missing)]:
        grade = [""] * (2 + len(names) + len(MARK_COLUMNS) * len(marked))
        if (given := class_.given.get(member.id)) is not None:
            by_name = {line.assignment: line.points for line in given.lines}
            grade = [_blank(given.points if given.is_final else None), points(given.max_score),
                     *(_blank(by_name.get(name)) for name in names),
                     *(text for name in marked for text in said(alone[member.id][name]))]
        writer.writerow([*_person(member), cell(folder), "", "", "", *grade, *[""] * len(_result(head))])
    return sheet.getvalue()


def _without_marks(result: Result) -> Result:
    """Return the result without marks, which have columns of their own in this table."""
    return result.model_copy(update={"assignments": {
        name: a.model_copy(update={"marks": []}) for name, a in result.assignments.items()}})


def _blank(value: float | None) -> str:
    """Return points, or "" if there are none: people ask about a blank, but believe a zero."""
    return "" if value is None else points(value)


def _result(row: Sequence[str | float]) -> list[str | float]:
    """Return a gradebook's row without the student and the maximum."""
    return [row[1], *row[3:]]


def _problems(hand_in: ManifestEntry) -> list[str]:
    """Return the intake's problems. If no file was graded, also return the files that were left out."""
    left = [] if hand_in.taken else [f"{entry.name}: {entry.why}" for entry in hand_in.left] or ["no file"]
    return [*hand_in.problems, *left]


def _person(member: Member) -> list[str]:
    return [cell(text) for text in (member.id, member.name, member.email, member.section)]
