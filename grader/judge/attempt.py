"""One attempt at an assignment: read, plan, compile, then run, compare and explain each case, then time.

Host code of the submission runs in planners alone, and none of them is alive any more when the first kernel runs.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

import torch

from grader.assignment import Assignment, Case, Inputs, Scalar
from grader.catalogue import answer_and_tolerance
from grader.course import Course
from grader.forkserver.conversation import Conversation, Lost
from grader.judge import device as gpu
from grader.judge import execution
from grader.judge.compare import compare
from grader.judge.compilation import compile_kernels
from grader.judge.explain import explain_case, explain_failure, explain_remarks, explain_stop
from grader.judge.explain.lines import line_text
from grader.judge.explain.stops import Stop
from grader.judge.inputs import draw
from grader.judge.lane import lane_executors, lane_zygote
from grader.judge.launching import Launching
from grader.judge.planning import Planning, Unplanned, Wanted, plan_calls
from grader.judge.simulation import Ran, Simulation
from grader.plan import wire
from grader.plan.compiled import Binary, Problem
from grader.plan.device import TARGETS
from grader.plan.findings import Finding
from grader.plan.messages import Answers, Resources, kernel_key
from grader.plan.plan import Kernel, Plan
from grader.result import CheckResult, Detail, FailureKind, KernelFacts, Outcome
from grader.submission import Source
from grader.text import clean

SOURCE = "source"
TARGET = "target"
# Bytes of a text that a submission wrote: of the first that there are, and of those of further cases.
FIRST_QUOTED = 20_000
QUOTED = 2_000
# Host code that asks what its kernels take is planned again with the answer; an answer may lead to another question.
MOST_ROUNDS = 3
# Element operations of one simulated call: ten seconds and more.
OPERATIONS = 4_000_000_000
COMPILE_SECONDS = 60.0
# For all timed calls of a case.
SPEED_SECONDS = 600.0


def case_id(case: Case) -> str:
    return f"case-{case.name}"


def speed_id(case: Case) -> str:
    return f"speed-{case.name}"


def expected_checks(assignment: Assignment, device: str) -> tuple[str, ...]:
    """The ids of every check that must have passed for the assignment to be accepted, in the order they run."""
    return (SOURCE, *(case_id(case) for case in assignment.cases_for(device)), TARGET)


class Attempt:
    """Judges one assignment of one submission. Each method runs one check; `close` ends it.

    Cases that only a GPU runs, and those that are timed, are planned without one too: what a GPU would make of them is
    known before there is one. With one, cases that a simulator can run are planned for that as well: where an answer is
    wrong, it tells the line.
    """

    def __init__(self, assignment: Assignment, source: Source, course: Course, seed: bytes, device: str) -> None:
        self.assignment = assignment
        self.source = source
        self.kernels: list[KernelFacts] = []
        self._text = (source.content or b"").decode("utf-8", "replace")
        self._limits = course.limits
        self._gpu = device == "cuda"
        self._device = gpu.properties() if self._gpu else TARGETS[course.gpu.target]
        self._seed = seed
        self._call_seconds, assignment_seconds = course.limits.seconds(device)
        self._until = time.monotonic() + assignment_seconds
        self._simulation = Simulation(
            lambda: self._start("simulator"), operations=OPERATIONS, seconds=self._call_seconds)
        self._launching = Launching(lane_executors(), seconds=self._call_seconds) if self._gpu else None
        # A simulator wants Triton's checks in a kernel, a GPU does not; where nothing is run, either will do.
        simulated = assignment.cases_for("cpu") if self._gpu else assignment.cases
        launched = {case.name: case for case in (*(assignment.cases if self._gpu else ()), *assignment.timed)}
        self._wanted = [
            Wanted(case, self._scalars(case), debug, Answers(candidate=number))
            for cases, debug in ((simulated, True), (launched.values(), False)) for number, case in enumerate(cases)]
        self._planning = Planning()
        self._plans: dict[tuple[str, bool], Plan | Unplanned] = {}
        self._compiled: dict[str, Binary | Problem] = {}
        self._findings: list[Finding] = []
        self._quoted = False

    def read(self) -> CheckResult:
        """Plans every call: what the file is, whether it can be imported, and whether its function can be called."""
        if self.source.problem is not None:
            return self._source_failed(self._failure("unreadable_source", self.source.problem))
        if self.source.content is None:
            return self._source_failed(
                self._failure("missing_file", f"{self.assignment.file} is not in the submission"))
        self._planning = self._plan(self._wanted)
        if self._planning.loading is not None:
            return self._source_failed(self._told(self._planning.loading))
        self._plans = {
            (one.case.name, one.debug): outcome
            for one, outcome in zip(self._wanted, self._planning.outcomes, strict=True)}
        return CheckResult(id=SOURCE, stage="source", outcome="passed")

    def check(self, case: Case) -> CheckResult:
        """Runs the calls of a case on fresh inputs, and compares what they leave with the oracle's answer."""
        plan = self._plans.get((case.name, not self._gpu))
        if plan is None:
            return self._case_result(case, "not_run", Detail(kind="exception", message="not run: there is no plan"))
        if not isinstance(plan, Plan):
            return self._case_result(case, "failed", self._told(plan))
        seconds, worst = 0.0, 0.0
        for call in range(len(plan.calls())):
            inputs = [self._inputs(case, call, number) for number in range(call + 1)]
            ran = self._run(case, plan, inputs)
            if isinstance(ran, Detail):
                return self._case_result(case, "failed", ran)
            seconds += ran.seconds
            self._findings += ran.findings
            comparison = compare(ran.output, *answer_and_tolerance(self.assignment, inputs[-1]))
            detail = explain_case(
                self.assignment, case, inputs[-1], ran.output, comparison, inputs_changed=ran.changed,
                findings=ran.findings, plan=plan, call=call, source=self._text)
            if detail is None and ran.touched:
                detail = self._failure("out_of_bounds", f"a store lies outside of {' and '.join(ran.touched)}")
            if detail is not None:
                return self._case_result(
                    case, "failed", self._quote(detail, "", ran.printed), seconds, comparison.worst_ratio)
            worst = max(worst, comparison.worst_ratio)
        return self._case_result(case, "passed", None, seconds, worst)

    def compiles(self) -> CheckResult:
        """Looks whether a GPU could launch the cases that only a GPU runs, and compiles kernels of the timed ones."""
        if not self._plans:
            return self._target_result("not_run", Detail(kind="exception", message="not run: there is no plan"))
        here = {(case.name, not self._gpu) for case in self.assignment.cases_for("cuda" if self._gpu else "cpu")}
        unplanned = {key: plan for key, plan in self._plans.items() if not isinstance(plan, Plan)}
        if here & unplanned.keys():
            return self._target_result("not_run", Detail(kind="exception", message="not run: a case has no plan"))
        for (name, _), stop in unplanned.items():
            return self._target_result("failed", self._told(stop, f"At {name}: "))
        kernels = self._kernels(self.assignment.timed)
        lost = self._compile(kernels)
        if lost is not None:
            return self._target_result("failed", self._told(lost, "Compiled for a GPU: "))
        for key, kernel in kernels.items():
            one = self._compiled[key]
            if isinstance(one, Problem):
                return self._target_result("failed", self._failure("compile_error", one.message, one.line))
            self.kernels.append(KernelFacts(name=kernel.name, line=kernel.line, **one.facts.model_dump()))
        return self._target_result("passed", None)

    def _run(self, case: Case, plan: Plan, inputs: list[Inputs]) -> Ran | Detail:
        """Runs the last of the plan's calls, on a GPU if there is one, or tells why it has no answer."""
        if self._launching is None:
            simulated = self._simulation.run(self.assignment, case, plan, inputs)
            return simulated if isinstance(simulated, Ran) else self._told(simulated)
        kernels = {kernel_key(kernel): kernel for kernel in plan.kernels}
        lost = self._compile(kernels)
        if lost is not None:
            return self._told(lost, "Compiled for this GPU: ")
        binaries: dict[str, Binary] = {}
        for key in kernels:
            one = self._compiled[key]
            if isinstance(one, Problem):
                return self._failure("compile_error", one.message, one.line)
            binaries[key] = one
        ran = self._launching.run(self.assignment, case, plan, binaries, inputs)
        if isinstance(ran, Ran) and not ran.touched and compare(
            ran.output, *answer_and_tolerance(self.assignment, inputs[-1])
        ).passed:
            return ran
        seen = self._simulated(case, inputs)
        if isinstance(ran, Ran):
            return ran if seen is None else replace(ran, findings=seen.findings)
        if seen is not None and seen.findings:
            return seen
        return self._failure(*_fault(ran), line=ran.line)

    def _simulated(self, case: Case, inputs: list[Inputs]) -> Ran | None:
        """What a simulator sees of calls that failed on a GPU; None if it cannot tell."""
        plan = self._plans.get((case.name, True))
        if not isinstance(plan, Plan) or len(plan.calls()) < len(inputs):
            return None
        ran = self._simulation.run(
            self.assignment, case, plan, [
                {name: value.cpu() if isinstance(value, torch.Tensor) else value for name, value in one.items()}
                for one in inputs])
        return ran if isinstance(ran, Ran) else None

    @property
    def remarks(self) -> list[str]:
        """What costs no points and is worth knowing."""
        return explain_remarks(self._planning.skipped, self._findings)

    def close(self) -> None:
        """Ends what is left of it."""
        self._simulation.end()
        if self._launching is not None:
            self._launching.end()

    def _plan(self, wanted: list[Wanted]) -> Planning:
        assert self.source.content is not None

        def plans(calls: list[Wanted]) -> Planning:
            return plan_calls(
                lambda: self._start("planner"), self.assignment, self.source.content or b"", calls, self._device,
                call_seconds=self._call_seconds, until=self._until)

        found = plans(wanted)
        for _ in range(MOST_ROUNDS):
            asking = [number for number, one in enumerate(found.outcomes) if isinstance(one, Plan) and one.asked]
            asked = {kernel_key(plan.kernels[n]): plan.kernels[n] for number in asking
                     if isinstance(plan := found.outcomes[number], Plan) for n in plan.asked}
            if not asked:
                break
            if self._compile(asked) is not None:
                break
            told = {key: Resources(registers=one.facts.registers, spills=one.facts.spills, shared=one.facts.shared)
                    for key in asked if isinstance(one := self._compiled[key], Binary)}
            calls = [
                replace(wanted[n], answers=wanted[n].answers.model_copy(
                    update={"resources": {**wanted[n].answers.resources, **told}})) for n in asking]
            for number, call, outcome in zip(asking, calls, plans(calls).outcomes, strict=True):
                wanted[number], found.outcomes[number] = call, outcome
        return found

    def _kernels(self, cases: Iterable[Case]) -> dict[str, Kernel]:
        """Each kernel of these cases once, by its key."""
        plans = [self._plans[case.name, False] for case in cases]
        return {kernel_key(kernel): kernel for plan in plans if isinstance(plan, Plan) for kernel in plan.kernels}

    def _compile(self, kernels: Mapping[str, Kernel]) -> Lost | None:
        """Compiles those that are not compiled yet; how the compiler was lost."""
        missing = {key: kernel for key, kernel in kernels.items() if key not in self._compiled}
        if not missing:
            return None
        found = compile_kernels(
            lambda: self._start("compiler"), list(missing.values()), self._device.target, seconds=COMPILE_SECONDS)
        if isinstance(found, Lost):
            return found
        self._compiled.update(zip(missing, found, strict=True))
        return None

    def _start(self, role: wire.Role) -> Conversation:
        limits = self._limits
        return Conversation(lane_zygote(), role, wire.Limits(
            memory_mb=limits.memory_mb, file_mb=limits.file_mb, processes=limits.processes,
            cpu_seconds=int(2 * self._call_seconds + COMPILE_SECONDS) + 5))

    def _scalars(self, case: Case) -> dict[str, float]:
        """The numbers that every call of a case is given: host code sees them, so they are in its plan."""
        names = [p.name for p in self.assignment.parameters if isinstance(p, Scalar)]
        if not names:
            return {}
        # Of one element each: the tensors drawn beside them are not wanted, and large.
        drawn = self._draw(case.model_copy(update={"sizes": dict.fromkeys(case.sizes, 1)}), "scalars")
        return {name: drawn[name] for name in names}

    def _inputs(self, case: Case, *which: int) -> Inputs:
        """Fresh contents at every call, with the numbers that are in the plan."""
        return {**self._draw(case, *which), **self._scalars(case)}

    def _draw(self, case: Case, *which: object) -> Inputs:
        """The same for the same words, from a seed that no submission can know."""
        text = "/".join(map(str, (self.assignment.name, case.name, *which))).encode()
        digest = hashlib.blake2b(text, key=self._seed, digest_size=8).digest()
        return draw(self.assignment, case, int.from_bytes(digest, "big") >> 1, cuda=self._gpu)

    def _source_failed(self, detail: Detail) -> CheckResult:
        return CheckResult(id=SOURCE, stage="source", outcome="failed", detail=detail)

    def _target_result(self, outcome: Outcome, detail: Detail | None) -> CheckResult:
        return CheckResult(id=TARGET, stage="target", outcome=outcome, detail=detail)

    def _case_result(
        self, case: Case, outcome: Outcome, detail: Detail | None,
        seconds: float | None = None, worst_ratio: float | None = None,
    ) -> CheckResult:
        finite = worst_ratio if worst_ratio is not None and worst_ratio < float("inf") else None
        return CheckResult(
            id=case_id(case), stage="case", case=case.name, sizes=case.sizes, outcome=outcome,
            seconds=seconds, worst_ratio=finite, detail=detail)

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


def _fault(lost: execution.Lost) -> tuple[FailureKind, str]:
    """What a GPU's fault is called, and its words."""
    kinds: dict[str, FailureKind] = {
        "time_limit": "time_out", "out_of_memory": "out_of_memory", "illegal_address": "out_of_bounds",
        "crash": "crash"}
    return kinds.get(lost.kind, "exception"), lost.message
