"""Preparation of a task: plans, machine code and a simulator's views, made on first demand, by any thread, also ahead
of the task's turn."""

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
from grader.judging.answers.answers import Compared, compared
from grader.judging.answers.inputs import Draws
from grader.judging.evidence.compiled import look_at_compiled
from grader.judging.evidence.inspection import Seen, look_at_timed
from grader.judging.evidence.witness import Foreseen, Witness
from grader.judging.explain import explain_missing, explain_stop, explain_unreadable
from grader.judging.explain.stops import Stop
from grader.judging.plans.planning import Unplanned, Wanted
from grader.judging.plans.preparing import Preparing, kernels_of
from grader.judging.plans.residency import crowded, tight_kernels, waits
from grader.judging.running import device as gpu
from grader.judging.running.allowance import Allowance
from grader.judging.running.lane import Station
from grader.judging.running.simulation import Manner, Ran, Simulation
from grader.plan import compiled
from grader.plan.compiled import Binary
from grader.plan.device import TARGETS
from grader.plan.messages import Answers, Exhausted, Skipped, kernel_key
from grader.plan.plan import Launch, Plan
from grader.results.result import Detail
from grader.results.structure import Conditions
from grader.sandbox.forkserver.conversation import Lost

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
class Stopped:
    """The reason why there is no answer. `where` is put before the message."""

    stop: Stop
    where: str = ""


@dataclass(frozen=True)
class TaskPlans:
    """The plans of a task's calls by the names of their cases. If there are none, `trouble` says what is wrong with the
    file. `printed` is the file's output, `skipped` are the file's statements that were not run."""

    plans: Mapping[str, Plan | Unplanned] = field(default_factory=dict)
    trouble: Detail | None = None
    printed: str = ""
    skipped: Sequence[Skipped] = ()

    def explain(self, task: Task, stopped: Stopped) -> Detail:
        """Return the reason why there is no answer, with all output of the submission."""
        stop = stopped.stop
        detail = explain_stop(task.assignment, task.text, stop)
        printed = stop.output if isinstance(stop, Lost) else "" if isinstance(stop, compiled.Problem) else self.printed
        return detail.model_copy(update={"message": stopped.where + detail.message, "output": printed})


