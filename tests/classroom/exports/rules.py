"""What each platform takes, as facts read from its documentation, schema or source and written down in our own words.

`follows` holds a file that was exported against the rules of its platform; it imports nothing of the exports.
"""

import csv
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
INSTANT = r"\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ"
WHOLE = "whole number"


def follows(kind: str, made: Path, sheet: Path | None = None) -> None:
    """Fails unless the file or folder that `export <kind>` made is one that its platform takes."""
    {"canvas": _canvas, "moodle": _moodle}[kind](made, sheet) if sheet else RULES[kind](made)


def _rows(path: Path) -> list[list[str]]:
    text = path.read_bytes().decode("utf-8-sig")
    first = text.partition("\n")[0]
    return list(csv.reader(text.splitlines(keepends=True), delimiter=max(",;\t", key=first.count), strict=True))


def _canvas(made: Path, sheet: Path) -> None:
    """Canvas finds a row by ID, SIS user id, login id or name, and a column by the number in its heading. It makes a
    new assignment of any other heading, changes a grade where a cell is blank, and reads rows above the students."""
    before, after = _rows(sheet), _rows(made)
    assert all(len(row) == len(after[0]) for row in after) and set(after[0]) <= set(before[0])
    assert after[0][:2] == ["Student", "ID"]
    fixed = {"Student", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Section"}
    (target,) = [at for at, heading in enumerate(after[0]) if heading not in fixed]
    assert re.search(r" \(\d+\)$", after[0][target]), after[0][target]
    column = before[0].index(after[0][target])
    old = {tuple(row[before[0].index(heading)] for heading in after[0] if heading in fixed): row for row in before[1:]}
    for row in after[1:]:
        there = old[tuple(cell for at, cell in enumerate(row) if at != target)]
        if row[1].strip():
            assert NUMBER.fullmatch(row[target]) and there[column] not in ("EX", "N/A"), row
        else:
            assert row[target] == there[column], row


def _moodle(made: Path, sheet: Path) -> None:
    """Moodle wants identifier, grade and time of the last change in the worksheet that it gave; headings may be in any
    language. A grade is a number, of the sheet's own decimal sign, in a row that may be changed; feedback is written
    where there was none."""
    before, after = _rows(sheet), _rows(made)
    assert len(before) == len(after) and before[0] == after[0]
    changed = {at for old, new in zip(before, after, strict=True) for at, (was, now) in enumerate(
        zip(old + [""] * (len(new) - len(old)), new, strict=True)) if was != now}
    said = before[0].index("Feedback comments") if "Feedback comments" in before[0] else -1
    assert all(old[said] in ("", row[said]) for old, row in zip(before, after, strict=True) if said in changed)
    changed -= {said}
    assert len(changed) <= 1 and 0 not in changed
    assert all(NUMBER.fullmatch(row[at]) or row[at] == old[at]
               for at in changed for old, row in zip(before, after, strict=True) if len(row) > at and len(old) > at)


def _moodle_feedback(made: Path) -> None:
    """Moodle finds the student by the beginning of a path: a name, the participant's number, the plugin's name."""
    with zipfile.ZipFile(made) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            assert re.fullmatch(r"[^/_]+_\d+_assignsubmission_(file|onlinetext)_?(/|_)?[^/]+", name), name


GRADESCOPE = {
    "score": float, "execution_time": float, "output": str, "output_format": str, "test_output_format": str,
    "test_name_format": str, "visibility": str, "stdout_visibility": str, "extra_data": dict, "tests": list,
    "leaderboard": list}
GRADESCOPE_TEST = {
    "score": float, "max_score": float, "status": str, "name": str, "name_format": str, "number": str, "output": str,
    "output_format": str, "tags": list, "visibility": str, "extra_data": dict}
WORDS = {
    "visibility": {"hidden", "after_due_date", "after_published", "visible"},
    "output_format": {"text", "html", "simple_format", "md", "ansi"}, "status": {"passed", "failed"}}


def _gradescope(made: Path) -> None:
    """A score stands at the top, or tests have scores. One hidden test hides the total from its student."""
    data = json.loads(made.read_text())
    _typed(data, GRADESCOPE)
    assert "score" in data or all("score" in test for test in data["tests"])
    for test in data["tests"]:
        _typed(test, GRADESCOPE_TEST)
        assert all(isinstance(tag, str) for tag in test["tags"])
    assert data["visibility"] == "hidden" or all(test["visibility"] != "hidden" for test in data["tests"])


def _typed(found: dict[str, Any], table: dict[str, type]) -> None:
    for key, value in found.items():
        kind = (int, float) if table[key] is float else table[key]
        assert isinstance(value, kind) and not isinstance(value, bool), (key, value)
        allowed = next((words for end, words in WORDS.items() if key.endswith(end)), None)
        assert allowed is None or value in allowed, (key, value)


# schemas/result-v1.schema.json of foundation50/classroom50: whether a field must be there, and what it holds.
CLASSROOM50: dict[str, tuple[bool, object]] = {
    "schema": (True, r"classroom50/result/v1"), "classroom": (True, r"(?s).+"), "assignment": (True, r"(?s).+"),
    "assignment_type": (True, r"individual|group"), "owner": (True, r"(?s).+"), "submission": (True, r"(?s)submit/.*"),
    "commit": (True, r"(?s).+"), "release": (True, r"(?s).+"), "review": (True, r"(?s).+"),
    "datetime": (True, INSTANT), "graded_at": (False, INSTANT), "score": (True, WHOLE), "max-score": (True, WHOLE),
    "tests": (True, list), "submitted_by": (False, dict)}
CLASSROOM50_TEST: dict[str, tuple[bool, object]] = {
    "test-name": (True, r"(?s).+"), "passed": (True, bool), "score": (True, WHOLE), "max-score": (True, WHOLE)}
MOST_BYTES = 10 << 20


def _classroom50(made: Path) -> None:
    """No other field, no score beyond the maximum, a name of the repository that holds classroom, assignment, owner."""
    for path in made.iterdir():
        assert path.stat().st_size <= MOST_BYTES
        data = json.loads(path.read_text())
        assert set(data) <= set(CLASSROOM50)
        for fields, table in [(data, CLASSROOM50), *((test, CLASSROOM50_TEST) for test in data["tests"])]:
            for key, (needed, form) in table.items():
                assert key in fields or not needed, key
                assert key not in fields or _holds(fields[key], form), (key, fields[key])
            assert fields["score"] <= fields["max-score"]
        repository = "-".join(data[key] for key in ("classroom", "assignment", "owner"))
        for link in ("commit", "release", "review"):
            assert re.match(rf"https?://[^/]+/.*/{re.escape(repository)}/", data[link]), data[link]


def _holds(value: object, form: object) -> bool:
    if form == WHOLE:
        return type(value) is int and value >= 0
    if isinstance(form, str):
        return isinstance(value, str) and re.fullmatch(form, value) is not None
    return isinstance(form, type) and isinstance(value, form)


# junit-10.xsd of Jenkins's xUnit plugin, which pytest's xunit2 follows: attributes that must be there, and others.
JUNIT: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors"},
                  {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url",
                   "version"},
                  {"testsuite", "properties", "testcase", "system-out", "system-err"}),
    "testcase": ({"name"}, {"time", "classname", "group"},
                 {"skipped", "error", "failure", "system-out", "system-err"}),
    **{tag: (set(), {"type", "message"}, set()) for tag in ("skipped", "error", "failure")}}


