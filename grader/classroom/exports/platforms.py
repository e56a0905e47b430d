"""Conversion of results to the formats of other programs: Gradescope, readers of JUnit XML, and Classroom 50.

The schema of Classroom 50 is `schemas/result-v1.schema.json` in foundation50/classroom50. It refuses a file as a whole,
so nothing is guessed: an error reports what is not known.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from grader.classroom.attempts.policy import GradeLine
from grader.classroom.exports.graded import ExportError, GradedSubmission
from grader.pages.findings import condition_checks, evidence, label
from grader.results.result import AssignmentResult, CheckResult
from grader.results.text import clean
from grader.results.verdicts import VERDICT_OF_KIND, VERDICTS


class NotGradedError(ExportError):
    """A submission that has no points, since the grader failed on it."""


def gradescope(submission: GradedSubmission, visibility: str) -> dict[str, Any]:
    """Return the `results.json` of an autograder. Raises NotGradedError if a failure of ours left points open, and
    ExportError.

    A hidden case appears with its kind of failure alone, as its student may see it: if a test were hidden, Gradescope
    would hide the total. If the course's policy gives other points than the checks, the output lists its steps.
    """
    lines = submission.lines()
    if failed := [name for name, a in submission.result.assignments.items() if a.ours and not _given(lines.get(name))]:
        raise NotGradedError(f"{', '.join(failed)}: the grader failed; grade this submission again", submission.folder)
    score = round(sum(line.points or 0 for line in lines.values()), 2) if lines else submission.result.score
    tests = []
    for number, (name, a) in enumerate(submission.shown.assignments.items(), start=1):
        line = lines.get(name)
        output = [VERDICTS[a.verdict].words, *filter(None, (a.message, _line(a), a.hint))]
        output += [f"Found by trying: {a.repair.told}", *filter(None, [a.repair.diff])] if a.repair else []
        if line is not None and (line.points is None or line.points != a.score) and not line.open:
            output += [step.text for step in line.steps]
        else:
            output += [mark.said for mark in (a.marks if line is None else line.marks)]
        tests.append({"name": a.title, "number": str(number), "output": clean("\n".join(output)),
                      "visibility": visibility, "tags": [name], "extra_data": {"verdict": a.verdict},
                      **_test_result(a, line)})
        checks = [check for check in [*a.correctness.checks, *condition_checks(a)] if check.outcome != "not_run"]
        for part, check in enumerate(checks, start=1):
            tests.append({
                "name": f"{a.title}: {label(check)}", "number": f"{number}.{part}", "status": check.outcome,
                "output": _said(check), "visibility": visibility, "tags": [name]})
    tests += [{"name": line.assignment, "output": clean("\n".join(step.text for step in line.steps)),
               "visibility": visibility, "tags": [line.assignment],
               **({} if line.points is None else {"score": line.points, "max_score": line.max_score})}
              for line in submission.lines_without_result()]
    return {"score": score, "execution_time": round(submission.shown.seconds),
            "output_format": "text", "test_output_format": "text", "visibility": visibility,
            "stdout_visibility": "hidden",
            "output": "\n".join(map(clean, submission.shown.notes)),
            "tests": tests,
            "extra_data": {"graded_at": submission.result.graded_at, "max_score": submission.result.max_score,
                           "measured_max": submission.result.measured_max}}


def _line(a: AssignmentResult) -> str:
    """Return the line of the student's file that the message is about, as text."""
    place = check.detail.place if (check := evidence(a)) and check.detail else None
    return f"{place.file}:{place.line}: {place.text.strip()}" if place and not a.right else ""


def _given(line: GradeLine | None) -> bool:
    return line is not None and line.points is not None


def _test_result(a: AssignmentResult, line: GradeLine | None) -> dict[str, Any]:
    """Return points and status of a test; neither while points are open or if the assignment is excused. A grade by the
    policy is out of all points; a score is out of the points that were measured."""
    score, most = (a.score if a.judged else None, a.measured_max or a.max_score) if line is None else (
        line.points, line.max_score)
    return {} if score is None else {
        "score": score, "max_score": most, "status": "passed" if a.right else "failed"}


def junit(submissions: Sequence[GradedSubmission]) -> bytes:
    """Return JUnit XML as pytest writes it: a suite for each submission, and a case for each check as students may see
    it."""
    root = ElementTree.Element("testsuites", name="kernelmark")
    for submission in submissions:
        result = submission.shown
        suite = ElementTree.SubElement(root, "testsuite", {
            "name": _xml(submission.folder), "timestamp": result.graded_at, "time": f"{result.seconds:.3f}"})
        counts = dict.fromkeys(("tests", "errors", "failures", "skipped"), 0)
        for name, a in result.assignments.items():
            # One check stands for an assignment without checks.
            whole = CheckResult(id=a.verdict, stage="source", outcome="passed" if a.right else "failed")
            for check in [*(a.correctness.checks or [whole]), *condition_checks(a)]:
                case = ElementTree.SubElement(suite, "testcase", classname=_xml(name), name=_xml(check.id),
                                              time=f"{check.seconds or 0:.3f}")
                counts["tests"] += 1
                if (outcome := _outcome(check)) is not None:
                    counts[{"failure": "failures", "error": "errors", "skipped": "skipped"}[outcome]] += 1
                    element = ElementTree.SubElement(case, outcome, message=_xml(_said(check)))
                    element.text = _xml(check.detail.traceback) if check.detail else ""
        suite.attrib |= {key: str(count) for key, count in counts.items()}
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _xml(text: str) -> str:
    """Return text without the two characters that `clean` keeps and XML forbids."""
    return re.sub("[\ufffe\uffff]", "\ufffd", clean(text))


def _outcome(check: CheckResult) -> str | None:
    if check.detail and VERDICT_OF_KIND[check.detail.kind].fault == "grader":
        return "error"
    return {"passed": None, "failed": "failure", "not_run": "skipped"}[check.outcome]


def _said(check: CheckResult) -> str:
    detail = check.detail
    return clean("\n".join(filter(None, (detail.message, detail.hint)))) if detail else ""


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
              for line in submission.lines_without_result() if line.max_score]
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
