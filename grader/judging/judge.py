"""The judge: one task of one submission, from its file to its checks. This is the timeline."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from grader import languages
from grader.course.cases import Case
from grader.judging.case import judge_case
from grader.judging.checks import CheckOutcome, not_run, our_failure, quotes, shorten, with_outcome
from grader.judging.evidence.inspection import with_warps
from grader.judging.evidence.structure import structure_facts
from grader.judging.explain import explain_condition, explain_remarks, explain_slips, explain_timed
from grader.judging.plans.planning import Unplanned
from grader.judging.prepared import NoAnswer, PreparedTask, TaskPlans
from grader.judging.running.machine import GpuMachine, SimulatedMachine
from grader.judging.speed.pool import ReplayFault
from grader.judging.speed.speed import time_case
from grader.judging.target import Target, check_target
from grader.plan.findings import Finding, UndefinedBehaviour
from grader.plan.plan import Integer, Launch, Plan
from grader.results.launched import Inspection
from grader.results.result import CheckResult, Timing
from grader.results.structure import CaseFacts, ConditionResult


@dataclass(frozen=True)
class Extras:
    """Results of a task beside its checks: facts about its kernels, and remarks that cost no points. `flagged` are the
    remarks that a person has to read before a right answer counts, `conditions` those of the course, if they were
    decided."""

    inspection: Inspection | None = None
    remarks: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    conditions: tuple[ConditionResult, ...] = ()


def judge(prepared: PreparedTask, checks: Sequence[CheckResult]) -> Generator[CheckOutcome, None, Extras]:
    """Judge a task: yield the outcome of each of `checks`, in their order, as soon as it is known.

    The order is that of `expected_checks`, `structure_checks` and `speed_checks`. Each check ends as passed, failed or
    not run:

    1. source: planners run the file, one for all calls but those of hidden cases or with an earlier call, and its plans
       are checked as if they were forged. All planners have ended before the first kernel runs.
    2. case: each call runs on fresh inputs and a poisoned output, in a simulator or on a GPU. Its answer is compared
       with the oracle's, and a difference is explained by what was seen.
    3. target: whether a GPU can launch every kernel, once every case is right.
    4. structure: each condition of the course on how the kernels work.
    5. speed: each timed case against the baseline, on a GPU only.

    `checks` may be a part of these: each check does what it needs. An error inside a check is a failure of ours, and
    the next check goes on.
    """
    timeline, quoted = _Timeline(prepared), False
    with closing(timeline.machine):
        for check in checks:
            error = None
            try:
                result = timeline.stage(check)
            except (KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as caught:
                result, error = our_failure(check, f"{type(caught).__name__}: {caught}"), caught
            result, quoted = shorten(result, quoted=quoted), quoted or quotes(result)
            yield CheckOutcome(result, error)
    return timeline.extras()


class _Timeline:
    """The stages of a task, and the results that each leaves for the later ones."""

    def __init__(self, prepared: PreparedTask) -> None:
        self.machine = (GpuMachine if prepared.task.on_gpu else SimulatedMachine)(prepared)
        self._prepared, self._task = prepared, prepared.task
        self._planned = TaskPlans()
        self._findings: list[Finding] = []
        self._target = Target()
        # A case failed; a case ran out of time, and one wrong case costs all points.
        self._failed = self._endless = False
        self._conditions: list[ConditionResult] = []
        # The cases that came out right, with their seconds.
        self._right: list[tuple[Case, float]] = []

    def stage(self, check: CheckResult) -> CheckResult:
        """Return the outcome of a check. Any exception is a failure of ours."""
        self._planned = self._prepared.plan()
        stages = {"source": self.source, "case": self.case, "target": self.target, "structure": self.structure,
                  "speed": self.speed}
        return stages[check.stage](check)

    def source(self, check: CheckResult) -> CheckResult:
        return with_outcome(check, self._planned.trouble)

    def case(self, check: CheckResult) -> CheckResult:
        if not self._planned.plans:
            return not_run(check, "not run: there is no plan")
        plan = self._planned.plans[check.case]
        if isinstance(plan, Unplanned):
            result = with_outcome(check, self._planned.explain(self._task, NoAnswer(plan)))
        elif self._endless:
            return not_run(check, "not run: an earlier case had run out of time")
        else:
            case = next(case for case in self._task.assignment.cases if case.name == check.case)
            result, findings = judge_case(self._prepared, self._planned, self.machine, check, case, plan, self._right)
            if result.detail is not None:
                result = result.model_copy(update={"blocks": _blocks(plan), "told": _sizes_given(plan, case)})
            self._findings += [] if check.hidden else findings
            # If one wrong case costs all points, further endless cases show nothing new.
            strict = self._task.course.points.credit == "all"
            self._endless = strict and result.detail is not None and result.detail.kind == "time_out"
            if result.outcome == "passed":
                self._right.append((case, result.seconds or 0.0))
        self._failed = self._failed or result.outcome == "failed"
        return result

    def target(self, check: CheckResult) -> CheckResult:
        if self._failed:
            return not_run(check, "not run: an earlier case has failed")
        if not self._planned.plans:
            return not_run(check, "not run: there is no plan")
        self._target = check_target(self._prepared, self._planned)
        return with_outcome(check, self._target.detail).model_copy(
            update={"hidden": self._target.hidden, "note": self._target.sampled})

    def structure(self, check: CheckResult) -> CheckResult:
        if not self._planned.plans:
            return not_run(check, "not run: there is no plan")
        if self._failed:
            return not_run(check, "not run: conditions count once every case is right")
        if self._target.detail is not None:
            return not_run(check, "not run: conditions count once a GPU can launch every kernel")
        if not self._conditions:
            facts = structure_facts(self._prepared)
            self._conditions = self._task.conditions.decided(facts)
            if self._target.inspection is not None and isinstance(facts[0], CaseFacts):
                self._target = replace(self._target, inspection=with_warps(
                    self._target.inspection, facts[0].launched.launches))
        result = next(condition for condition in self._conditions if check.id == f"structure-{condition.name}")
        if result.met is None:
            return not_run(check, result.said)
        return with_outcome(check, explain_condition(self._task.assignment, self._task.text, result))

    def speed(self, check: CheckResult) -> CheckResult:
        if self._failed or not self._planned.plans:
            return not_run(check, "not measured: speed counts once every case is right")
        case = next(case for case in self._task.assignment.timed if case.name == check.case)
        timing = time_case(self._prepared, self._planned, case, self.machine)
        if isinstance(timing, Timing):
            return with_outcome(check, None, timing=timing)
        task = self._task
        if isinstance(timing, ReplayFault):
            return with_outcome(check, explain_timed(task.assignment, task.text, timing))
        return with_outcome(check, self._planned.explain(task, timing))

    def extras(self) -> Extras:
        remarks = explain_remarks(self._task.assignment, self._planned.skipped, self._findings, self._task.text)
        if self._right and not self._failed:
            remarks += explain_slips(self._task.assignment, self._task.text)
        # A kernel with such a finding is wrong in its first call on a GPU, though in no call that is made here.
        tuned = [finding for finding in self._findings
                 if isinstance(finding, UndefinedBehaviour) and finding.what == "tuner"]
        flagged = explain_remarks(self._task.assignment, (), tuned, self._task.text)
        return Extras(self._target.inspection, (*remarks, *self._target.remarks), tuple(flagged),
                      tuple(self._conditions))


def _sizes_given(plan: Plan, case: Case) -> list[str]:
    """Return the names of the sizes that kernels are given, as arguments or in their grids. A size of 1 may be a
    constant in them."""
    launches = [operation for operation in plan.first if isinstance(operation, Launch)]
    grids = {number for launch in launches for number in launch.grid if number}
    given = {argument.value for launch in launches for argument in launch.arguments if isinstance(argument, Integer)}
    # A grid may be a product of sizes.
    return [name for name, size in case.sizes.items()
            if size == 1 or size in given or any(number % size == 0 for number in grids)]


def _blocks(plan: Plan) -> list[int]:
    """Return the sizes of the blocks that a plan's kernels work on, as far as they show."""
    # A text is read once for all its launches of equal blocks.
    launches = {(operation.kernel, operation.block): operation for operation in plan.first
                if isinstance(operation, Launch)}
    sizes = (languages.of(kernel).blocks(launch, kernel) for launch in launches.values()
             for kernel in [plan.kernels[launch.kernel]])
    return sorted(set[int]().union(*sizes))
