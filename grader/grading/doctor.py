"""The diagnosis of what this machine can do. Each ability is tried."""

from __future__ import annotations

import importlib.metadata
import platform
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from packaging.requirements import Requirement

from grader import home, languages
from grader.course import catalogue
from grader.course.course import read_course
from grader.course.submission import Source
from grader.errors import InfrastructureError, UserError
from grader.grading.gpus import UNUSED, remedy_of_unused
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.handle import declared

PACKAGES = (
    "torch", "triton", "numpy", "pytest", "pytest-timeout", "pydantic", "jinja2", "typer", "rich", "matplotlib",
    "einops")
BROWSER_SECONDS = 30


@dataclass(frozen=True)
class Diagnosis:
    """A line of `kernelmark doctor`. `fatal`: nothing can be graded. `remedy` is the command or change that helps."""

    subject: str
    text: str
    ok: bool = True
    fatal: bool = False
    remedy: str = ""

    @property
    def mark(self) -> str:
        return "ok" if self.ok else "FAIL" if self.fatal else "note"


def diagnoses() -> list[Diagnosis]:
    """Return lines about everything, including a trial grading of a reference kernel."""
    # Late, see device.
    from grader.judging.running.lane import LANE

    python = Diagnosis("python", platform.python_version())
    try:
        with ThreadPoolExecutor(1) as pool:
            starting = _starting(pool)
            trials = _broken_torch() or [*device(), *_gradings(starting)]
            broken = _broken_languages(starting)
    finally:
        LANE.close()
    return [python, _course(), *_packages(), *toolchains(broken), *trials, *_isolation(), *build_cache(), _browser()]


def _starting(pool: ThreadPoolExecutor) -> Future[float]:
    """Start the lane's fork server, which imports torch in parallel with this process. Returns a future of the seconds
    until it is ready; the future has an InfrastructureError if it does not start."""
    # Late, see device.
    from grader.judging.running.lane import LANE

    started: Future[float] = Future()
    try:
        # Start it in this thread: the system ends a thread's child processes with the thread.
        fork_server = LANE.fork_server.handle
    except InfrastructureError as error:
        started.set_exception(error)
        return started

    def seconds() -> float:
        began = time.monotonic()
        _ = fork_server.ready
        return time.monotonic() - began

    return pool.submit(seconds)


def _course() -> Diagnosis:
    try:
        course = home.here()
    except UserError as error:
        return Diagnosis("course", str(error), False, True)
    return Diagnosis("course", course.note or f"{course.file}, assignments in {course.root}")


def _packages() -> list[Diagnosis]:
    lines = []
    for name in PACKAGES:
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            lines.append(Diagnosis(name, "not installed", False, True, home.INSTALL))
            continue
        expected = Requirement(declared(name))
        if expected.specifier.contains(version, prereleases=True):
            lines.append(Diagnosis(name, version))
        else:
            lines.append(Diagnosis(name, f"{version}: the grader was tested with {expected}", False,
                                 remedy=home.INSTALL))
    return lines


def _broken_torch() -> list[Diagnosis]:
    """Return the reason why torch cannot be imported, if it cannot. A process of its own tries it, since some
    installations end the process."""
    result = subprocess.run(
        [sys.executable, "-c", "import torch"], capture_output=True, text=True, errors="replace", check=False)
    if result.returncode == 0:
        return []
    why = result.stderr.strip().rpartition("\n")[2] or f"it ends the process with status {result.returncode}"
    return [Diagnosis("import torch", why, False, True, home.ANEW)]


def toolchains(broken: Mapping[str, str]) -> list[Diagnosis]:
    """Return a line for each language that needs more than a Python package: its tools' version, or the reason why it
    is not graded here. `broken` has the reasons that a fork server found, by the language's name."""
    lines = []
    for name, front_end in languages.front_ends().items():
        if trouble := front_end.problem() or broken.get(name, ""):
            text, _, remedy = trouble.rpartition("; ")
            lines.append(Diagnosis(front_end.title, f"not graded here: {text}", False, remedy=remedy))
        elif version := front_end.installed():
            lines.append(Diagnosis(front_end.title, version))
    return lines


