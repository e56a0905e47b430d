"""One attempt at an assignment: read, plan, compile, then run, compare and explain each case, then time.

Host code of the submission runs in planners alone, and none of them is alive any more when the first kernel runs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

import torch

from grader.engine.forkserver.conversation import Lost
from grader.engine.forkserver.handle import InfrastructureError
from grader.judge import device as gpu
from grader.judge import execution, large
from grader.judge.allowance import Allowance
from grader.judge.buffers import NoRoomError
from grader.judge.compare import Comparison, compare
from grader.judge.explain import (
    explain_case,
    explain_failure,
    explain_findings,
    explain_missing,
    explain_remarks,
    explain_stop,
    explain_timed,
    explain_unreadable,
)
from grader.judge.explain.lines import line_text
from grader.judge.explain.stops import Stop
from grader.judge.inputs import Draws
from grader.judge.inspection import Seen, inspection_of, look_at_timed
from grader.judge.lane import lane_baselines, lane_executors
from grader.judge.large import Look
from grader.judge.launching import Launching
from grader.judge.planning import Planning, Unplanned, Wanted
from grader.judge.preparing import Preparing, kernels_of
from grader.judge.simulation import Ran, Simulation
from grader.judge.target import Target, Trouble
from grader.judge.timing.measure import fitting, measure
from grader.judge.timing.pool import Wrong
from grader.judge.timing.tuning import tuned
from grader.judge.witness import Foreseen, Witness
from grader.model.assignment import Assignment, Case, Inputs, TimedCase
from grader.model.catalogue import answer_and_tolerance
from grader.model.course import Course
from grader.model.launched import Inspection
from grader.model.result import CheckResult, Detail, FailureKind, Outcome, Timing
from grader.model.submission import Source
from grader.model.text import clean
from grader.plan.compiled import Binary, Problem
from grader.plan.device import TARGETS
from grader.plan.findings import Finding
from grader.plan.messages import Answers
from grader.plan.plan import Kernel, Plan

# Checks before they are made.
SOURCE = CheckResult(id="source", stage="source", outcome="not_run")
TARGET = CheckResult(id="target", stage="target", outcome="not_run")
# Bytes of a text that a submission wrote: of the first that there are, and of those of further cases.
FIRST_QUOTED = 20_000
QUOTED = 2_000
# Element operations of one simulated call: ten seconds and more.
OPERATIONS = 4_000_000_000
# For all timed calls of a case.
SPEED_SECONDS = 600.0


def case_check(case: Case) -> CheckResult:
    """The check of a case's answer, before it is made."""
    return CheckResult(id=f"case-{case.name}", stage="case", case=case.name, sizes=case.sizes, hidden=case.hidden,
                       outcome="not_run")


def speed_check(case: Case) -> CheckResult:
    """The check of a case's time, before it is made."""
    return CheckResult(id=f"speed-{case.name}", stage="speed", case=case.name, sizes=case.sizes, outcome="not_run")


def expected_checks(assignment: Assignment, device: str) -> tuple[CheckResult, ...]:
    """Every check that must pass for the assignment to be accepted, before it is made, in the order they run."""
    return (SOURCE, *(case_check(case) for case in assignment.cases_for(device)), TARGET)


