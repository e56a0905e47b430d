"""The grading of one submission through the pytest suite, the result that follows from its checks, and the search for
changes that mend what failed. Changes are hints: no check and no points change."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import io
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from itertools import cycle
from typing import TypeVar

import pytest
import pytest_timeout  # type: ignore[import-untyped]
import torch

from grader.course import calibration, catalogue, scoring
from grader.course.assignment import Assignment
from grader.errors import InfrastructureError
from grader.grading.job import Job, JobOutcome, seed_bytes
from grader.grading.suite.adapter import SUITE, Adapter
from grader.grading.sweep import cases, sweep
from grader.judging.explain import explain_assignment
from grader.judging.judgement import Judgement
from grader.judging.plans.toolchain import COMPILE_SECONDS
from grader.judging.prepared import Prefetch, PreparedTask, Task
from grader.judging.repair.search import repaired
from grader.judging.running.lane import LANE
from grader.judging.speed.contents import compile_draws
from grader.judging.speed.speed import SPEED_SECONDS
from grader.plan.limits import MOST_EXCUSED
from grader.results.result import (
    IMPOSSIBLE,
    AssignmentResult,
    CheckResult,
    Correctness,
    Detail,
    Environment,
    Flag,
    Performance,
    Result,
    StructureResult,
    Timing,
    decisive,
)
from grader.results.verdicts import ACCEPTED, Verdict

# The longest file, in bytes, that reports show.
SOURCE_BYTES = 60_000
# Seconds added to the judge's own deadlines. Only a grader that hangs takes so long.
GUARD_SECONDS = 120

DISABLE_AUTOLOAD = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
_UNUSED = (
    "assertion", "cacheprovider", "debugging", "doctest", "faulthandler", "junitxml", "legacypath", "logging",
    "monkeypatch", "pastebin", "recwarn", "setuponly", "setupplan", "skipping", "stepwise", "subtests", "tmpdir",
    "unittest", "unraisableexception")  # fmt: skip
"""pytest's own plugins that checks do not need. Starting them took a third of pytest's time."""
NO_GPU = "Graded without a GPU: speed is measured on one, never guessed."
NOT_ASKED = "Graded without speed: it was not asked for."
NOT_RIGHT = "Speed counts once every case is right."
FLAGGED = ("policy", "unsupported")
"""Kinds of failures that a person should examine: a rule of the course decides, or the grader cannot follow the
code."""
COSTS_SPEED_ALONE = ("infrastructure", "time_out", "out_of_memory", "over_limit")


@dataclass(frozen=True)
class _PreparedJob:
    """A job whose tasks are being prepared."""

    job: Job
    prepared: list[PreparedTask]
    ahead: Prefetch


# The jobs that are prepared while the submission before them is judged.
_following: list[_PreparedJob] = []


def grade(
    job: Job, begun: Callable[[str], object] = lambda assignment: None, following: Job | None = None
) -> JobOutcome:
    """Grade one submission. Failures of the grader inside a check are in the result, others are raised. `begun` is
    called with the assignment's name at the beginning of each check. The job `following`, which this process grades
    next, is prepared meanwhile, since processors are idle while a GPU works."""
    started = time.monotonic()
    speed = job.speed and job.device == "cuda"
    if speed:
        # Baselines take long to start. They now start in parallel with planning, unless they did so with the lane.
        known = catalogue.assignments()
        timed = [known[name] for name in catalogue.select(known, job.only) if not known[name].on_host]
        LANE.baselines.prepare(
            partial(compile_draws, assignment, case) for assignment in timed for case in assignment.timed)
    if job.device == "cuda":
        _ = LANE.executors
    prepared_job = _begin(job)
    if following is not None:
        # An error here comes again when the job is graded, and is then the failure of that job.
        with contextlib.suppress(Exception):
            _following.append(_begin(following))
    judgements = [Judgement(task, speed=speed) for task in prepared_job.prepared]
    log = _judged(judgements, job, begun)
    prepared_job.ahead.wait()
    if not _following:
        LANE.end_workers()
    return JobOutcome(job.submission, _result(job, judgements, time.monotonic() - started), log)


def _begin(job: Job) -> _PreparedJob:
    """Begin to prepare a job's tasks, or return the tasks that were prepared before."""
    while _following:
        if (before := _following.pop()).job == job:
            return before
        before.ahead.drop()
    known = catalogue.assignments()
    names = catalogue.select(known, job.only)
    fork_servers, on_gpu = LANE.fork_servers(len(names), job.device), job.device == "cuda"
    tasks = [Task(known[name], job.handed_in.sources[name], job.course, seed_bytes(job.seed), job.device)
             for name in names]
    prepared = [PreparedTask(task, fork_server, None if on_gpu else fork_servers[0])
                for task, fork_server in zip(tasks, cycle(fork_servers if on_gpu else fork_servers[-1:]))]
    for task in prepared:
        task.build()
    return _PreparedJob(job, prepared, Prefetch(prepared if on_gpu or len(fork_servers) > 1 else ()))