def device() -> list[Diagnosis]:
    """Return lines on the device that judges kernels, and on what it lacks."""
    # Late, as below: lanes on other machines import this file in a process that needs no torch.
    import torch

    from grader.judging.running.device import no_gpu
    from grader.judging.speed.fitness import state

    if remedy := remedy_of_unused():
        return [Diagnosis("device", UNUSED, False, remedy=remedy)]
    if not torch.cuda.is_available():
        return [Diagnosis("device", "no GPU: correctness is graded in full, speed is not measured")]
    name = torch.cuda.get_device_name()
    if trouble := no_gpu():
        return [Diagnosis("device", f"{name}: {trouble}", False, remedy=f"{home.PIP} cuda-bindings")]
    lines = [Diagnosis("device", f"{name}: answers are judged on it, speed included")]
    if unwatched := state().unavailable:
        lines.append(Diagnosis("its clocks", f"not monitored: {unwatched}", False,
                             remedy=home.with_extra("gpu")))
    return lines


def _gradings(starting: Future[float]) -> list[Diagnosis]:
    # Late, see device.
    from grader.judging.running.device import no_gpu

    return [_grading("cpu", starting), *([] if no_gpu() else [_grading("cuda", starting)])]


def _grading(device: str, starting: Future[float]) -> Diagnosis:
    """Grade one case of a reference kernel, and time the grading."""
    # Late, see device.
    from grader.judging.checks import SOURCE, TARGET, case_check, results
    from grader.judging.judge import judge
    from grader.judging.prepared import PreparedTask, Task

    subject = "grading on the GPU" if device == "cuda" else "grading"
    try:
        known = catalogue.assignments()
        course = read_course(home.file(), frozenset(known))
    except UserError as error:
        return Diagnosis(subject, str(error), False, True)
    assignment = known[course.select(known, ())[0]]
    reference = catalogue.reference(assignment)
    if not reference.is_file():
        return Diagnosis(subject, f"not tried: {reference} is missing, as in a students' kit; check a kernel of "
                                  "your own", False)
    try:
        imported = starting.result()
        prepared = PreparedTask(Task(
            assignment, Source(content=reference.read_bytes()), course, secrets.token_bytes(32), device))
        started = time.monotonic()
        case = assignment.cases_for(device)[:2][-1]
        checks = list(results(judge(prepared, (SOURCE, case_check(case), TARGET))))
        taken = time.monotonic() - started
    except InfrastructureError as error:
        return Diagnosis(subject, str(error), False, True, error.remedy or home.ANEW)
    for check in checks:
        if check.outcome != "passed":
            message = check.detail.message if check.detail else check.outcome
            return Diagnosis(subject, f"our own kernel fails ({check.id}): {message}", False, True)
    run = "run by an executor" if device == "cuda" else "simulated"
    return Diagnosis(subject, f"torch and triton imported in {imported:.1f} s; a kernel planned, {run}, compared and "
                         f"compiled in {taken:.1f} s")


def _broken_languages(starting: Future[float]) -> dict[str, str]:
    """Return the reason why a language's tools compile nothing, by the language's name; after a semicolon the reason
    says what to do."""
    # Late, see device.
    from grader.judging.running.lane import LANE

    if starting.exception() is not None:
        return {}
    return {role.partition("/")[0]: reason for role, reason in LANE.fork_server.handle.ready.broken.items()}


def _isolation() -> list[Diagnosis]:
    """Return lines on the isolation level, which is found by trying each barrier, and then on what is missing and what
    would add it."""
    try:
        measured = isolation.measure()
    except InfrastructureError as error:
        return [Diagnosis("isolation", str(error), False, True, error.remedy or home.ANEW)]
    lines = [Diagnosis("isolation", f"level {measured}: {measured.summary}", measured.level >= isolation.ADVISED)]
    return lines + [Diagnosis("", text, measured.level >= isolation.ADVISED) for text in measured.missing]


def build_cache() -> list[Diagnosis]:
    """Return a line if builds are not cached for the next command."""
    # Late, see device.
    from grader.judging.running.lane import cache_trouble

    text, _, remedy = cache_trouble().rpartition("; ")
    return [Diagnosis("cache", text, False, remedy=remedy)] if text else []


def _browser() -> Diagnosis:
    path = shutil.which("chromium")
    if path is None:
        return Diagnosis("browser", "no chromium: the tests of the pages are skipped (grading needs none)", False,
                       remedy="apt install chromium")
    try:
        version = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=BROWSER_SECONDS, check=False).stdout
    except subprocess.TimeoutExpired:
        return Diagnosis("browser", f"{path}: does not print its version within {BROWSER_SECONDS:g} s", False)
    return Diagnosis("browser", f"{version.strip() or path} (for the tests of the pages)")