def _junit(made: Path) -> None:
    root = ElementTree.parse(made).getroot()
    assert root.tag == "testsuites"
    for element in root.iter():
        needed, others, children = JUNIT[element.tag]
        assert needed <= set(element.attrib) <= needed | others, (element.tag, element.attrib)
        assert {child.tag for child in element} <= children
        assert re.fullmatch(r"\d*(\.\d{0,3})?", element.get("time", ""))
    for suite in root:
        for key, tag in (("tests", "testcase"), ("failures", "testcase/failure"), ("errors", "testcase/error"),
                         ("skipped", "testcase/skipped")):
            assert int(suite.get(key, "-1")) == len(suite.findall(tag))


def _csv(made: Path) -> None:
    """RFC 4180: a heading for each cell. No cell is a formula to a spreadsheet, and a negative number is none."""
    head, *rows = _rows(made)
    assert len(set(head)) == len(head) and all(len(row) == len(head) for row in rows)
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not NUMBER.fullmatch(cell)
                   for row in (head, *rows) for cell in row)


# https://json.schemastore.org/github-workflow.json, as far as ours goes: keys of a workflow, a job and a step.
WORKFLOW: dict[str, set[str]] = {
    "workflow": {"name", "run-name", "on", "env", "defaults", "concurrency", "jobs", "permissions"},
    "job": {"name", "needs", "permissions", "runs-on", "environment", "outputs", "env", "defaults", "if", "steps",
            "timeout-minutes", "strategy", "continue-on-error", "container", "services", "concurrency"},
    "step": {"id", "if", "name", "uses", "run", "working-directory", "shell", "with", "env", "continue-on-error",
             "timeout-minutes"}}
EVENTS = {"push", "pull_request", "workflow_dispatch", "schedule"}
# What their action.yml takes.
INPUTS = {
    "actions/checkout": {"repository", "ref", "path", "fetch-depth", "persist-credentials"},
    "actions/setup-python": {"python-version", "cache", "cache-dependency-path", "architecture", "check-latest"},
    "actions/upload-artifact": {"name", "path", "if-no-files-found", "retention-days", "overwrite"}}


def _action(made: Path) -> None:
    """A step either uses an action, of a version, or runs in a shell. `${{ }}` holds an expression, and no tab indents.
    """
    (path,) = (made / ".github/workflows").iterdir()
    text = path.read_text()
    assert path.suffix in (".yml", ".yaml") and "\t" not in text and text.count("${{") == text.count("}}")
    # YAML 1.1 reads the key `on` as true.
    found = {"on" if key is True else key: value for key, value in yaml.safe_load(text).items()}
    assert {"on", "jobs"} <= set(found) <= WORKFLOW["workflow"] and set(found["on"]) <= EVENTS
    assert set(found["permissions"].values()) <= {"read", "write", "none"}
    assert set(found["defaults"]["run"]) <= {"shell", "working-directory"}
    for name, job in found["jobs"].items():
        assert re.fullmatch(r"[A-Za-z_][\w-]*", name) and {"runs-on", "steps"} <= set(job) <= WORKFLOW["job"]
        for step in job["steps"]:
            assert set(step) <= WORKFLOW["step"] and ("uses" in step) != ("run" in step), step
            if "uses" in step:
                action, _, version = step["uses"].partition("@")
                assert version and set(step.get("with", {})) <= INPUTS[action]


RULES: dict[str, Callable[[Path], None]] = {
    "moodle-feedback": _moodle_feedback, "gradescope": _gradescope, "classroom50": _classroom50, "junit": _junit,
    "csv": _csv, "action": _action}


def option(words: Sequence[str | Path], name: str) -> Path | None:
    """The path that a command's words give to an option."""
    return Path(words[words.index(name) + 1]) if name in words else None