class _Interruption:
    """A pytest plugin that remembers an interruption, since pytest.main does not report it."""

    seen = False

    @pytest.hookimpl
    def pytest_keyboard_interrupt(self) -> None:
        self.seen = True


def _judged(judgements: Sequence[Judgement], job: Job, begun: Callable[[str], object]) -> str:
    """Run all checks in pytest and return its log. Raises KeyboardInterrupt."""
    log = io.StringIO()
    limits = job.course.limits
    longest = (1 + MOST_EXCUSED) * (limits.assignment_seconds + COMPILE_SECONDS)
    # pytest collects one folder. It uses no other configuration, and no conftest.py of the working directory or
    # submission.
    arguments = [
        str(SUITE), "--noconftest", "-c", str(SUITE / "pytest.ini"), "--rootdir", str(SUITE),
        *(word for name in _UNUSED for word in ("-p", f"no:{name}")), "--capture=sys", "-v", "-ra", "--tb=short",
        "--no-header", "--color=no",
        # The timeout is longer than any check can take by the judge's own deadlines.
        f"--timeout={longest + GUARD_SECONDS + SPEED_SECONDS * (job.device == 'cuda')}",
    ]
    interruption = _Interruption()
    with _only_our_plugins(), contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        # Pass the plugin as a module: for a name, pytest would search all installed packages.
        pytest.main(arguments, plugins=[Adapter(judgements, begun), interruption, pytest_timeout])
    if interruption.seen:
        # Some checks are missing, so there can be no result.
        raise KeyboardInterrupt
    return log.getvalue()


