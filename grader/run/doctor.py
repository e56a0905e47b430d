"""What this machine can do: each finding was looked at, not assumed."""

from __future__ import annotations

import importlib.metadata
import platform
import secrets
import shutil
import subprocess
import time
from dataclasses import dataclass

from packaging.requirements import Requirement

from grader.engine.forkserver import isolation
from grader.engine.forkserver.handle import InfrastructureError, declared

PACKAGES = (
    "torch", "triton", "numpy", "pytest", "pytest-timeout", "pydantic", "jinja2", "typer", "rich", "matplotlib",
    "einops")
NEW_VENV = "rm -rf .venv && make setup"
BROWSER_SECONDS = 30


@dataclass(frozen=True)
class Finding:
    """One line of `kernelmark doctor`. `fatal`: nothing can be graded. `remedy`: the command or change that helps."""

    what: str
    found: str
    ok: bool = True
    fatal: bool = False
    remedy: str = ""

    @property
    def mark(self) -> str:
        return "ok" if self.ok else "FAIL" if self.fatal else "note"


def findings() -> list[Finding]:
    """Looks at everything, and grades a kernel of ours to see that it can be done."""
    python = Finding("python", platform.python_version())
    return [python, *_packages(), *_device(), *_gradings(), *_isolation(), _browser()]


def _packages() -> list[Finding]:
    found = []
    for name in PACKAGES:
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found.append(Finding(name, "not installed", False, True, "make setup"))
            continue
        expected = Requirement(declared(name))
        if expected.specifier.contains(version, prereleases=True):
            found.append(Finding(name, version))
        else:
            found.append(Finding(name, f"{version}: {expected} expected, with which the grader was tried", False,
                                 remedy="make setup"))
    return found


def _device() -> list[Finding]:
    import torch

    from grader.judge.device import no_gpu
    from grader.judge.timing.fitness import state

    if not torch.cuda.is_available():
        return [Finding("device", "no GPU: correctness is graded in full, speed is not measured")]
    name = torch.cuda.get_device_name()
    if trouble := no_gpu():
        return [Finding("device", f"{name}: {trouble}", False, remedy=".venv/bin/pip install cuda-bindings")]
    found = [Finding("device", f"{name}: answers are judged on it, speed included")]
    if unwatched := state().unavailable:
        found.append(Finding("its clocks", f"not watched: {unwatched}", False,
                             remedy=".venv/bin/pip install -e '.[gpu]'"))
    return found


def _gradings() -> list[Finding]:
    from grader.judge.device import no_gpu

    return [_grading("cpu"), *([] if no_gpu() else [_grading("cuda")])]


def _grading(device: str) -> Finding:
    """Grades one case of a reference kernel, from its file to its answer, and times it."""
    from grader.judge.checks import SOURCE, TARGET, case_check, results
    from grader.judge.judge import judge
    from grader.judge.lane import close_lane, lane_zygote
    from grader.judge.prepared import Prepared, Task
    from grader.model.catalogue import COURSE, ROOT, CatalogueError, assignments
    from grader.model.course import CourseError, read_course
    from grader.model.submission import Source

    what = "grading on the GPU" if device == "cuda" else "grading"
    try:
        found = assignments()
        course = read_course(COURSE, frozenset(found))
    except (CourseError, CatalogueError) as error:
        return Finding(what, str(error), False, True)
    assignment = found[course.select(found, ())[0]]
    reference = ROOT / "reference" / assignment.file
    if not reference.is_file():
        return Finding(what, f"not tried: no {reference}, as in a kit for students; check a kernel of your own", False)
    try:
        started = time.monotonic()
        _ = lane_zygote().versions
        imported = time.monotonic() - started
        prepared = Prepared(Task(
            assignment, Source(content=reference.read_bytes()), course, secrets.token_bytes(32), device))
        started = time.monotonic()
        case = assignment.cases_for(device)[:2][-1]
        checks = list(results(judge(prepared, (SOURCE, case_check(case), TARGET))))
        taken = time.monotonic() - started
    except InfrastructureError as error:
        return Finding(what, str(error), False, True, NEW_VENV)
    finally:
        close_lane()
    for check in checks:
        if check.outcome != "passed":
            said = check.detail.message if check.detail else check.outcome
            return Finding(what, f"our own kernel fails ({check.id}): {said}", False, True)
    run = "run by an executor" if device == "cuda" else "simulated"
    return Finding(what, f"torch and triton imported in {imported:.1f} s; a kernel planned, {run}, compared and "
                         f"compiled in {taken:.1f} s")


def _isolation() -> list[Finding]:
    """What workers are kept from, by trying it; then what is missing, and what would add it."""
    try:
        measured = isolation.measure()
    except InfrastructureError as error:
        return [Finding("isolation", str(error), False, True, NEW_VENV)]
    found = [Finding("isolation", f"level {measured}: {measured.summary}", measured.level >= isolation.ADVISED)]
    return found + [Finding("", text, measured.level >= isolation.ADVISED) for text in measured.missing]


def _browser() -> Finding:
    path = shutil.which("chromium")
    if path is None:
        return Finding("browser", "no chromium: the tests of the pages are skipped (grading needs none)", False,
                       remedy="apt install chromium")
    try:
        version = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=BROWSER_SECONDS, check=False).stdout
    except subprocess.TimeoutExpired:
        return Finding("browser", f"{path}: does not say its version within {BROWSER_SECONDS:g} s", False)
    return Finding("browser", f"{version.strip() or path} (for the tests of the pages)")
