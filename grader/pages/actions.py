"""A result on GitHub: annotations at lines of the student's files, and a job's summary in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from grader.pages import findings
from grader.pages.text import clean_model, of_points
from grader.results.result import AssignmentResult, Place, Result

# The most bytes of a text in an annotation: GitHub cuts longer ones after some thousand characters.
SAID_BYTES = 1_500

# Characters that Markdown or HTML would interpret outside of code.
_MARKS = re.compile(r"[\\`*_{}\[\]<>#|~&$@]")
# Characters that would end a piece of code, or a cell of a table.
_NO_CODE = re.compile(r"[`|\n]")
_CODE = re.compile(r"(`[^`\n]{1,200}`)")
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def annotated(result: Result, files: Mapping[str, str]) -> list[str]:
    """Return a workflow command for each kernel that was written and is wrong, and for each change that would make it
    right, at their lines. `files` maps each assignment to the path of its file from the repository's root."""
    lines = []
    for name, a in clean_model(result, SAID_BYTES).assignments.items():
        if a.right or not a.tried:
            continue
        place = _place(a)
        level = "warning" if a.ours else "error" if a.judged else "notice"
        lines.append(_command(level, files[name], place.line if place else 0,
                              f"{a.title}: {findings.verdict_words(a)}", [a.message, a.hint and f"Try: {a.hint}"]))
        if a.repair:
            lines.append(_command("notice", files[name], a.repair.line, f"{a.title}: found by trying",
                                  [a.repair.told, a.repair.diff]))
    return lines


def summary(result: Result, files: Mapping[str, str], more: Iterable[str] = ()) -> str:
    """Return a job's summary in Markdown: a row for each kernel, what is wrong, and `more` sentences."""
    result = clean_model(result)
    rows = [("", "file", "", ""), ("---",) * 4]
    for name, a in result.assignments.items():
        status = findings.status(a)
        rows.append((status.shape, _code(files[name]), findings.verdict_words(a) if a.tried else status.word,
                     of_points(a.score, a.measured_max, a.max_score) if a.measured_max else ""))
    blocks = [f"## {_text(findings.headline(result))}", "\n".join(f"| {' | '.join(row)} |" for row in rows)]
    if len(result.assignments) > 1 and result.measured_max:
        blocks.append(f"{of_points(result.score, result.measured_max, result.max_score)} in all.")
    for failed in findings.findings(result):
        blocks += _wrong(failed.assignment, files[failed.name])
    said = [*(f"{a.title}: {remark}" for a in result.assignments.values() for remark in a.remarks),
            *findings.not_measured(result), *more]
    return "\n\n".join([*blocks, sentences(said)])


def sentences(said: Iterable[str]) -> str:
    """Return sentences as Markdown; they may quote names that students gave."""
    return "\n\n".join(map(_text, said)) + "\n"


def _wrong(a: AssignmentResult, file: str) -> list[str]:
    place = _place(a)
    blocks = [f"### {findings.status(a).shape} {_text(a.title)}: {_text(findings.verdict_words(a))}", _text(a.message)]
    if place:
        blocks += [_code(f"{file}:{place.line}"), _fence(place.text.strip()), *filter(None, [_text(place.seen)])]
    if a.hint:
        blocks.append(f"**Try:** {_text(a.hint)}")
    if a.repair:
        blocks += [f"**Found by trying:** {_text(a.repair.told)}",
                   *([_fence(a.repair.diff, "diff")] if a.repair.diff else [])]
    cases = [f"{findings.CHECK_STATUS[check.outcome].shape} {_code(check.case)}" for check in a.correctness.checks
             if check.stage == "case"]
    return [*blocks, *([f"Cases: {', '.join(cases)}"] if cases else [])]


def _place(a: AssignmentResult) -> Place | None:
    check = findings.evidence(a)
    return check.detail.place if check and check.detail else None


def _command(level: str, file: str, line: int, title: str, said: Iterable[str]) -> str:
    """Return a workflow command. A `line` of 0 stands for no line."""
    at = {"file": file, **({"line": str(line)} if line else {}), "title": title}
    shown = ",".join(f"{key}={_escape(value, _PROPERTY)}" for key, value in at.items())
    return f"::{level} {shown}::{_escape(chr(10).join(filter(None, said)), _DATA)}"


def _escape(text: str, signs: Mapping[str, str]) -> str:
    return "".join(signs.get(sign, sign) for sign in text)


def _text(text: str) -> str:
    """Return a message as Markdown: text between backticks as code, all other text unchanged."""
    parts = _CODE.split(" ".join(text.split()))
    return "".join(part if at % 2 else _MARKS.sub(r"\\\g<0>", part) for at, part in enumerate(parts))


def _code(text: str) -> str:
    return f"`{_NO_CODE.sub('?', text)}`"


def _fence(text: str, language: str = "") -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"