@contextlib.contextmanager
def _only_our_plugins() -> Iterator[None]:
    """Hide installed plugins and the user's environment from pytest until the block ends."""
    kept = {name: os.environ.pop(name, None) for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", DISABLE_AUTOLOAD)}
    os.environ[DISABLE_AUTOLOAD] = "1"
    try:
        yield
    finally:
        del os.environ[DISABLE_AUTOLOAD]
        os.environ.update({name: value for name, value in kept.items() if value is not None})


def _result(job: Job, judgements: Sequence[Judgement], seconds: float) -> Result:
    results = {judgement.task.assignment.name: _assignment_result(job, judgement) for judgement in judgements}
    return Result(
        student=job.submission.student,
        score=round(sum(r.score for r in results.values()), 2),
        max_score=sum(r.max_score for r in results.values()),
        measured_max=sum(r.measured_max for r in results.values()),
        graded_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        seconds=round(seconds, 3),
        reproduce=job.command,
        notes=list(job.notes),
        unread=[] if any(a.source_sha256 for a in results.values()) else list(job.handed_in.others),
        environment=environment(job.device).model_copy(
            update={"seed": str(job.seed), "course": job.course.sha256}),
        assignments=results,
    )


def _assignment_result(job: Job, judgement: Judgement) -> AssignmentResult:
    assignment = judgement.task.assignment
    speeds = [check for check in judgement.checks if check.stage == "speed"]
    # A required condition that is not met counts as a failed check; others only cost points for structure.
    conditions = judgement.extras.conditions
    required = {f"structure-{condition.name}" for condition in conditions
                if condition.required and condition.met is False}
    expected = [check for check in judgement.checks
                if check.stage not in ("speed", "structure") or check.id in required]
    # A wrong answer in a timed call counts as in any other. A timeout or a failed measurement only costs speed points.
    checks = [*expected, *(check for check in speeds if check.outcome == "failed" and check.detail
                           and check.detail.kind not in COSTS_SPEED_ALONE)]
    verdict = scoring.verdict_of(checks, [check.id for check in expected])
    summary = explain_assignment(assignment, checks)
    source = judgement.task.source
    performance = performance_of(job, assignment, speeds, verdict)
    _, deciding = decisive(checks)
    # A single flag stands for all cases and lines; the message has the details.
    refused = next((check.detail for check in sorted(deciding, key=lambda check: check.hidden)
                    if check.detail and check.detail.kind in FLAGGED), None)
    flags = [] if refused is None else [Flag(what=refused.kind, evidence=refused.message, place=refused.place)]
    flags += [Flag(what="tuner", evidence=remark) for remark in judgement.extras.flagged if verdict == ACCEPTED]
    flags += [
        Flag(what="structure", evidence=f"The kernel has to {condition.words}; no run shows it: {condition.said}")
        for condition in conditions if condition.required and condition.met is None]
    flags += [_too_fast(timing) for timing in performance.timings if (timing.roof_fraction or 0) > IMPOSSIBLE]
    unscored = AssignmentResult(
        title=assignment.title, signature=assignment.signature, formula=assignment.formula,
        verdict=verdict, score=0, max_score=0,
        message=summary.message, summary=summary.common, shown=summary.shown.id if summary.shown else "",
        hint=summary.hint, guess=summary.guess,
        correctness=Correctness(max_points=0, checks=checks),
        performance=performance,
        structure=_structure(judgement),
        flags=flags,
        inspection=judgement.extras.inspection,
        remarks=list(judgement.extras.remarks),
        source_sha256=hashlib.sha256(source.content).hexdigest() if source.content is not None else "",
        source=(source.content.decode("utf-8", "replace")
                if source.content and len(source.content) <= SOURCE_BYTES else ""),
        elsewhere=list(source.elsewhere),
        seconds=round(judgement.seconds, 3),
    )
    return scoring.scored(
        assignment.name, unscored, job.course, _device_name(job.device), job.earlier.get(assignment.name))


def _structure(judgement: Judgement) -> StructureResult:
    """Return the conditions' outcomes, without points."""
    details = [check.detail for check in judgement.checks if check.stage == "structure" and check.detail]
    failed = next((detail.message for detail in details if detail.kind == "infrastructure"), "")
    return StructureResult(reason=failed, conditions=list(judgement.extras.conditions))


def performance_of(
    job: Job, assignment: Assignment, speeds: Sequence[CheckResult], verdict: Verdict
) -> Performance:
    """Return an assignment's speed, without points. `speeds` are the checks of its timed cases."""
    performance = Performance(
        reason=NO_GPU if job.device == "cpu" else NOT_ASKED, max_points=0,
        baseline=assignment.baseline.name, compiled=assignment.baseline.compiled)
    if not job.speed or job.device == "cpu":
        return performance
    measured = calibration.find(_device_name(job.device), job.calibrations)
    ladder = [] if measured is None else measured.rungs(assignment.name)
    performance = performance.model_copy(update={"ladder": ladder})
    if verdict != ACCEPTED:
        # "measured": the points for speed are decided, since a wrong answer gets none.
        return performance.model_copy(update={"status": "measured", "reason": NOT_RIGHT})
    timings = [check.timing for check in speeds if check.timing is not None]
    if not timings or len(timings) < len(speeds):
        details = [check.detail for check in speeds if check.detail]
        message = details[0].message if details else "not run"
        decided = bool(details) and all(detail.kind != "infrastructure" for detail in details)
        return performance.model_copy(update={
            "status": "measured" if decided else "not_measured", "timings": timings,
            "reason": f"No points for speed: {message}" if decided else f"Speed could not be measured: {message}"})
    return _swept(job, assignment, performance.model_copy(update={
        "status": "measured", "reason": "", "speedup": scoring.speedup(timings), "timings": timings}))


def _swept(job: Job, assignment: Assignment, performance: Performance) -> Performance:
    """Return the performance with the speeds at other sizes, if the job asks for a sweep."""
    if not job.sweep or not cases(assignment):
        return performance
    try:
        swept = sweep(assignment, job.handed_in.sources[assignment.name], job.course)
    except InfrastructureError as error:
        return performance.model_copy(update={
            "notes": [*performance.notes, f"Speed at other sizes could not be measured: {error}"]})
    return performance.model_copy(update={"sweep": swept})


def _too_fast(timing: Timing) -> Flag:
    assert timing.roof_fraction is not None and timing.roof_us is not None
    return Flag(what="roof", evidence=(
        f"{timing.case}: {timing.student_us:.1f} µs a call, where this machine's {timing.roof} takes at least "
        f"{timing.roof_us:.1f} µs for the same work: {timing.roof_fraction:.0%} of the roof"))


def _device_name(device: str) -> str:
    return torch.cuda.get_device_name() if device == "cuda" else "cpu"


def environment(device: str) -> Environment:
    """Return the environment of a grading on `device`, "cpu" or "cuda", without seed and course. Must be called in a
    lane."""
    level, versions = LANE.isolation, LANE.fork_server.handle.ready
    return Environment(
        device=_device_name(device),
        python=versions.python, torch=versions.torch, triton=versions.triton, numpy=versions.numpy,
        platform=platform.platform(), isolation=str(level), isolation_reasons=list(level.reasons),
        isolation_missing=list(level.missing), seed="", kernelmark=metadata.version("kernelmark"))


Explained = TypeVar("Explained", AssignmentResult, Detail)


def mended(
    job: Job, name: str, assignment: AssignmentResult,
    progress: Callable[[int, int], object] = lambda tried, most: None,
) -> AssignmentResult:
    """Return a graded assignment, with a change that makes every case right if one is found. Changes are tried without
    a GPU, wherever the job was graded. `progress` is called with the number of tried changes and their maximum. Raises
    InfrastructureError."""
    if assignment.right or job.course.hints.level == "off":
        return assignment
    task = Task(catalogue.assignments()[name], job.handed_in.sources[name], job.course, seed_bytes(job.seed), "cpu")
    try:
        repair = repaired(PreparedTask(task), assignment.correctness.checks, progress)
    finally:
        LANE.fork_server.end_worker()
    return assignment if repair is None else without_guess(assignment).model_copy(update={"repair": repair})


def without_guess(assignment: AssignmentResult) -> AssignmentResult:
    """Return the assignment without the guesses of its hints. An observation beside a guess ends the message."""
    correctness = assignment.correctness
    checks = [check.model_copy(update={"detail": _sure(check.detail)}) if check.detail and check.detail.guess else check
              for check in correctness.checks]
    return _sure(assignment).model_copy(update={"correctness": correctness.model_copy(update={"checks": checks})})


def _sure(explained: Explained) -> Explained:
    if not explained.guess:
        return explained
    seen = explained.hint.removesuffix(explained.guess)
    return explained.model_copy(update={"message": f"{explained.message} {seen}".strip(), "hint": "", "guess": ""})


def mend(job: Job, name: str, assignment: AssignmentResult) -> tuple[AssignmentResult, str]:
    """Return a graded assignment with the change that was found, and a text for the log. A failure of the grader in the
    search only costs the hint."""
    try:
        return mended(job, name, assignment), ""
    except Exception as error:
        return assignment, f"\n{name}: the search for a change failed: {type(error).__name__}: {error}\n"
