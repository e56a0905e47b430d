"""One assignment of one submission: source read, every case called and compared, the record judged, the end."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import torch

from grader.assignment import Assignment, Case, Inputs, TimedCase
from grader.catalogue import answer_and_tolerance
from grader.course import Course
from grader.forkserver.handle import InfrastructureError, Zygote
from grader.judge import device, policy, speed
from grader.judge.baselines import Baselines
from grader.judge.buffers import BufferError
from grader.judge.compare import compare, error_map
from grader.judge.device import Memory
from grader.judge.explain import explain_case, explain_failure
from grader.judge.inputs import draw
from grader.judge.ring import Wrong
from grader.judge.session import Answer, Lost, Session
from grader.plan import wire
from grader.result import CheckResult, Detail, Outcome, Place, Timing
from grader.submission import Source
from grader.text import clean

SOURCE = "source"
RECORD = "record"
MOST_LISTED = 6
# Bytes of a text that a submission wrote: of the first that there are, and of those of further cases.
FIRST_QUOTED = 20_000
QUOTED = 2_000
LATE = ("Every thread and process that the function starts must have finished when it returns: the answer counts as it "
        "stood at that moment.")
# Looking for a pattern takes seconds beyond this many elements, and smaller cases show it as well.
MOST_EXPLAINED = 1 << 22
# For all timed calls of a case.
SPEED_SECONDS = 600.0
# Where one wrong case costs all points, waiting for further cases to run out of time tells nobody anything.
MOST_TIME_OUTS = 2


def case_id(case: Case) -> str:
    return f"case-{case.name}"


def speed_id(case: Case) -> str:
    return f"speed-{case.name}"


def expected_checks(assignment: Assignment, device: str) -> tuple[str, ...]:
    """The ids of every check that must have passed for the assignment to be accepted, in the order they run."""
    return (SOURCE, *(case_id(case) for case in assignment.cases_for(device)), RECORD)


class Attempt:
    """Judges one assignment of one submission. Each method runs one check; `close` ends it and finds late writes.

    A worker is started at the first case, and afresh after a crash, a kill or a time-out. `baselines` are what speed is
    measured against.
    """

    def __init__(
        self, zygote: Callable[[], Zygote], assignment: Assignment, source: Source, course: Course, seed: bytes,
        device: str = "cpu", baselines: Callable[[], Baselines] | None = None,
    ) -> None:
        self.assignment = assignment
        self.source = source
        # What memory there was before the submission had any: it does not choose its own case by holding some.
        self.free: Memory | None = None
        self._zygote = zygote
        self._limits = course.limits
        self._cuda = device == "cuda"
        self._call_seconds, self._assignment_seconds = course.limits.seconds(device)
        self._baselines = baselines
        self._threshold = course.threshold_of(assignment.name)
        self._strict = course.points.credit == "all"
        self._time_outs = 0
        self._seed = seed
        self._calls = 0
        self._session: Session | None = None
        self._deadline: float | None = None
        self._blocked: str = ""
        self.violations: set[policy.Violation] = set()
        self._answered = False
        self._failed = False
        self._late: list[str] = []
        self._quoted = False

    def read(self) -> CheckResult:
        """Checks what can be known without running anything: the file, its syntax, its function, what it calls."""
        file = self.assignment.file
        if self.source.problem is not None:
            return self._source_failed(Lost("unreadable_source", self.source.problem))
        if self.source.content is None:
            return self._source_failed(Lost("missing_file", f"{file} is not in the submission"))
        try:
            violations = policy.read_source(self.source.content, self.assignment)
        except policy.SourceProblem as problem:
            return self._source_failed(Lost(problem.kind, problem.message, problem.line))
        if violations:
            return CheckResult(id=SOURCE, stage="source", outcome="failed", detail=self._policy_detail(violations))
        return CheckResult(id=SOURCE, stage="source", outcome="passed")

    def check(self, case: Case) -> CheckResult:
        """Calls the function on fresh inputs and compares its answer with the oracle's."""
        if self._blocked:
            return self._case_result(case, "not_run", Detail(kind="exception", message=self._blocked))
        try:
            return self._check(case)
        except (BufferError, torch.OutOfMemoryError) as error:
            return self._case_lost(case, self._short_of_memory(error))

    def _check(self, case: Case) -> CheckResult:
        inputs = self._inputs(case)
        try:
            session = self._open()
            answer = session if isinstance(session, Lost) else session.call(case, inputs)
        except InfrastructureError:
            self._drop_session()
            raise
        if isinstance(answer, Lost):
            return self._case_lost(case, answer)
        self._answered = True
        self.violations.update(policy.judge_record(answer.operators, answer.kernels, self.assignment))
        return self._compare(case, inputs, answer)

    def _case_lost(self, case: Case, lost: Lost) -> CheckResult:
        if lost.fatal:
            self._end_session()
        self._time_outs += lost.kind == "time_out"
        if lost.kind in ("not_attempted", "out_of_memory"):
            self._blocked = f"not run: {lost.message}"
        elif self._time_outs == MOST_TIME_OUTS and self._strict:
            self._blocked = f"not run: {MOST_TIME_OUTS} cases had run out of time"
        return self._case_result(case, "failed", self._lost_detail(lost))

    def _short_of_memory(self, error: Exception) -> Lost:
        """Whose doing it is that the judge finds no memory shows when the submission is gone. Raises
        InfrastructureError if it is not the submission's."""
        if self._session is not None and self._cuda:
            before = device.memory(cuda=True)
            self._session.lose("out_of_memory", "")
            if held := device.hoarded(before, device.memory(cuda=True)):
                return Lost("out_of_memory", f"the submission held {held / 2**30:.0f} GiB of device memory, and left "
                                             "none for its own inputs and outputs")
        self._drop_session()
        raise InfrastructureError(str(error)) from None

    def record(self) -> CheckResult:
        """Judges what ran: the dispatched operators and the launched kernels of every answered call."""
        if not self._answered:
            detail = Detail(kind="exception", message="not run: no call was answered")
            return CheckResult(id=RECORD, stage="record", outcome="not_run", detail=detail)
        if self.violations:
            self._failed = True
            detail = self._policy_detail(sorted(self.violations))
            return CheckResult(id=RECORD, stage="record", outcome="failed", detail=detail)
        return CheckResult(id=RECORD, stage="record", outcome="passed")

    def time(self, case: TimedCase) -> CheckResult:
        """Times the function against the baseline, on a case of its own; every answer is checked.

        Raises InfrastructureError if the time cannot be taken.
        """
        if self._failed or not self._answered:
            reason = "not measured: speed counts once every case is right"
            return self._speed_result(case, "not_run", Detail(kind="exception", message=reason))
        until = time.monotonic() + SPEED_SECONDS
        found = self._time(case, until)
        if isinstance(found, Lost) and found.kind == "late_write":
            # Whose work it was that went on, or another program's burst, shows when it is there again.
            self._end_session()
            found = self._time(case, until)
        if isinstance(found, Lost):
            if found.fatal:
                self._end_session()
            return self._speed_result(case, "failed", self._lost_detail(found))
        if isinstance(found, Wrong):
            return self._speed_result(case, "failed", self._wrong_detail(found))
        violations = policy.judge_record(found.operators, found.kernels, self.assignment)
        if violations:
            return self._speed_result(case, "failed", self._policy_detail(sorted(violations)))
        return self._speed_result(case, "passed", None, found.timing)

    def _time(self, case: TimedCase, until: float) -> speed.Speed | Lost | Wrong:
        assert self._baselines is not None
        # Making inputs and checking answers is our time: a batch has the limit of a call, and the case has ours.
        self._deadline = math.inf
        session = self._open()
        if isinstance(session, Lost):
            return session
        session.halt.go_on()
        session.deadline = math.inf
        free = self.free
        assert free is not None
        if free.device is not None:
            free = replace(free, device=free.device - session.device_bytes)
        try:
            return speed.measure(
                self.assignment, case, session, self._baselines(), self._threshold, free=free,
                until=until, cuda=self._cuda)
        except (BufferError, torch.OutOfMemoryError) as error:
            return self._short_of_memory(error)
        except BaseException:
            # What was asked of it and not read would be taken for the next answer.
            self._drop_session()
            raise

    def _wrong_detail(self, wrong: Wrong) -> Detail:
        """What was found in an answer of a timed call."""
        if wrong.what == "late":
            return Detail(kind="late_write", message="In a timed call: the output was written to after the function "
                                                     "had said that it was done.", hint=LATE)
        if wrong.what != "values":
            return Detail(kind="input_changed", message=f"In a timed call: {wrong.what} was changed.",
                          hint="Inputs must be left as they are.")
        return Detail(
            kind="wrong_values",
            message=f"In a timed call {wrong.count:,} of {wrong.total:,} elements are wrong, while the cases "
                    "before came out right.",
            hint="Timed calls are like all others: new values, in other memory, at the sizes of their case. Does the "
                 "kernel keep something from one call to the next, or does a launch not wait for what it needs?",
            wrong=wrong.count, total=wrong.total, unwritten=wrong.unwritten, worst=wrong.worst)

    def _speed_result(
        self, case: Case, outcome: Outcome, detail: Detail | None, timing: Timing | None = None
    ) -> CheckResult:
        return CheckResult(
            id=speed_id(case), stage="speed", case=case.name, sizes=case.sizes, outcome=outcome, detail=detail,
            timing=timing)

    @property
    def pid(self) -> int:
        """Its worker's process; 0 if there is none."""
        session = self._session
        return 0 if session is None or session.over else session.worker.pid

    def rest(self, *, end: bool) -> None:
        """Stops the worker until it is timed. With `end`, and where nothing is left to be timed, it is ended."""
        if end or self._failed:
            self._end_session()
        elif self._session is not None:
            self._session.halt.stop()

    def close(self) -> dict[str, Detail]:
        """Kills what is left of the submission. Returns a failure for each case whose output changed after "done"."""
        self._end_session()
        message = "the output was written to after the function had returned"
        return {f"case-{name}": Detail(kind="late_write", message=message, hint=LATE) for name in self._late}

    def _open(self) -> Session | Lost:
        if self._session is not None:
            return self._session
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + self._assignment_seconds
            self.free = self.free or device.memory(self._cuda)
        if now >= self._deadline:
            limit = f"{self._assignment_seconds:g} s"
            return Lost("time_out", f"not called: the assignment's {limit} were used up by the cases before")
        assert self.source.content is not None
        session = Session(
            self._zygote(), self.assignment, self.source.content, self._worker_limits(), self._limits.max_programs,
            self._call_seconds, self._deadline, self._cuda)
        self._session = session
        lost = session.load()
        if lost is not None:
            self._end_session()
            self._blocked = f"not run: {lost.message}"
            return lost
        return session

    def _end_session(self) -> None:
        if self._session is not None:
            self._late.extend(self._session.close())
            self._session = None

    def _worker_limits(self) -> wire.Limits:
        timed = SPEED_SECONDS * len(self.assignment.timed) if self._cuda else 0
        return wire.Limits(
            memory_mb=self._limits.memory_mb, cuda=self._cuda, processes=self._limits.processes,
            file_mb=self._limits.cuda_file_mb if self._cuda else self._limits.file_mb,
            cpu_seconds=int(2 * self._assignment_seconds + timed) + 5)

    def _drop_session(self) -> None:
        """Ends a session that something of ours has failed in."""
        with suppress(InfrastructureError):
            self._end_session()
        self._session = None
        self._blocked = "not run: the grader had failed"

    def _inputs(self, case: Case) -> Inputs:
        """Fresh contents at every call, from a seed that no submission can know."""
        self._calls += 1
        text = f"{self.assignment.name}/{case.name}/{self._calls}".encode()
        digest = hashlib.blake2b(text, key=self._seed, digest_size=8).digest()
        return draw(self.assignment, case, int.from_bytes(digest, "big") >> 1, cuda=self._cuda)

    def _compare(self, case: Case, inputs: Inputs, answer: Answer) -> CheckResult:
        comparison = compare(answer.output, *answer_and_tolerance(self.assignment, inputs))
        if comparison.passed and not answer.changed:
            return self._case_result(case, "passed", None, answer.seconds, comparison.worst_ratio)
        if answer.output.numel() > MOST_EXPLAINED:
            detail = Detail(
                kind="wrong_values", message=f"{comparison.count:,} of {comparison.total:,} elements are wrong.",
                wrong=comparison.count, total=comparison.total, unwritten=comparison.unwritten_count,
                worst=comparison.worst, error_map=error_map(comparison))
        else:
            detail = explain_case(
                self.assignment, case, inputs, answer.output, comparison, inputs_changed=list(answer.changed))
        self._quote(detail, "", answer.printed)
        return self._case_result(case, "failed", detail, answer.seconds, comparison.worst_ratio)

    def _case_result(
        self, case: Case, outcome: Outcome, detail: Detail | None,
        seconds: float | None = None, worst_ratio: float | None = None,
    ) -> CheckResult:
        self._failed = self._failed or outcome != "passed"
        finite = worst_ratio if worst_ratio is not None and worst_ratio < float("inf") else None
        return CheckResult(
            id=case_id(case), stage="case", case=case.name, sizes=case.sizes, outcome=outcome,
            seconds=seconds, worst_ratio=finite, detail=detail)

    def _source_failed(self, lost: Lost) -> CheckResult:
        self._blocked = f"not run: {lost.message}"
        return CheckResult(id=SOURCE, stage="source", outcome="failed", detail=self._lost_detail(lost))

    def _lost_detail(self, lost: Lost) -> Detail:
        detail = explain_failure(
            self.assignment, lost.kind, lost.message, line=lost.line, signal=lost.signal, text=self._line(lost.line))
        return self._quote(detail, lost.traceback, lost.output)

    def _quote(self, detail: Detail, traceback: str, output: str) -> Detail:
        """Adds what the submission said: at length once, since the next case mostly says the same."""
        limit = FIRST_QUOTED if not self._quoted else QUOTED
        self._quoted = self._quoted or bool(traceback or output)
        detail.message = clean(detail.message, QUOTED)
        detail.traceback, detail.output = clean(traceback, limit), clean(output, limit)
        return detail

    def _policy_detail(self, violations: list[policy.Violation]) -> Detail:
        first = violations[0]
        listed = ", ".join(f"{v.what} (line {v.line})" for v in violations[:MOST_LISTED] if v.line)
        more = f" and {len(violations) - MOST_LISTED} more" if len(violations) > MOST_LISTED else ""
        message = f"Work is done outside the kernels: {listed}{more}." if listed else f"{first.what}."
        return Detail(kind="policy", message=message, hint=first.why, place=self._place(first.line))

    def _place(self, line: int) -> Place | None:
        return Place(file=self.assignment.file, line=line, text=self._line(line)) if line else None

    def _line(self, line: int) -> str:
        lines = (self.source.content or b"").decode("utf-8", "replace").splitlines()
        return lines[line - 1].strip()[:200] if 0 < line <= len(lines) else ""
