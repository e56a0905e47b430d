"""Preparation of a task: plans, machine code and simulated calls, made on first demand, by any thread, also while an
earlier task is judged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf, prod
from typing import Generic, TypeVar

from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.course.course import Course
from grader.course.parameters import Inputs
from grader.course.submission import Source
from grader.judging.answers.answers import AnswerComparisons, compared
from grader.judging.answers.inputs import Draws
from grader.judging.evidence.compiled import check_compiled
from grader.judging.evidence.inspection import InspectedCall, inspect_timed
from grader.judging.evidence.simulated import SimulatedView, SimulatorEvidence
from grader.judging.explain import explain_missing, explain_stop, explain_unreadable
from grader.judging.explain.stops import Stop
from grader.judging.plans.planning import RequestedCall, Unplanned
from grader.judging.plans.residency import crowded_kernels, tight_kernels, waits
from grader.judging.plans.toolchain import Toolchain, kernels_of
from grader.judging.running import device as gpu
from grader.judging.running.fork_servers import LaneForkServer
from grader.judging.running.simulation import CallResult, Simulation
from grader.judging.running.time_budget import TimeBudget
from grader.plan import compiled
from grader.plan.compiled import Binary
from grader.plan.device import TARGETS
from grader.plan.messages import Answers, Exhausted, RunOptions, SkippedStatement, kernel_key
from grader.plan.plan import Launch, Plan
from grader.results.result import Detail
from grader.results.structure import Conditions
from grader.sandbox.forkserver.conversation import LostAnswer

FEWEST_WAITING = 4
"""The fewest programs of a launch that show whether they wait for more than a neighbour."""

T = TypeVar("T")


@dataclass(frozen=True)
class Task:
    """An assignment of a submission, in the language of its file, to be judged on `device`, "cpu" or "cuda". All inputs
    follow from `seed`."""

    assignment: Assignment
    source: Source
    course: Course
    seed: bytes
    device: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "assignment", self.assignment.written(self.source.file, self.text))

    def of(self, case: Case) -> Task:
        """Return the task with this case only, and without timed cases."""
        return replace(self, assignment=self.assignment.model_copy(update={"cases": (case,), "timed": ()}))

    @property
    def conditions(self) -> Conditions:
        """Return the conditions that the course has switched on."""
        return self.course.structure_of(self.assignment)

    @property
    def text(self) -> str:
        """Return the student's file."""
        return (self.source.content or b"").decode("utf-8", "replace")

    @property
    def on_gpu(self) -> bool:
        return self.device == "cuda"


@dataclass(frozen=True)
class NoAnswer:
    """The reason why there is no answer. `prefix` is put before the message."""

    stop: Stop
    prefix: str = ""


@dataclass(frozen=True)
class TaskPlans:
    """The plans of a task's calls by the names of their cases. If there are none, `trouble` says what is wrong with the
    file. `printed` is the file's output, `skipped` are the file's statements that were not run."""

    plans: Mapping[str, Plan | Unplanned] = field(default_factory=dict)
    trouble: Detail | None = None
    printed: str = ""
    skipped: Sequence[SkippedStatement] = ()

    def explain(self, task: Task, stopped: NoAnswer) -> Detail:
        """Return the reason why there is no answer, with all output of the submission."""
        stop = stopped.stop
        detail = explain_stop(task.assignment, task.text, stop)
        printed = "" if isinstance(stop, compiled.Problem) else self.printed
        printed = stop.output if isinstance(stop, LostAnswer) else printed
        return detail.model_copy(update={"message": stopped.prefix + detail.message, "output": printed})


