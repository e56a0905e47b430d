"""Plans of a submission's calls and machine code of their kernels, made before anything runs."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from math import inf

from grader.course.assignment import Assignment
from grader.course.course import LimitsTable
from grader.course.parameters import Scalar
from grader.errors import InfrastructureError
from grader.judging.plans.compilation import canonical_texts, compile_kernels
from grader.judging.plans.planning import Planning, RequestedCall, Unplanned, given_of, plan_calls
from grader.judging.running.fork_servers import LaneForkServer
from grader.judging.running.lane import LANE
from grader.judging.running.time_budget import NOT_COMPILED, TimeBudget
from grader.plan import language_folders, wire
from grader.plan.compiled import Binary, Facts, Fits, Problem
from grader.plan.device import Device
from grader.plan.messages import Build, Failed, Resources, Texts, kernel_key
from grader.plan.plan import MOST_KERNELS, Kernel, Plan
from grader.sandbox.forkserver import clock
from grader.sandbox.forkserver.conversation import Conversation, LostAnswer

# Most configurations of an autotuner that are tried.
MOST_CANDIDATES = 64
# Reasons for which a language's own autotuner skips a configuration, too.
SKIP_REASONS = ("shared_memory", "assembler")
# Most times that a call is planned again because host code queries its kernels' resources: an answer may lead to
# another query.
MOST_ROUNDS = 3
# Seconds to compile one request, which has at most a plan's kernels; an attempt with a budget has these seconds for all
# of its requests. An honest kernel, with a tile of 4 rows of 32768 elements, takes 30 alone.
COMPILE_SECONDS = 120.0
# Seconds to compile the kernels of a few small cases once more, for an older target.
LOWER_SECONDS = 20.0
# Seconds to parse and print the kernels of plans. It takes milliseconds, unless the machine is busy or a text is
# hostile.
CANONICAL_SECONDS = 30.0


class Toolchain:
    """Planner and compiler of one attempt. Each call runs confined processes, and ends them before it returns.

    `device` is the GPU that the submission sees, `budget` is the budget of the attempt (no bound by default).
    Compiling for `device` has a budget of its own, so that it takes no time from a right kernel's cases. `fork_server`
    forks the processes (the lane's first by default).
    """

    def __init__(
        self, assignment: Assignment, source: bytes, limits: LimitsTable, device: Device,
        budget: TimeBudget | None = None, fork_server: LaneForkServer | None = None,
    ) -> None:
        self._assignment = assignment
        self._language = assignment.front_end.name
        self._builder = f"{self._language}/builder"
        self._built: Future[bytes | Failed | LostAnswer] | None = None
        self._source = source
        self._limits = limits
        self.device = device
        self.fork_server = LANE.fork_server if fork_server is None else fork_server
        self._budget = TimeBudget(inf) if budget is None else budget
        self._planning = TimeBudget(limits.assignment_seconds)
        self._compiling = TimeBudget(COMPILE_SECONDS if self._budget.left < inf else inf)
        self._compiled: dict[str, Binary | Problem] = {}
        self._fitting: dict[str, Fits] = {}
        self._canonical: dict[str, str] = {}
        self._lost: LostAnswer | None = None

    @property
    def builds(self) -> bool:
        """Return whether the file's language has a builder."""
        return self._builder in language_folders.parts("builder")

    def build(self) -> None:
        """Begin to build the file, if its language has a builder."""
        if self._built is None and self.builds:
            self._built = self._submit(self._source)

    def build_together(self, texts: Sequence[str]) -> Future[bytes | Failed | LostAnswer]:
        """Begin to build edited copies of the file, and return the future of their build. A single
        copy is built like the file, so that its build is cached for a proof."""
        if len(texts) == 1:
            return self._submit(texts[0].encode())
        return self._submit(Texts(texts=list(texts)).model_dump_json().encode(), edited=True)

    def _submit(self, source: bytes, *, edited: bool = False) -> Future[bytes | Failed | LostAnswer]:
        # A builder needs only the types of a call's parameters, so their values do not matter.
        numbers = {parameter.name: 0.0 for parameter in self._assignment.parameters if isinstance(parameter, Scalar)}
        call = RequestedCall(self._assignment.cases[0], numbers)
        request = Build(seq=0, file=self._assignment.file, function=self._assignment.function, device=self.device,
                        given=given_of(self._assignment, call), edited=edited)
        return LANE.builders.submit(self._builder, request, source, self._bounds(), self._budget)

    def built(self) -> bytes | Failed | LostAnswer:
        """Return the build of the file, or the reason why there is none. Raises InfrastructureError."""
        self.build()
        assert self._built is not None
        try:
            return self._built.result()
        except InfrastructureError:
            # The next check tries again.
            self._built = None
            raise

    @property
    def target(self) -> str:
        """Return the device for which kernels are compiled."""
        return self.device.target

    def plan(self, wanted: Sequence[RequestedCall]) -> Planning:
        """Plan calls. If host code queries its kernels' resources, the kernels are compiled, and the call is planned
        again with the answer."""
        calls = list(wanted)
        planning = self._plan(calls)
        for _ in range(MOST_ROUNDS):
            querying = {number: kernels for number, kernels in enumerate(planning.queried) if kernels}
            queried = {kernel_key(kernel): kernel for kernels in querying.values() for kernel in kernels.values()}
            if not queried or self._compile(queried) is not None:
                break
            for number, kernels in querying.items():
                resources = {key: known for key, kernel in kernels.items()
                        if (known := _resources(self._compiled[kernel_key(kernel)])) is not None}
                answers = calls[number].answers
                calls[number] = replace(
                    calls[number], answers=answers.model_copy(update={"resources": {**answers.resources, **resources}}))
            again = self._plan([calls[number] for number in querying])
            for number, outcome, kernels in zip(querying, again.outcomes, again.queried, strict=True):
                planning.outcomes[number], planning.queried[number] = outcome, kernels
        return planning

    def launchable(
        self, wanted: Sequence[RequestedCall], outcomes: Sequence[Plan | Unplanned], run: Container[str]
    ) -> list[Plan | Unplanned]:
        """Return the outcomes of calls. If the device cannot start an autotuner's configuration, the next configuration
        that it can start replaces it; without one, the outcome stays. A device runs the cases that `run` names, so
        their kernels are compiled."""
        plans = list(outcomes)
        for step in range(1, MOST_CANDIDATES + 1):
            tuned = {number: plan for number, plan in enumerate(plans) if isinstance(plan, Plan) and plan.tuners}
            compiled = [number for number in tuned if wanted[number].case.name in run]
            if self.fit(kernels_of(tuned[number] for number in compiled), kernels_of(tuned.values())) is not None:
                return list(outcomes)
            skipped = [number for number, plan in tuned.items()
                    if self._has_skipped_configuration(plan) and step < max(tuner.candidates for tuner in plan.tuners)]
            if not skipped:
                break
            calls = []
            for number in skipped:
                answers = wanted[number].answers
                calls.append(replace(wanted[number], answers=answers.model_copy(
                    update={"candidate": answers.candidate + step})))
            for number, plan in zip(skipped, self.plan(calls).outcomes, strict=True):
                plans[number] = plan
        return [first if self._has_skipped_configuration(plan) else plan
                for first, plan in zip(outcomes, plans, strict=True)]

    def fit(self, timed: Iterable[Kernel], others: Iterable[Kernel]) -> LostAnswer | None:
        """Compile the kernels that are timed and check whether the others fit the device, in one request. `binaries`
        and `misfit` give the outcomes."""
        return self._compile(
            {kernel_key(kernel): kernel for kernel in timed}, {kernel_key(kernel): kernel for kernel in others})

    def misfit(self, kernel: Kernel) -> Problem | None:
        """Return the reason why a kernel did not compile for the device, after `fit` or `binaries`; None if none is
        known."""
        binary = self._compiled.get(kernel_key(kernel))
        return binary if isinstance(binary, Problem) else None

    def facts(self, plan: Plan) -> dict[int, Facts]:
        """Return facts about the machine code of a plan's kernels, by the kernels' numbers; kernels that were not
        compiled are left out."""
        binaries = {number: self._compiled.get(kernel_key(kernel)) for number, kernel in enumerate(plan.kernels)}
        return {number: binary.facts for number, binary in binaries.items() if isinstance(binary, Binary)}

    def binaries(self, kernels: Sequence[Kernel]) -> list[Binary | Problem] | LostAnswer:
        """Return machine code of kernels, in order; each is compiled once. If the compiler was lost, returns the loss;
        no further request is sent to it."""
        keys = [kernel_key(kernel) for kernel in kernels]
        lost = self._compile(dict(zip(keys, kernels, strict=True)))
        return [self._compiled[key] for key in keys] if lost is None else lost

    def code(self, kernels: Sequence[Kernel]) -> list[Binary] | Problem | LostAnswer:
        """Return machine code of kernels, in order, or the reason why one of them has none."""
        binaries = self.binaries(kernels)
        if isinstance(binaries, LostAnswer):
            return binaries
        sound = [binary for binary in binaries if isinstance(binary, Binary)]
        return sound if len(sound) == len(binaries) else next(
            problem for problem in binaries if isinstance(problem, Problem))

    def lowered(self, kernels: Mapping[str, Kernel], target: str) -> dict[str, Binary]:
        """Return machine code for a target, with the assembler's text; kernels that have none are left out."""
        if not kernels:
            return {}
        if target == self.target:
            own = self.binaries([*kernels.values()])
            return {} if isinstance(own, LostAnswer) else {
                key: binary for key, binary in zip(kernels, own, strict=True) if isinstance(binary,
                                                                                            Binary) and binary.ptx}
        with self.fork_server.lock, self._budget.spend(LOWER_SECONDS) as seconds:
            outcomes = compile_kernels(
                lambda: self.start("compiler"), [*kernels.values()], target, seconds=seconds, ptx=True)
        compiled = outcomes if isinstance(outcomes, list) else []
        return {key: binary for key, binary in zip(kernels, compiled, strict=False)
                if isinstance(binary, Binary) and binary.ptx}

    def start(self, part: wire.Part, language: str = "", fork_server: LaneForkServer | None = None) -> Conversation:
        """Fork a confined process of the file's language, or of another `language`, with the course's limits, at
        `fork_server` (its own by default). Raises InfrastructureError."""
        return (fork_server or self.fork_server).fork(f"{language or self._language}/{part}", self._bounds())

    def _bounds(self) -> wire.Limits:
        limits = self._limits
        return wire.Limits(
            memory_mb=limits.memory_mb, file_mb=limits.file_mb, processes=limits.processes,
            cpu_seconds=int(limits.assignment_seconds + COMPILE_SECONDS))

    def _plan(self, wanted: Sequence[RequestedCall]) -> Planning:
        if missing := self._assignment.front_end.problem():
            # Missing tools are reported before a grading begins; on another machine they may be gone.
            raise InfrastructureError(f"{self._assignment.file} cannot be judged here: {missing}")
        contents = [self._source]
        if self.builds:
            built = self.built()
            if not isinstance(built, bytes):
                return Planning(outcomes=[built for _ in wanted], queried=[{} for _ in wanted], loading=built)
            contents.append(built)
        with self.fork_server.lock, self._planning.spend(inf) as planning, self._budget.spend(planning) as seconds:
            return plan_calls(
                lambda: self.start("planner"), self._assignment, contents, wanted, self.device, self._canonical_texts,
                call_seconds=self._limits.call_seconds, until=clock.now() + seconds)

    def _canonical_texts(self, texts: Sequence[str]) -> list[str] | LostAnswer:
        """Return kernels' texts in canonical form; each text is sent to a compiler once."""
        missing = [text for text in texts if text not in self._canonical]
        if missing:
            canonical = canonical_texts(
                lambda: self.start("compiler"), missing, self.device.target, seconds=CANONICAL_SECONDS)
            if isinstance(canonical, LostAnswer):
                return LostAnswer("protocol",
                                  f"its plan does not hold: its kernels cannot be read ({canonical.message})")
            self._canonical.update(zip(missing, canonical, strict=True))
        return [self._canonical[text] for text in texts]

    def _compile(self, kernels: Mapping[str, Kernel], fitting: Mapping[str, Kernel] | None = None) -> LostAnswer | None:
        """Compile kernels, and check whether others fit the device. Each kernel is sent to a compiler once."""
        missing = [(key, kernel, True) for key, kernel in kernels.items() if key not in self._compiled]
        missing += [(key, kernel, False) for key, kernel in (fitting or {}).items()
                    if key not in self._fitting and key not in self._compiled and key not in kernels]
        for first in range(0, len(missing), MOST_KERNELS):
            if self._lost is not None:
                return self._lost
            some = missing[first : first + MOST_KERNELS]
            with self.fork_server.lock, self._compiling.spend(COMPILE_SECONDS) as seconds:
                outcomes = compile_kernels(
                    lambda: self.start("compiler"), [kernel for _, kernel, code in some if code], self.device.target,
                    fitting=[kernel for _, kernel, code in some if not code], seconds=seconds,
                    ptx=bool(self._assignment.front_end.lowers_to))
            if isinstance(outcomes, LostAnswer):
                self._lost = NOT_COMPILED if self._compiling.left <= 0 else outcomes
                return self._lost
            if any(isinstance(outcome, Problem) and outcome.why == "out_of_time" for outcome in outcomes):
                self._lost = NOT_COMPILED
                return self._lost
            for (key, _, _), outcome in zip(some, outcomes, strict=True):
                if isinstance(outcome, Fits):
                    self._fitting[key] = outcome
                else:
                    self._compiled[key] = outcome
        return None

    def _has_skipped_configuration(self, plan: Plan | Unplanned) -> bool:
        """Return whether a plan uses an autotuner's configuration that the device cannot start."""
        return isinstance(plan, Plan) and bool(plan.tuners) and any(
            problem.why in SKIP_REASONS for kernel in plan.kernels if (problem := self.misfit(kernel)) is not None)


def _resources(compiled: Binary | Problem) -> Resources | None:
    """Return the resources of a kernel as host code sees them, even if they are more than the device has."""
    if isinstance(compiled, Binary):
        facts = compiled.facts
        return Resources(registers=facts.registers, spills=facts.spills, shared=facts.shared)
    # A kernel that was not assembled counts as one with the most registers of a thread.
    return Resources(registers=255, spills=0, shared=compiled.shared) if compiled.shared else None


def kernels_of(outcomes: Iterable[Plan | Unplanned]) -> list[Kernel]:
    """Return the kernels of all outcomes that are plans."""
    return [kernel for plan in outcomes if isinstance(plan, Plan) for kernel in plan.kernels]
