"""In a class a change that mends a wrong kernel is looked for after its grading, and costs it nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.catalogue import files
from grader.course.course import HintsTable, read_course
from grader.course.submission import Submission
from grader.errors import InfrastructureError
from grader.grading import grading
from grader.grading.grading import grade, mend, without_guess
from grader.grading.job import Job, JobOutcome, read_job
from grader.home import ROOT
from grader.results.result import Result
from tests.command import SILU, hand_in, kernelmark

# Wrong in one place, which one change mends.
WRONG = SILU.replace("x / (1 + tl.exp(-x)), mask=mask", "x / (1 + tl.exp(x)), mask=mask")
CHANGED = "+        tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=mask)"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Job, JobOutcome]:
    """A wrong kernel and a right one."""
    folder = hand_in(tmp_path_factory.mktemp("class"), "ada", WRONG)
    (folder / "transpose.py").write_text((ROOT / "reference/transpose.py").read_text())
    job = read_job(Submission("ada", folder, "ada"), read_course(ROOT / "course.toml", frozenset(files())),
                   ("silu", "transpose"), seed=7)
    return job, grade(job)


def test_only_a_hint_is_added(graded: tuple[Job, JobOutcome]) -> None:
    job, outcome = graded
    assert outcome.result is not None and outcome.wrong == ["silu"]
    before = outcome.result.assignments["silu"]
    after, log = mend(job, "silu", before)
    assert after.repair is not None and CHANGED in after.repair.diff.splitlines()
    # A guess gives way to it.
    assert (after, log) == (without_guess(before).model_copy(update={"repair": after.repair}), "")


def test_a_failure_of_ours_costs_the_hint_alone(
    graded: tuple[Job, JobOutcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(prepared: object, checks: object, progress: object) -> None:
        raise InfrastructureError("no planner")

    monkeypatch.setattr("grader.grading.grading.repaired", fails)
    job, outcome = graded
    assert outcome.result is not None
    wrong, right = (outcome.result.assignments[name] for name in ("silu", "transpose"))
    assert mend(job, "silu", wrong) == (
        wrong, "\nsilu: the search for a change failed: InfrastructureError: no planner\n")
    assert mend(job, "transpose", right) == (right, "")


def test_a_course_without_hints_asks_for_none(graded: tuple[Job, JobOutcome], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.grading.grading.repaired", None)
    job, outcome = graded
    assert outcome.result is not None
    off = Job(job.submission, job.handed_in, job.course.model_copy(update={"hints": HintsTable(level="off")}), job.only)
    assert mend(off, "silu", outcome.result.assignments["silu"]) == (outcome.result.assignments["silu"], "")


def test_a_class_tells_its_students_the_sentence_and_those_who_grade_the_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path / "class", "ada", WRONG)
    out = tmp_path / "out"
    # As lanes do.
    def grade_and_mend(job: Job) -> JobOutcome:
        outcome = grade(job)
        assert outcome.result is not None
        assignments = {name: mend(job, name, graded)[0] for name, graded in outcome.result.assignments.items()}
        return replace(outcome, result=outcome.result.model_copy(update={"assignments": assignments}))

    monkeypatch.setattr(grading, "grade", grade_and_mend)
    result = kernelmark("grade", tmp_path / "class", "--out", out, "--only", "silu", "--device", "cpu", "--seed", "7")
    assert result.returncode == 0, result
    own, whole = (Result.model_validate_json((out / folder / "ada/result.json").read_bytes()).assignments["silu"].repair
                  for folder in ("", ".staff"))
    assert own is not None and whole is not None and (own.diff, own.told) == ("", whole.told)
    assert CHANGED in whole.diff.splitlines()
    added = CHANGED[1:].strip()
    page, of_class = (out / "ada/report.html").read_text(), (out / "index.html").read_text()
    assert whole.told in page and added not in page and f"+ {added}" in of_class