class Attempt:
    """Judges one assignment of one submission. Each method runs one check; `close` ends it.

    With a GPU and without, the same calls are planned in the same order, and a simulator runs the cases that it can:
    what it finds with certainty counts on either. `quiet` returns when nothing else of the grading keeps processors
    busy."""

    def __init__(
        self, assignment: Assignment, source: Source, course: Course, seed: bytes, device: str, *,
        quiet: Callable[[], None] = lambda: None,
    ) -> None:
        self.assignment = assignment
        self.source = source
        self.inspection: Inspection | None = None
        self._text = (source.content or b"").decode("utf-8", "replace")
        self._threshold = course.threshold_of(assignment.name)
        self._strict = course.points.credit == "all"
        self._assembly = course.policy.assembly
        self._gpu = device == "cuda"
        self._draws = Draws(assignment, seed, cuda=self._gpu)
        self._quiet = quiet
        self._call_seconds = course.limits.call_seconds
        on = gpu.properties() if self._gpu else TARGETS[course.gpu.target]
        allowance = Allowance(inf if self._gpu else course.limits.attempt_seconds)
        self._preparing = Preparing(assignment, source.content or b"", course.limits, on, allowance)
        self._simulation = Simulation(
            lambda: self._preparing.start("simulator"), operations=OPERATIONS, seconds=self._call_seconds,
            on=on, allowance=allowance)
        self._launching = Launching(assignment, lane_executors(), seconds=self._call_seconds) if self._gpu else None
        cases = {case.name: case for case in (*assignment.cases, *assignment.timed)}
        self._wanted = [Wanted(case, self._draws.scalars(case), Answers(candidate=number))
                        for number, case in enumerate(cases.values())]
        self._hidden = {case.name for case in assignment.cases if case.hidden}
        self._planning = Planning()
        self._plans: dict[str, Plan | Unplanned] = {}
        self._witness = Witness(assignment, self._text, self._simulation, self._plan_of)
        self._source: CheckResult | None = None
        self._reading, self._looking = threading.Lock(), threading.Lock()
        self._seen: list[Seen | None] = []
        self._findings: list[Finding] = []
        self._shown: list[str] = []
        self._quoted = False
        # Speed counts once every case is right.
        self._failed = False
        self._endless = False

    def prepare(self) -> None:
        """Does what checks need later; they wait for a thread that is at it. Raises as they do."""
        if self.read().outcome == "passed":
            self._look()
            # All at once: where a GPU's answers are waited for, others take the simulator's place in between.
            small = self.assignment.cases_for("cpu") if self._gpu else ()
            for case in small:
                if self._foreseen(case, 0).seen is None:
                    break

    def read(self) -> CheckResult:
        """Plans every call: what the file is, whether it can be imported, and whether its function can be called."""
        # Once, whichever check is the first to be asked for, or a thread that prepares ahead.
        with self._reading:
            if self._source is None:
                self._source = self._read()
            return self._source

    def _read(self) -> CheckResult:
        if self.source.problem is not None:
            return self._source_failed(explain_unreadable(self.assignment, self.source.problem))
        if self.source.content is None:
            return self._source_failed(explain_missing(self.assignment, self.source.elsewhere))
        public, hidden = ([one for one in self._wanted if one.case.hidden == which] for which in (False, True))
        self._planning = self._preparing.plan(public)
        if self._planning.loading is not None:
            return self._source_failed(self._told(self._planning.loading))
        # Afterwards, in planners of their own: what host code learns of a hidden case goes into no other plan or print.
        outcomes = self._planning.outcomes + (self._preparing.plan(hidden).outcomes if hidden else [])
        self._plans = dict(zip((one.case.name for one in public + hidden), outcomes, strict=True))
        if self._gpu:
            # All at once: where there are cores for it, they are compiled side by side.
            self._preparing.binaries(kernels_of(self._plans.values()))
        self._pass_over(public)
        self._pass_over(hidden)
        return SOURCE.model_copy(update={"outcome": "passed"})

    def _pass_over(self, wanted: Sequence[Wanted]) -> None:
        """Has the plans of these calls use configurations of autotuners that can be launched."""
        names = [one.case.name for one in wanted]
        run = self._plans if self._gpu else {case.name for case in self.assignment.timed}
        found = self._preparing.launchable(wanted, [self._plans[name] for name in names], run)
        self._plans.update(zip(names, found, strict=True))

    def check(self, case: Case, *, seed: bytes | None = None) -> CheckResult:
        """Runs the calls of a case on fresh inputs, and compares what they leave with the oracle's answer. A `seed` of
        its own gives the planned calls other contents."""
        self.read()
        plan = self._plans.get(case.name)
        if plan is None:
            return self._case_result(case, "not_run", Detail(kind="exception", message="not run: there is no plan"))
        if not isinstance(plan, Plan):
            return self._unanswered(case, self._told(plan))
        if self._endless:
            # Where one wrong case costs all points, further cases that run out of time tell nothing new.
            return self._case_result(
                case, "not_run", Detail(kind="exception", message="not run: a case before had run out of time"))
        seconds, worst = 0.0, 0.0
        for call in range(len(plan.calls())):
            inputs = self._inputs(case, call, seed)
            ran = self._run(case, plan, inputs, call)
            if isinstance(ran, Detail):
                self._endless = self._strict and ran.kind == "time_out"
                return self._unanswered(case, ran)
            seconds += ran.seconds
            self._findings += [] if case.hidden else ran.findings
            comparison = self._compared(ran, inputs[-1])
            detail = explain_case(
                self.assignment, case, inputs[-1], ran.output, comparison, inputs_changed=ran.changed,
                findings=ran.findings, accesses=ran.accesses, plan=plan, call=call, source=self._text)
            if detail is None and ran.touched:
                detail = self._failure("out_of_bounds", f"A store lies outside of {' and '.join(ran.touched)}.")
            if detail is not None:
                detail = self._witness.placed(detail, case, inputs, comparison, ran.findings)
                return self._case_result(
                    case, "failed", self._quote(detail, "", ran.printed), seconds, comparison.worst_ratio)
            worst = max(worst, comparison.worst_ratio)
            chances = self._foreseen(case, call).chances if self._gpu else self._witness.chances(
                case, plan, inputs, ran, self._compared)
            if (detail := explain_findings(self.assignment, self._text, chances)) is not None:
                return self._case_result(case, "failed", detail, seconds, comparison.worst_ratio)
            self._findings += [] if case.hidden else chances
        return self._case_result(case, "passed", None, seconds, worst)

    def compiles(self) -> CheckResult:
        """Where no answer was wrong: whether a GPU could launch every kernel, and what of the sizes that it alone runs
        can be seen without one."""
        self.read()
        if self._failed or not self._plans:
            why = "a case before has failed" if self._failed else "there is no plan"
            return self._target_result("not_run", Detail(kind="exception", message=f"not run: {why}"))
        for name, stop in self._plans.items():
            if not isinstance(stop, Plan):
                return self._target_result("failed", self._told(stop, f"At {name}: "), hidden=name in self._hidden)
        # Before the compiler takes the place of the simulator that the cases have left.
        seen = self._look()
        target = Target(self.assignment, self._plans, self._preparing)
        looks: list[Look] = []
        if not self._gpu:
            small = self.assignment.cases_for("cpu")
            looks = target.look_at_large(
                [one.case for one in self._wanted if one.case not in small], self._simulation, self._draws, self._text)
        trouble = next((Trouble(look.case.name, look.detail) for look in looks if look.detail is not None), None)
        trouble = trouble or target.trouble(refuse=self._assembly == "refuse")
        if trouble is not None:
            detail = trouble.what if isinstance(trouble.what, Detail) else self._told(trouble.what)
            where = f"At {trouble.case}: " if trouble.case and detail.kind != "policy" else ""
            detail = self._quote(detail.model_copy(update={"message": where + detail.message}), "", "")
            outcome: Outcome = "not_run" if detail.kind == "needs_gpu" else "failed"
            return self._target_result(outcome, detail, hidden=trouble.case in self._hidden)
        self._shown = [detail.message for detail in target.foreign(self._plans.keys() - self._hidden)]
        self.inspection = None if seen is None else inspection_of(
            self.assignment, seen, target.code(), self._preparing.target)
        note = large.told([look for look in looks if not look.case.hidden])
        return self._target_result("passed", None).model_copy(update={"note": note})

    def time(self, case: TimedCase) -> CheckResult:
        """Times the function against the baseline, on a case of its own; every answer is checked.

        Raises InfrastructureError if the time cannot be taken.
        """
        assert self._launching is not None
        self.read()
        if self._failed or not self._plans:
            why = Detail(kind="exception", message="not measured: speed counts once every case is right")
            return self._speed_result(case, "not_run", why)
        try:
            one, slots = fitting(self.assignment, case, gpu.memory())
            found = self._time(self._launching, one, slots, time.monotonic() + SPEED_SECONDS)
        except (NoRoomError, torch.OutOfMemoryError) as error:
            raise InfrastructureError(str(error)) from None
        if isinstance(found, Timing):
            if one.name != case.name:
                found.notes.append(f"{case.name} does not fit into this device's memory: {one.name} instead.")
            return self._speed_result(case, "passed", None, found)
        if isinstance(found, execution.Lost):
            found = self._told(found)
        return self._speed_result(case, "failed", found if isinstance(found, Detail) else explain_timed(found))

    def _time(
        self, launching: Launching, case: Case, slots: int, until: float
    ) -> Timing | execution.Lost | Wrong | Detail:
        wanted = Wanted(case, self._draws.scalars(case))
        plan = tuned(
            self.assignment, self._plans.get(case.name) or self._preparing.plan([wanted]).outcomes[0], wanted,
            self._preparing, launching.executor, slots=slots, seconds=self._call_seconds, until=until)
        if not isinstance(plan, Plan):
            return plan if isinstance(plan, execution.Lost | Wrong) else self._told(plan)
        binaries = self._binaries(plan.kernels)
        if isinstance(binaries, Detail):
            return binaries
        return measure(
            self.assignment, case, plan, binaries, wanted.scalars, launching.alone(), lane_baselines(),
            self._threshold, slots=slots, seconds=self._call_seconds, until=until, quiet=self._quiet)

    def _binaries(self, kernels: list[Kernel]) -> list[Binary] | Detail:
        """Their machine code, in order, or why one of them has none."""
        found = self._preparing.binaries(kernels)
        if isinstance(found, Lost):
            return self._told(found, "Compiled for a GPU: ")
        for one in found:
            if isinstance(one, Problem):
                return self._failure("compile_error", one.message, one.line)
        return [one for one in found if isinstance(one, Binary)]

    def _inputs(self, case: Case, call: int, seed: bytes | None = None) -> list[Inputs]:
        """Contents of the calls up to this one."""
        return [self._draws.inputs(case, call, number, seed=seed) for number in range(call + 1)]

    def _foreseen(self, case: Case, call: int) -> Foreseen:
        return self._witness.foreseen(case, call, lambda call: self._inputs(case, call), self._compared)

    def _run(self, case: Case, plan: Plan, inputs: list[Inputs], call: int) -> Ran | Detail:
        """Runs the last of the plan's calls, on a GPU if there is one, or tells why it has no answer."""
        if self._launching is None:
            simulated = self._simulation.run(self.assignment, case, plan, inputs)
            if isinstance(simulated, Lost) and simulated.kind in ("crash", "protocol"):
                raise InfrastructureError(f"the simulator was lost: {simulated.message}")
            return simulated if isinstance(simulated, Ran) else self._told(simulated)
        binaries = self._binaries(plan.kernels)
        if isinstance(binaries, Detail):
            return binaries
        ran = self._launching.run(case, plan, binaries, inputs)
        if isinstance(ran, execution.Lost) and ran.kind == "time_limit":
            return self._told(ran)  # A simulator would take as long again.
        foreseen = self._foreseen(case, call)
        seen = foreseen.seen
        if isinstance(ran, Ran):
            # What a GPU forgives, such as a read past the end that no answer needs, is seen by a simulator alone.
            return ran if seen is None else replace(ran, findings=seen.findings, accesses=seen.accesses)
        # What the GPU did not finish is told by the line where a simulator sees it go wrong, and is never right.
        if seen is not None and (explain_findings(self.assignment, self._text, seen.findings) or not foreseen.right):
            return seen
        return self._told(ran)

    def _compared(self, ran: Ran, inputs: Inputs) -> Comparison:
        return compare(ran.output, *answer_and_tolerance(self.assignment, inputs), ran.unwritten)

    def _plan_of(self, case: Case) -> Plan | None:
        plan = self._plans.get(case.name)
        return plan if isinstance(plan, Plan) and case.needs == "any" else None

    @property
    def remarks(self) -> list[str]:
        """What costs no points and is worth knowing."""
        return [*explain_remarks(self._planning.skipped, self._findings), *self._shown]

    def close(self) -> None:
        """Ends what is left of it."""
        try:
            self._simulation.end()
        finally:
            if self._launching is not None:
                self._launching.end()

    def _source_failed(self, detail: Detail) -> CheckResult:
        return SOURCE.model_copy(update={"outcome": "failed", "detail": detail})

    def _target_result(self, outcome: Outcome, detail: Detail | None, *, hidden: bool = False) -> CheckResult:
        return TARGET.model_copy(update={"outcome": outcome, "detail": detail, "hidden": hidden})

    def _look(self) -> Seen | None:
        """Once, as `read`."""
        with self._looking:
            if not self._seen:
                self._seen = [look_at_timed(self.assignment, self._plans, self._simulation)]
            return self._seen[0]

    def _speed_result(
        self, case: Case, outcome: Outcome, detail: Detail | None, timing: Timing | None = None
    ) -> CheckResult:
        return speed_check(case).model_copy(update={"outcome": outcome, "detail": detail, "timing": timing})

    def _unanswered(self, case: Case, detail: Detail) -> CheckResult:
        return self._case_result(case, "not_run" if detail.kind == "needs_gpu" else "failed", detail)

    def _case_result(
        self, case: Case, outcome: Outcome, detail: Detail | None,
        seconds: float | None = None, worst_ratio: float | None = None,
    ) -> CheckResult:
        self._failed = self._failed or outcome == "failed"
        finite = worst_ratio if worst_ratio is not None and worst_ratio < float("inf") else None
        return case_check(case).model_copy(update={
            "outcome": outcome, "seconds": seconds, "worst_ratio": finite, "detail": detail})

    def _failure(self, kind: FailureKind, message: str, line: int = 0) -> Detail:
        text = line_text(self._text, line)
        return self._quote(explain_failure(self.assignment, kind, message, line=line, text=text), "", "")

    def _told(self, stop: Stop, where: str = "") -> Detail:
        """Why there is no answer; `where` comes before the message."""
        detail = explain_stop(self.assignment, self._text, stop)
        detail.message = where + detail.message
        printed = stop.output if isinstance(stop, Lost) else self._planning.printed
        return self._quote(detail, detail.traceback, printed)

    def _quote(self, detail: Detail, traceback: str, output: str) -> Detail:
        """Adds what the submission said: at length once, since the next case mostly says the same."""
        limit = FIRST_QUOTED if not self._quoted else QUOTED
        self._quoted = self._quoted or bool(traceback or output)
        detail.message = clean(detail.message, QUOTED)
        detail.traceback, detail.output = clean(traceback, limit), clean(output, limit)
        return detail
