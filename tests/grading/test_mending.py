"""In a class a change that mends a wrong kernel is looked for after its grading, and costs it nothing."""

from pathlib import Path

import pytest

from grader.course.catalogue import files
from grader.course.course import HintsTable, read_course
from grader.course.submission import Submission
from grader.grading import grading
from grader.grading.grading import grade
from grader.grading.job import Graded, Job, read_job
from grader.grading.mending import mend, without_guess
from grader.home import ROOT
from grader.results.result import Result
from grader.sandbox.forkserver.handle import InfrastructureError
from tests.command import SILU, hand_in, kernelmark

# Wrong in one place, which one change mends.
WRONG = SILU.replace("x / (1 + tl.exp(-x)), mask=mask", "x / (1 + tl.exp(x)), mask=mask")
CHANGED = "+        tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=mask)"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Job, Graded]:
    """A wrong kernel and a right one."""
    folder = hand_in(tmp_path_factory.mktemp("class"), "ada", WRONG)
    (folder / "transpose.py").write_text((ROOT / "reference/transpose.py").read_text())
    job = read_job(Submission("ada", folder, "ada"), read_course(ROOT / "course.toml", frozenset(files())),
                   ("silu", "transpose"), seed=7)
    return job, grade(job)


def test_only_a_hint_is_added(graded: tuple[Job, Graded]) -> None:
    job, before = graded
    begun: list[str] = []
    after = mend(job, before, begun.append)
    assert begun == ["silu", "transpose"] and before.result is not None and after.result is not None
    repair = after.result.assignments["silu"].repair
    assert repair is not None and CHANGED in repair.diff.splitlines()
    # A guess gives way to it.
    expected = before.result.model_copy(deep=True)
    expected.assignments["silu"] = without_guess(expected.assignments["silu"]).model_copy(update={"repair": repair})
    assert after == Graded(job.submission, expected, before.log)


def test_a_failure_of_ours_costs_the_hint_alone(graded: tuple[Job, Graded], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(prepared: object, checks: object, progress: object) -> None:
        raise InfrastructureError("no planner")

    monkeypatch.setattr("grader.grading.mending.repaired", fails)
    job, before = graded
    after = mend(job, before)
    assert after.result == before.result
    # Of the wrong kernel alone something was asked.
    assert after.log == f"{before.log}\nsilu: the search for a change failed: InfrastructureError: no planner\n"


def test_a_course_without_hints_asks_for_none(graded: tuple[Job, Graded], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.grading.mending.repaired", None)
    job, before = graded
    off = Job(job.submission, job.handed_in, job.course.model_copy(update={"hints": HintsTable(level="off")}), job.only)
    assert mend(off, before) == before and mend(job, Graded(job.submission, None, error="lost")).error == "lost"


def test_a_class_tells_its_students_the_sentence_and_those_who_grade_the_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path / "class", "ada", WRONG)
    out = tmp_path / "out"
    # As a lane of its own does.
    monkeypatch.setattr(grading, "grade", lambda job: mend(job, grade(job)))
    done = kernelmark("grade", tmp_path / "class", "--out", out, "--only", "silu", "--device", "cpu", "--seed", "7")
    assert done.returncode == 0, done
    own, whole = (Result.model_validate_json((out / folder / "ada/result.json").read_bytes()).assignments["silu"].repair
                  for folder in ("", ".staff"))
    assert own is not None and whole is not None and (own.diff, own.told) == ("", whole.told)
    assert CHANGED in whole.diff.splitlines()
    added = CHANGED[1:].strip()
    page, of_class = (out / "ada/report.html").read_text(), (out / "index.html").read_text()
    assert whole.told in page and added not in page and f"+ {added}" in of_class