class Once(Generic[T]):
    """A value that is made on first demand; other threads wait meanwhile. An error of `make` is raised, and the next
    demand tries again."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: list[T] = []
        self._making = threading.Lock()

    def __call__(self) -> T:
        with self._making:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


class Prepared:
    """A task with everything that can be made before its turn. `ahead` makes all of it; `judge` waits for the parts
    that it needs.

    With and without a GPU the same calls are planned in the same order, and a simulator runs the cases that it can: its
    certain findings count on both. Confined processes are those of `station` (the lane's first by default); cases are
    simulated by those of `simulating` (by default `station`).
    """

    def __init__(self, task: Task, station: Station | None = None, simulating: Station | None = None) -> None:
        assignment, limits = task.assignment, task.course.limits
        on = gpu.properties() if task.on_gpu else TARGETS[task.course.gpu.target]
        allowance = Allowance(inf if task.on_gpu else limits.attempt_seconds)
        self.task, self.simulating = task, simulating
        self.draws = Draws(assignment, task.seed, cuda=task.on_gpu)
        self.preparing = Preparing(assignment, task.source.content or b"", limits, on, allowance, station)
        self.simulation = Simulation(
            self.preparing, seconds=limits.call_seconds, allowance=allowance, station=simulating)
        self.witness = Witness(assignment, task.text, self.simulation, self._plan_for_simulator)
        self.plan = Once(self._plan)
        """The plans of all calls, or the reason why the file cannot be read or imported, or its function not be
        called."""
        self.look = Once(self._look)
        """A simulator's view of the first timed case."""
        self.compiled = Once(self._compiled)
        """The name of the first case in which a kernel as compiled for a GPU goes wrong, and what is wrong; None if
        there is none."""
        self._stalls: dict[str, Exhausted | None] = {}
        self.fit = Once(self._fit)
        """The loss of the compiler that checks whether the plans' kernels fit the device; None if the compiler has
        answered."""

    def build(self) -> None:
        """Begin to build the file, if its language has a builder."""
        if self.task.source.content is not None:
            self.preparing.build()

    def ahead(self) -> None:
        """Make what the checks need later. Raises the errors that the checks would meet."""
        if self.plan().trouble is not None:
            return
        self.look()
        # All cases at once: while a GPU's answer is awaited, another process may replace the simulator.
        for case in self.task.assignment.cases_for("cpu") if self.task.on_gpu else ():
            foreseen = self.foreseen(case, 0)
            if foreseen.seen is None:
                break
            if not foreseen.right:
                return
        if all(isinstance(plan, Plan) for plan in self.plan().plans.values()):
            self.compiled()
            self.fit()

    def inputs(self, case: Case, call: int) -> list[Inputs]:
        """Return the inputs of a case's calls up to number `call`."""
        with gpu.turn():
            return [self.draws.inputs(case, call, number) for number in range(call + 1)]

    def compared(self, ran: Ran, inputs: Inputs) -> Compared:
        """Compare a call's answer with the oracle's."""
        with gpu.turn():
            return compared(self.task.assignment, ran, inputs)

    def code(self, plan: Plan) -> list[Binary] | Stopped:
        """Return the machine code of a plan's kernels, in their order. Raises InfrastructureError."""
        code = self.preparing.code(plan.kernels)
        if isinstance(code, list):
            return code
        return Stopped(code, "Compiled for a GPU: " if isinstance(code, Lost) else "")

    def foreseen(self, case: Case, call: int) -> Foreseen:
        """Return the simulator's view of a call that a GPU runs as well."""
        return self.witness.foreseen(case, call, lambda number: self.inputs(case, number), self.compared)

    def stalled(self, case: Case, plan: Plan) -> Exhausted | None:
        """Return the stall of a first call: its programs wait for others that the device cannot hold beside them, by
        their registers. None if there is no stall."""
        facts = self.preparing.facts(plan)
        if not waits(plan, self.preparing.device, facts):
            return None
        manner = Manner(registers={number: one.registers for number, one in facts.items()})
        ran = self.simulation.run(self.task.assignment, case, plan, self.inputs(case, 0), manner)
        return ran if isinstance(ran, Exhausted) and ran.what == "stalled" else None

    def stalled_when_large(self, plan: Plan) -> Exhausted | None:
        """Return the stall of a call that no simulator runs whole: its programs wait for each other, and the device
        does not hold all of them at a time. That they wait for more than some neighbours is seen in the small cases
        with a launch of the same kernel: all stall where half of the programs are held. None if there is no stall."""
        for launch, held in crowded(plan, self.preparing.device, self.preparing.facts(plan)):
            key = kernel_key(plan.kernels[launch.kernel])
            if (stalled := self._waiting(key)) is not None:
                return stalled.model_copy(update={"resident": held})
        return None

    def _waiting(self, key: str) -> Exhausted | None:
        """Return the stall of a kernel's launches of FEWEST_WAITING programs or more, of which half are held; None if
        one of them ends, or there is none."""
        if key not in self._stalls:
            self._stalls[key] = None
            for case in self.task.assignment.cases_for("cpu"):
                plan = self._plan_for_simulator(case)
                most = 0 if plan is None else max((prod(one.grid) for one in plan.first if isinstance(
                    one, Launch) and kernel_key(plan.kernels[one.kernel]) == key), default=0)
                if plan is None or most < FEWEST_WAITING:
                    continue
                manner = Manner(resident=most // 2)
                ran = self.simulation.run(self.task.assignment, case, plan, self.inputs(case, 0), manner)
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
        with gpu.turn():
            wanted = [Wanted(case, self.draws.scalars(case), Answers(candidate=number))
                      for number, case in enumerate(cases.values())]
        public, hidden = ([call for call in wanted if call.case.hidden == which] for which in (False, True))
        planning = self.preparing.plan(public)
        if planning.loading is not None:
            failed = TaskPlans(printed=planning.printed, skipped=planning.skipped)
            return TaskPlans(trouble=failed.explain(self.task, Stopped(planning.loading)), skipped=planning.skipped)
        # Hidden cases come later, in planners of their own: what host code learns of them goes into no public plan or
        # print.
        outcomes = planning.outcomes + (self.preparing.plan(hidden).outcomes if hidden else [])
        plans = dict(zip((call.case.name for call in public + hidden), outcomes, strict=True))
        if self.task.on_gpu:
            # All kernels at once, so that free cores compile them side by side.
            self.preparing.binaries(kernels_of(plans.values()))
        run = plans if self.task.on_gpu else {case.name for case in assignment.timed}
        # Configurations of autotuners that cannot be launched are passed over.
        for calls in (public, hidden):
            names = [call.case.name for call in calls]
            launchable = self.preparing.launchable(calls, [plans[name] for name in names], run)
            plans.update(zip(names, launchable, strict=True))
        return TaskPlans(plans, printed=planning.printed, skipped=planning.skipped)

    def _look(self) -> Seen | None:
        # With a budget of its own, which takes no time from the cases.
        seconds = self.task.course.limits.call_seconds
        simulation = self.simulation.under(Allowance(seconds), self.preparing.station)
        return look_at_timed(self.task.assignment, self.plan().plans, simulation)

    def _compiled(self) -> tuple[str, Detail] | None:
        return look_at_compiled(
            self.task.assignment, self.task.text, self.plan().plans, self.preparing,
            lambda case: self.inputs(case, 0), self.compared)

    def _fit(self) -> Lost | None:
        plans = [(name, plan) for name, plan in self.plan().plans.items() if isinstance(plan, Plan)]
        timed = {case.name for case in self.task.assignment.timed}
        return self.preparing.fit(
            [*kernels_of(plan for name, plan in plans if name in timed),
             *(kernel for _, plan in plans for kernel in tight_kernels(plan, self.preparing.device))],
            kernels_of(plan for _, plan in plans))

    def _plan_for_simulator(self, case: Case) -> Plan | None:
        plan = self.plan().plans.get(case.name)
        return plan if isinstance(plan, Plan) and case.needs == "any" else None


class Ahead:
    """Tasks that are prepared in the background: those of a station one after another."""

    def __init__(self, tasks: Sequence[Prepared]) -> None:
        self._under_way = [task.preparing.station.ahead.submit(self._prepare, task) for task in tasks]

    def _prepare(self, task: Prepared) -> None:
        # The check that needs the failed part meets the same failure, and reports it.
        with suppress(Exception):
            task.ahead()

    def wait(self) -> None:
        """Wait until all tasks are prepared."""
        wait(self._under_way)

    def drop(self) -> None:
        """Drop the tasks whose preparation has not begun."""
        for one in self._under_way:
            one.cancel()
