"""Conversion of a result to the `result.json` of Classroom 50. Its published schema is `schemas/result-v1.schema.json`
in foundation50/classroom50. Classroom 50 refuses a file as a whole, so nothing is guessed: an error reports what is not
known."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from grader.classroom.exports.graded import ExportError, GradedSubmission
from grader.results.text import clean

SCHEMA = "classroom50/result/v1"
TAG = "submit/"


@dataclass(frozen=True)
class Repositories:
    """The repositories that results belong to: the names of classroom and assignment; whether the assignment is for
    groups; the address of the organisation that has the repositories; and the tag of the only submission to export, ""
    for the clone's own tag."""

    classroom: str
    assignment: str
    group: bool
    organisation: str
    tag: str = ""


def classroom50(submission: GradedSubmission, where: Repositories) -> dict[str, Any]:
    """Return a submission's result, in whole points by the course's policy.

    A repository is called classroom-assignment-owner. Raises ExportError, which says what is not known about the
    submission.
    """
    hand_in, folder = submission.hand_in, submission.folder
    if hand_in is None or hand_in.submitted_at is None:
        raise ExportError("no time of submission; give the --intake of git clones", folder)
    repository = hand_in.origin[0].removesuffix(".git")
    owner = repository.removeprefix(before := f"{where.classroom}-{where.assignment}-")
    if owner == repository or not owner:
        raise ExportError(f"not a repository {before}…; give --classroom and --assignment as clones are called", folder)
    if not hand_in.commit:
        raise ExportError("no commit is known; run kernelmark intake again, of git clones", folder)
    tag = where.tag or hand_in.tag
    if not tag:
        raise ExportError(f"no tag {TAG}… in the clone at the commit that was taken; run git fetch --tags in it and "
                          "kernelmark intake again, or name one --student and the --tag", folder)
    totals = {submission.total(member) for member in submission.members}
    lines = submission.lines()
    if None in totals:
        raise ExportError(f"{', '.join(submission.unjudged) or 'all'}: no points yet; grade it on a machine that can "
                          "judge it, with a GPU if need be", folder)
    score, most = totals.pop() or 0, submission.max_score(submission.members[0])
    if score > most:
        raise ExportError(f"{score:g} of {most:g} points, and Classroom 50 takes no more than the maximum; enter them "
                          "by hand", folder)
    home = f"{where.organisation.rstrip('/')}/{quote(repository)}"
    commit = f"{home}/commit/{hand_in.commit}"
    tests = []
    for name, a in submission.shown.assignments.items():
        line = lines.get(name)
        points, of = (a.score, a.max_score) if line is None else (line.points or 0, line.max_score)
        # An excused assignment has no points.
        if of:
            said = [a.message, *(mark.said for mark in (a.marks if line is None else line.marks))]
            tests.append({"test-name": name, "passed": a.right, "score": _whole(points), "max-score": _whole(of),
                          "verdict": a.verdict, "message": clean("\n".join(said))})
    tests += [{"test-name": line.assignment, "passed": line.points == line.max_score,
               "score": _whole(line.points or 0), "max-score": _whole(line.max_score),
               "message": clean("\n".join(mark.said for mark in line.marks))}
              for line in submission.beside() if line.max_score]
    return {
        "schema": SCHEMA, "classroom": where.classroom, "assignment": where.assignment,
        "assignment_type": "group" if where.group else "individual", "owner": owner, "submission": tag,
        "commit": commit, "release": f"{home}/releases/tag/{quote(tag, safe='')}",
        # The commit to compare with is not known; the schema has this field for that case.
        "review": commit,
        "datetime": _instant(hand_in.submitted_at), "graded_at": _instant(submission.result.graded_at),
        "score": _whole(score), "max-score": _whole(most), "tests": tests}


def _instant(text: str) -> str:
    moment = datetime.datetime.fromisoformat(text).astimezone(datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _whole(points: float) -> int:
    return math.floor(points + 0.5)
