"""Assignments as wide as the contract, judged without a GPU: right files pass, wrong ones are told what is wrong."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from grader.course.assignment import Answer, Assignment
from grader.course.cases import cases
from grader.course.course import Course
from grader.course.submission import Source
from grader.judging.judgement import Judgement
from grader.judging.prepared import PreparedTask, Task
from grader.kit.author import rows_of
from grader.results.result import CheckResult, Detail
from tests.judging import contract
from tests.languages.cuda.compiling import needs_nvcc

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
FILES = tomllib.loads(Path(__file__).with_name("contract.toml").read_text(encoding="utf-8"))
ASSIGNMENTS: dict[str, Assignment] = {name: getattr(contract, name.upper()) for name in FILES}
RIGHT = {name: file["right"] if ASSIGNMENTS[name].forms else HEAD + file["right"] for name, file in FILES.items()}


def marks(name: str) -> list[pytest.MarkDecorator]:
    return [needs_nvcc] if ASSIGNMENTS[name].forms else []


def _judged(assignment: Assignment, text: str) -> list[CheckResult]:
    task = Task(assignment, Source(content=text.encode(), file=assignment.file), Course(), b"one", "cpu")
    return Judgement(PreparedTask(task)).take_all()


# Sizes that only a GPU runs whole, and what is said of them.
WRONG_AT_SIZE = RIGHT["rows"].replace("tl.max(v))", "tl.where(N > 200, 0.0, tl.max(v)))")
BY_ROWS = dict.fromkeys(("total", "largest", "place"), Answer(rows=rows_of("x")))
LARGE = [
    pytest.param(contract.ROWS, {}, "80x300", RIGHT["rows"], "", "Run here as a whole: 80x300.", id="whole"),
    pytest.param(contract.ROWS, {}, "80x300", WRONG_AT_SIZE, "elements are wrong: largest[", "",
                 id="wrong in one output"),
    pytest.param(contract.ROWS, {}, "80x300",
                 RIGHT["rows"].replace("tl.max(v))", "tl.max(v))\n    tl.store(x + row * N, 0.0, mask=N > 200)"),
                 "x changed during the call", "", id="an input changed"),
    pytest.param(contract.ROWS, {}, "2200000x1", RIGHT["rows"], "",
                 "Left to a GPU: 2200000x1 (a part of its answer cannot be checked by itself).",
                 id="too large as a whole"),
    pytest.param(contract.ROWS, BY_ROWS, "2200000x300", RIGHT["rows"], "",
                 "Sizes that only a GPU runs whole were sampled here: 4 of 2,200,000 programs of 2200000x300.",
                 id="rows"),
    pytest.param(contract.ROWS, BY_ROWS, "80000x300", WRONG_AT_SIZE,
                 "elements that one program stores is wrong: largest[", "", id="rows of one output wrong"),
    pytest.param(contract.ROWS, {name: BY_ROWS[name] for name in ("total", "place")}, "80000x300", RIGHT["rows"], "",
                 "programs of 80000x300. Left to a GPU: largest of 80000x300 (a part of its", id="one without rows"),
    pytest.param(contract.DECAY, dict.fromkeys(("state", "sign"), Answer(tolerance=None, rows=rows_of("x", "state"))),
                 "80000x300", RIGHT["decay"], "", "4 of 93,750 programs of 80000x300.", id="updated rows"),
    pytest.param(contract.LARGEST, {"out": Answer(rows=rows_of("x"))}, "80000x300", RIGHT["largest"], "",
                 "4 of 80,000 programs of 80000x300.", id="what was answered decides"),
]


@pytest.mark.parametrize("assignment, answers, size, text, message, note", LARGE)
def test_large_sizes_are_looked_at_in_each_output(
    assignment: Assignment, answers: Mapping[str, Answer], size: str, text: str, message: str, note: str
) -> None:
    judged = {name: answer.model_copy(update={"tolerance": assignment.about(name).tolerance})
              for name, answer in answers.items()}
    alone = {"rows": judged["out"].rows} if "out" in judged else {"answers": {**assignment.answers, **judged}}
    large = assignment.model_copy(update={"cases": cases("M N", "3x5", gpu=size), **alone})
    target = next(check for check in _judged(large, text) if check.stage == "target")
    assert (message in target.detail.message) if target.detail else (target.outcome == "passed" and note in target.note)
    assert (target.detail is None) == (message == ""), target


def _wrong(name: str, *changes: tuple[str, str]) -> Detail:
    """Return the message and hint of the largest case that fails once a file is changed."""
    text = RIGHT[name]
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    failed = [check.detail for check in _judged(ASSIGNMENTS[name], text) if check.outcome == "failed"]
    assert failed and failed[-1] is not None
    return failed[-1]


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in FILES])
def test_right_files_pass(name: str) -> None:
    checks = _judged(ASSIGNMENTS[name], RIGHT[name])
    assert [(check.id, check.detail) for check in checks if check.outcome != "passed"] == []


@pytest.mark.parametrize(("name", "wrong"), [
    pytest.param(name, wrong, id=title, marks=marks(name))
    for name, file in FILES.items() for title, wrong in file["wrong"].items()])
def test_wrong_files_are_told(name: str, wrong: dict[str, Any]) -> None:
    detail = _wrong(name, *wrong["changes"])
    assert detail.kind == wrong["kind"]
    assert wrong.get("message", "") in detail.message
    assert wrong.get("hint", "") in f"{detail.message} {detail.hint}"


def test_each_output_has_figures_of_its_own() -> None:
    detail = _wrong("rows", ("tl.max(v)", "tl.min(v)"))
    assert detail.about == "largest" and detail.message.startswith("largest: ")
    total, largest, place = detail.outputs
    assert (total.wrong, total.error_map, place.wrong, place.worst) == (0, None, 0, None)
    assert largest.error_map == detail.error_map is not None and largest.worst == detail.worst
    kept = _wrong("decay", ("tl.store(state + at, v, mask=at < n)", "pass"))
    assert kept.outputs[0].kept and "never written" not in kept.model_dump_json() and kept.corner is not None
    assert "unwritten" not in kept.corner.got[0]
    single = _wrong("flags", ("v, 0)", "0, v)"))
    assert single.outputs == [] and "outputs" not in single.model_dump_json()
