"""Grades a folder as `kernelmark grade` would, for tests that look at the results."""

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from grader.course.catalogue import assignments
from grader.course.course import LimitsTable, Policy, read_course
from grader.course.forms import in_any_language
from grader.course.submission import find_submissions
from grader.grading.grading import grade
from grader.grading.job import read_job
from grader.home import ROOT
from grader.languages import front_ends
from grader.results.result import AssignmentResult

FILES = {file: name for name, a in assignments().items() for file in in_any_language(a.file)}
"""The assignment of each file, in any language."""


NUMBA = front_ends()["numba"].problem()
needs_numba = pytest.mark.skipif(NUMBA != "", reason=NUMBA)


def break_numba(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a Numba that cannot be imported, in a new folder, before the installed one."""
    (folder / "numba").mkdir()
    (folder / "numba" / "__init__.py").write_text("import numpy; numpy.no_such_name")
    monkeypatch.syspath_prepend(folder)


# What a wrong answer shows may hang on the numbers drawn: no test fails by luck, and no hint changes by it.
SEED = 7


def unfit(folder: Path) -> str:
    """Why a folder is not for the Triton that is installed: of a line such as `# triton: <3.9, which removed …`; or why
    its language cannot be judged here; ""."""
    installed = metadata.version("triton")
    for file in sorted(folder.glob("*.py")):
        text = file.read_bytes().decode("utf-8", "replace")
        if folder.name.startswith("numba_") and NUMBA:
            return NUMBA
        for versions, words in re.findall(r"^# triton: ([<>=\d.]+), (.+)$", text, re.MULTILINE):
            if installed not in SpecifierSet(versions):
                return f"it is for Triton {versions}, {words}; {installed} is installed"
    return ""


def results(
    folder: Path, limits: LimitsTable, device: str = "cpu", speed: bool = False, policy: Policy | None = None,
) -> dict[str, AssignmentResult]:
    """The results of the assignments that `folder` holds a file of, by name."""
    present = tuple(name for file, name in FILES.items() if (folder / file).exists())
    shipped = read_course(ROOT / "course.toml", frozenset(assignments()))
    course = shipped.model_copy(update={"limits": limits, "policy": policy or shipped.policy})
    (submission,) = find_submissions(folder, FILES)
    outcome = grade(read_job(submission, course, present, device, speed, seed=SEED))
    assert outcome.result is not None, outcome.error
    return outcome.result.assignments


def told(result: AssignmentResult) -> str:
    """All that a result tells its student, in lines."""
    texts = [f"{result.verdict}: {result.message} {result.hint}"]
    texts += [f"{check.id}: {check.detail.message} {check.detail.hint} {check.detail.traceback[-300:]}"
              for check in result.correctness.checks if check.detail]
    texts += result.remarks
    return "\n".join(texts)