class LazyValue(Generic[T]):
    """A value that the first call makes, while other threads wait. An error of `make` is raised, and the next call
    tries again."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: list[T] = []
        self._making = threading.Lock()

    def __call__(self) -> T:
        with self._making:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


class PreparedTask:
    """A task with everything that can be made before it is judged. `prefetch` makes all of it; `judge` waits for the
    parts that it needs.

    With and without a GPU the same calls are planned in the same order, and a simulator runs the cases that it can: its
    certain findings count on both. Confined processes are those of `fork_server` (the lane's first by default); cases
    are simulated by those of `simulating` (by default `fork_server`).
    """

    def __init__(
        self, task: Task, fork_server: LaneForkServer | None = None, simulating: LaneForkServer | None = None
    ) -> None:
        assignment, limits = task.assignment, task.course.limits
        on = gpu.properties() if task.on_gpu else TARGETS[task.course.gpu.target]
        budget = TimeBudget(inf if task.on_gpu else limits.attempt_seconds)
        self.task, self.simulating = task, simulating
        self.draws = Draws(assignment, task.seed, cuda=task.on_gpu)
        self.toolchain = Toolchain(assignment, task.source.content or b"", limits, on, budget, fork_server)
        self.simulation = Simulation(
            self.toolchain, seconds=limits.call_seconds, budget=budget, fork_server=simulating)
        self.evidence = SimulatorEvidence(assignment, task.text, self.simulation, self._plan_for_simulator)
        self.plan = LazyValue(self._plan)
        """The plans of all calls, or the reason why the file cannot be read or imported, or its function not be
        called."""
        self.inspected = LazyValue(self._inspect)
        """The first timed case in a simulator."""
        self.compiled = LazyValue(self._compiled)
        """The name of the first case in which a kernel as compiled for a GPU goes wrong, and what is wrong; None if
        there is none."""
        self._stalls: dict[str, Exhausted | None] = {}
        self.fit = LazyValue(self._fit)
        """The failure of the compiler that checks whether the plans' kernels fit the device; None if the compiler has
        answered."""

    def build(self) -> None:
        """Begin to build the file, if its language has a builder."""
        if self.task.source.content is not None:
            self.toolchain.build()

    def prefetch(self) -> None:
        """Make what the checks need later. Raises the errors that the checks would meet."""
        if self.plan().trouble is not None:
            return
        self.inspected()
        # All cases at once: while a GPU's answer is awaited, another process may replace the simulator.
        for case in self.task.assignment.cases_for("cpu") if self.task.on_gpu else ():
            simulated_view = self.simulated_view(case, 0)
            if simulated_view.result is None:
                break
            if not simulated_view.right:
                return
        if all(isinstance(plan, Plan) for plan in self.plan().plans.values()):
            self.compiled()
            self.fit()

    def inputs(self, case: Case, call: int) -> list[Inputs]:
        """Return the inputs of a case's calls up to number `call`."""
        with gpu.working():
            return [self.draws.inputs(case, call, number) for number in range(call + 1)]

    def compared(self, result: CallResult, inputs: Inputs) -> AnswerComparisons:
        """Compare a call's answer with the oracle's."""
        with gpu.working():
            return compared(self.task.assignment, result, inputs)

    def code(self, plan: Plan) -> list[Binary] | NoAnswer:
        """Return the machine code of a plan's kernels, in their order. Raises InfrastructureError."""
        code = self.toolchain.code(plan.kernels)
        if isinstance(code, list):
            return code
        return NoAnswer(code, "Compiled for a GPU: " if isinstance(code, LostAnswer) else "")

    def simulated_view(self, case: Case, call: int) -> SimulatedView:
        """Return a call that a GPU runs as well, as a simulator sees it."""
        return self.evidence.simulated_view(case, call, lambda number: self.inputs(case, number), self.compared)

    def stalled(self, case: Case, plan: Plan) -> Exhausted | None:
        """Return the stall of a first call: its programs wait for others that the device cannot hold beside them. None
        if there is no stall."""
        if case not in self.task.assignment.cases_for("cpu"):
            return self._stalled_when_large(plan)
        facts = self.toolchain.facts(plan)
        if not waits(plan, self.toolchain.device, facts):
            return None
        options = RunOptions(registers={number: fact.registers for number, fact in facts.items()})
        ran = self.simulation.run(self.task.assignment, case, plan, self.inputs(case, 0), options)
        return ran if isinstance(ran, Exhausted) and ran.what == "stalled" else None

    def _stalled_when_large(self, plan: Plan) -> Exhausted | None:
        """Return the stall of a call that no simulator runs whole: its programs wait for each other, and the device
        does not hold all of them at a time. The small cases with a launch of the same kernel show that programs wait
        for more than some neighbours: all these cases stall if half of the programs are held. None if there is no
        stall."""
        for number, held in crowded_kernels(plan, self.toolchain.device, self.toolchain.facts(plan)).items():
            if (stalled := self._waiting(kernel_key(plan.kernels[number]))) is not None:
                return stalled.model_copy(update={"resident": held})
        return None

    def _waiting(self, key: str) -> Exhausted | None:
        """Return the stall of a kernel's launches of FEWEST_WAITING programs or more, of which half are held; None if
        one of them ends, or there is none."""
        if key not in self._stalls:
            self._stalls[key] = None
            for case in self.task.assignment.cases_for("cpu"):
                plan = self._plan_for_simulator(case)
                if plan is None:
                    continue
                same = {number for number, kernel in enumerate(plan.kernels) if kernel_key(kernel) == key}
                most = max((prod(launch.grid) for launch in plan.first
                            if isinstance(launch, Launch) and launch.kernel in same), default=0)
                if most < FEWEST_WAITING:
                    continue
                options = RunOptions(resident=most // 2)
                ran = self.simulation.run(self.task.assignment, case, plan, self.inputs(case, 0), options)
                self._stalls[key] = ran if isinstance(ran, Exhausted) and ran.what == "stalled" else None
                if self._stalls[key] is None:
                    break
        return self._stalls[key]

    def _plan(self) -> TaskPlans:
        assignment, source = self.task.assignment, self.task.source
        if source.problem is not None:
            return TaskPlans(trouble=explain_unreadable(assignment, source.problem))
        if source.content is None:
            return TaskPlans(trouble=explain_missing(assignment, source.elsewhere))
        cases = {case.name: case for case in (*assignment.cases, *assignment.timed)}
        with gpu.working():
            wanted = [RequestedCall(case, self.draws.scalars(case), Answers(candidate=number))
                      for number, case in enumerate(cases.values())]
        public, hidden = ([call for call in wanted if call.case.hidden == which] for which in (False, True))
        planning = self.toolchain.plan(public)
        if planning.loading is not None:
            failed = TaskPlans(printed=planning.printed, skipped=planning.skipped)
            return TaskPlans(trouble=failed.explain(self.task, NoAnswer(planning.loading)), skipped=planning.skipped)
        # Hidden cases come later, in planners of their own: what host code learns of them goes into no public plan or
        # print.
        outcomes = planning.outcomes + (self.toolchain.plan(hidden).outcomes if hidden else [])
        plans = dict(zip((call.case.name for call in public + hidden), outcomes, strict=True))
        if self.task.on_gpu:
            # All kernels at once, so that free cores compile them side by side.
            self.toolchain.binaries(kernels_of(plans.values()))
        run = plans if self.task.on_gpu else {case.name for case in assignment.timed}
        # Configurations of autotuners that cannot be launched are passed over.
        for calls in (public, hidden):
            names = [call.case.name for call in calls]
            launchable = self.toolchain.launchable(calls, [plans[name] for name in names], run)
            plans.update(zip(names, launchable, strict=True))
        return TaskPlans(plans, printed=planning.printed, skipped=planning.skipped)

    def _inspect(self) -> InspectedCall | None:
        # With a budget of its own, which takes no time from the cases.
        seconds = self.task.course.limits.call_seconds
        simulation = self.simulation.under(TimeBudget(seconds), self.toolchain.fork_server)
        return inspect_timed(self.task.assignment, self.plan().plans, simulation)

    def _compiled(self) -> tuple[str, Detail] | None:
        return check_compiled(
            self.task.assignment, self.task.text, self.plan().plans, self.toolchain,
            lambda case: self.inputs(case, 0), self.compared)

    def _fit(self) -> LostAnswer | None:
        plans = [(name, plan) for name, plan in self.plan().plans.items() if isinstance(plan, Plan)]
        timed = {case.name for case in self.task.assignment.timed}
        return self.toolchain.fit(
            [*kernels_of(plan for name, plan in plans if name in timed),
             *(kernel for _, plan in plans for kernel in tight_kernels(plan, self.toolchain.device))],
            kernels_of(plan for _, plan in plans))

    def _plan_for_simulator(self, case: Case) -> Plan | None:
        plan = self.plan().plans.get(case.name)
        return plan if isinstance(plan, Plan) and case.needs == "any" else None


class Prefetch:
    """Tasks that are prepared in the background, one after another for each fork server."""

    def __init__(self, tasks: Sequence[PreparedTask]) -> None:
        self._under_way = [task.toolchain.fork_server.background.submit(self._prepare, task) for task in tasks]

    def _prepare(self, task: PreparedTask) -> None:
        # The check that needs the failed part meets the same failure, and reports it.
        with suppress(Exception):
            task.prefetch()

    def wait(self) -> None:
        """Wait until all tasks are prepared."""
        wait(self._under_way)

    def drop(self) -> None:
        """Drop the tasks whose preparation has not begun."""
        for future in self._under_way:
            future.cancel()
