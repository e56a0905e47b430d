"""Converts results to the formats of other programs: Gradescope, Classroom 50, JUnit."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from grader.exports.graded import ExportError, GradedSubmission
from grader.intake.manifest import Kind
from grader.model.result import AssignmentResult, CheckResult
from grader.model.text import clean
from grader.model.verdicts import VERDICT_OF_KIND, VERDICTS
from grader.report.findings import label

CLASSROOM50 = "classroom50/result/v1"


def gradescope(submission: GradedSubmission, visibility: str) -> dict[str, Any]:
    """The `results.json` of an autograder. Raises ExportError if a failure of ours left points open.

    A hidden case is included with its kind of failure alone, as its student may see it: hiding a test would make
    Gradescope hide the total.
    """
    if failed := [name for name, a in submission.result.assignments.items() if a.ours]:
        raise ExportError(f"{', '.join(failed)}: the grader failed; grade this submission again", submission.folder)
    tests = []
    for number, (name, a) in enumerate(submission.shown.assignments.items(), start=1):
        judged = {} if not a.judged else {
            "score": a.score, "max_score": a.measured_max, "status": "passed" if a.right else "failed"}
        output = [VERDICTS[a.verdict].words, *filter(None, (a.message, a.hint))]
        output += [f"Found by trying: {a.repair.told}", *filter(None, [a.repair.diff])] if a.repair else []
        tests.append({"name": a.title, "number": str(number), "output": clean("\n".join(output)),
                      "visibility": visibility, "tags": [name], "extra_data": {"verdict": a.verdict}, **judged})
        for part, check in enumerate((check for check in a.correctness.checks if check.outcome != "not_run"), start=1):
            tests.append({
                "name": f"{a.title}: {label(check)}", "number": f"{number}.{part}", "status": check.outcome,
                "output": _said(check), "visibility": visibility, "tags": [name]})
    return {"score": submission.result.score, "execution_time": round(submission.shown.seconds),
            "output_format": "text", "test_output_format": "text", "visibility": visibility,
            "stdout_visibility": "hidden",
            "output": "\n".join(map(clean, submission.shown.notes)),
            "tests": tests,
            "extra_data": {"graded_at": submission.result.graded_at, "max_score": submission.result.max_score,
                           "measured_max": submission.result.measured_max}}


def classroom50(submission: GradedSubmission, kind: Kind | None, classroom: str, assignment: str) -> dict[str, Any]:
    """A result in Classroom 50's format, in whole points. Fields that are unknown for a folder are null.

    Raises ExportError if there is no submission time, which must not change between gradings, or if points are open.
    """
    if submission.hand_in is None or submission.hand_in.submitted_at is None:
        raise ExportError("no time of submission; give the --intake of a source with times, such as git clones",
                          submission.folder)
    if submission.unjudged:
        raise ExportError(f"{', '.join(submission.unjudged)}: not judged; grade it where it can be", submission.folder)
    commits = {origin.partition("/")[0] for origin in submission.hand_in.taken.values()} if kind == "git" else set()
    return {
        "schema": CLASSROOM50, "classroom": classroom, "assignment": assignment,
        "assignment_type": "group" if len(submission.members) > 1 else "individual", "owner": submission.members[0].id,
        "submission": submission.folder, "commit": commits.pop() if len(commits) == 1 else None, "release": None,
        "review": None, "datetime": submission.hand_in.submitted_at, "graded_at": submission.result.graded_at,
        "score": _whole(submission.result.score), "max-score": _whole(submission.result.measured_max),
        "tests": [{"test-name": name, "passed": a.right, "score": _whole(a.score),
                   "max-score": _whole(a.measured_max), "verdict": a.verdict, "message": clean(a.message)}
                  for name, a in submission.shown.assignments.items()],
        "submitted_by": submission.members[0].id}


def junit(graded: Sequence[GradedSubmission]) -> bytes:
    """JUnit XML as pytest writes it: a suite for each submission and a case for each check, as students may see
    them."""
    root = ElementTree.Element("testsuites", name="kernelmark")
    for submission in graded:
        result = submission.shown
        suite = ElementTree.SubElement(root, "testsuite", {
            "name": _xml(submission.folder), "timestamp": result.graded_at, "time": f"{result.seconds:.3f}"})
        counts = dict.fromkeys(("tests", "errors", "failures", "skipped"), 0)
        for name, a in result.assignments.items():
            for check in a.correctness.checks or [_whole_check(a)]:
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
    """Text without the two characters that `clean` keeps and XML forbids."""
    return re.sub("[\ufffe\uffff]", "\ufffd", clean(text))


def _outcome(check: CheckResult) -> str | None:
    if check.detail and VERDICT_OF_KIND[check.detail.kind].fault == "grader":
        return "error"
    return {"passed": None, "failed": "failure", "not_run": "skipped"}[check.outcome]


def _whole_check(a: AssignmentResult) -> CheckResult:
    """A check that stands for a whole assignment without checks."""
    return CheckResult(id=a.verdict, stage="source", outcome="passed" if a.right else "failed")


def _said(check: CheckResult) -> str:
    detail = check.detail
    return clean("\n".join(filter(None, (detail.message, detail.hint)))) if detail else ""


def _whole(points: float) -> int:
    return math.floor(points + 0.5)

