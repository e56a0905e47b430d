"""A result as other programs read it: Gradescope's results.json, Classroom 50's, JUnit's XML."""

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


def gradescope(one: GradedSubmission, visibility: str) -> dict[str, Any]:
    """`results.json` of an autograder. Raises ExportError where a failure of ours left something open.

    A hidden case stands there as its student may see it, by its kind: one that Gradescope hides would hide the total.
    """
    if failed := [name for name, a in one.result.assignments.items() if a.ours]:
        raise ExportError(f"{', '.join(failed)}: the grader failed; a grading without failures of ours expected, so "
                          "run it again", one.folder)
    tests = []
    for number, (name, a) in enumerate(one.shown.assignments.items(), start=1):
        judged = {} if not a.judged else {
            "score": a.score, "max_score": a.measured_max, "status": "passed" if a.right else "failed"}
        said = [VERDICTS[a.verdict].words, *filter(None, (a.message, a.hint))]
        tests.append({"name": a.title, "number": str(number), "output": clean("\n".join(said)),
                      "visibility": visibility, "tags": [name], "extra_data": {"verdict": a.verdict}, **judged})
        for part, check in enumerate((check for check in a.correctness.checks if check.outcome != "not_run"), start=1):
            tests.append({
                "name": f"{a.title}: {label(check)}", "number": f"{number}.{part}", "status": check.outcome,
                "output": _said(check), "visibility": visibility, "tags": [name]})
    return {"score": one.result.score, "execution_time": round(one.shown.seconds), "output_format": "text",
            "test_output_format": "text", "visibility": visibility, "stdout_visibility": "hidden",
            "output": "\n".join(map(clean, one.shown.notes)),
            "tests": tests,
            "extra_data": {"graded_at": one.result.graded_at, "max_score": one.result.max_score,
                           "measured_max": one.result.measured_max}}


def classroom50(one: GradedSubmission, kind: Kind | None, classroom: str, assignment: str) -> dict[str, Any]:
    """A result in Classroom 50's form, points rounded to whole ones, of those that could be won. What a folder cannot
    say is null.

    Raises ExportError without a time of submission, which stays the same across gradings, and with a failure of ours.
    """
    if one.hand_in is None or one.hand_in.submitted_at is None:
        raise ExportError("no time of submission; --intake of a source that has it expected, such as git clones",
                          one.folder)
    if one.unjudged:
        raise ExportError(f"{', '.join(one.unjudged)}: not judged; a grading of all points expected", one.folder)
    commits = {origin.partition("/")[0] for origin in one.hand_in.taken.values()} if kind == "git" else set()
    return {
        "schema": CLASSROOM50, "classroom": classroom, "assignment": assignment,
        "assignment_type": "group" if len(one.members) > 1 else "individual", "owner": one.members[0].id,
        "submission": one.folder, "commit": commits.pop() if len(commits) == 1 else None, "release": None,
        "review": None, "datetime": one.hand_in.submitted_at, "graded_at": one.result.graded_at,
        "score": _whole(one.result.score), "max-score": _whole(one.result.measured_max),
        "tests": [{"test-name": name, "passed": a.right, "score": _whole(a.score),
                   "max-score": _whole(a.measured_max), "verdict": a.verdict, "message": clean(a.message)}
                  for name, a in one.shown.assignments.items()],
        "submitted_by": one.members[0].id}


def junit(graded: Sequence[GradedSubmission]) -> bytes:
    """JUnit's XML as pytest writes it: a suite a submission, a case a check, as their student may see them."""
    root = ElementTree.Element("testsuites", name="kernelmark")
    for one in graded:
        result = one.shown
        suite = ElementTree.SubElement(root, "testsuite", {
            "name": _xml(one.folder), "timestamp": result.graded_at, "time": f"{result.seconds:.3f}"})
        counts = dict.fromkeys(("tests", "errors", "failures", "skipped"), 0)
        for name, a in result.assignments.items():
            for check in a.correctness.checks or [_whole_check(a)]:
                case = ElementTree.SubElement(suite, "testcase", classname=_xml(name), name=_xml(check.id),
                                              time=f"{check.seconds or 0:.3f}")
                counts["tests"] += 1
                if (outcome := _outcome(check)) is not None:
                    counts[{"failure": "failures", "error": "errors", "skipped": "skipped"}[outcome]] += 1
                    said = ElementTree.SubElement(case, outcome, message=_xml(_said(check)))
                    said.text = _xml(check.detail.traceback) if check.detail else ""
        suite.attrib |= {key: str(count) for key, count in counts.items()}
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _xml(text: str) -> str:
    """Text without the two signs that `clean` leaves and XML forbids."""
    return re.sub("[\ufffe\uffff]", "\ufffd", clean(text))


def _outcome(check: CheckResult) -> str | None:
    if check.detail and VERDICT_OF_KIND[check.detail.kind].fault == "grader":
        return "error"
    return {"passed": None, "failed": "failure", "not_run": "skipped"}[check.outcome]


def _whole_check(a: AssignmentResult) -> CheckResult:
    """One check for an assignment of which none was made."""
    return CheckResult(id=a.verdict, stage="source", outcome="passed" if a.right else "failed")


def _said(check: CheckResult) -> str:
    detail = check.detail
    return clean("\n".join(filter(None, (detail.message, detail.hint)))) if detail else ""


def _whole(points: float) -> int:
    return math.floor(points + 0.5)


