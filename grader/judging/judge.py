"""The judge: one task of one submission, from its file to its checks. This is the timeline."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from grader import languages
from grader.course.cases import Case
from grader.judging.case import judge_case
from grader.judging.checks import Judged, concluded, not_run, our_failure, quotes, shortened
from grader.judging.evidence.inspection import with_warps
from grader.judging.evidence.structure import look_at_structure
from grader.judging.explain import explain_condition, explain_remarks, explain_timed
from grader.judging.plans.planning import Unplanned
from grader.judging.prepared import Prepared, Stopped, TaskPlans
from grader.judging.running.machine import machine_of
from grader.judging.speed.pool import Wrong
from grader.judging.speed.speed import time_case
from grader.judging.target import Target, check_target
from grader.plan.findings import Finding, Undefined
from grader.plan.plan import Integer, Launch, Plan
from grader.results.launched import Inspection
from grader.results.result import CheckResult, Timing
from grader.results.structure import CaseFacts, ConditionResult


@dataclass(frozen=True)
class Extras:
    """Results of a task beside its checks: facts about its kernels, and remarks that cost no points. `flagged` are the
    remarks that a person has to read before a right answer counts, `conditions` those of the course, if they were
    looked at."""

    inspection: Inspection | None = None
    remarks: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    conditions: tuple[ConditionResult, ...] = ()


def judge(prepared: Prepared, checks: Sequence[CheckResult]) -> Generator[Judged, None, Extras]:
    """Judge a task: yield the outcome of each of `checks`, in their order, as soon as it is known.

    The order is that of `expected_checks`, `structure_checks` and `speed_checks`. Each check ends as passed, failed or
    not run:

    1. source: planners run the file, once for all calls, and its plans are checked as if they were forged. All planners
       are dead before the first kernel runs.
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
                found = timeline.stage(check)
            except (KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as caught:
                found, error = our_failure(check, f"{type(caught).__name__}: {caught}"), caught
            found, quoted = shortened(found, quoted=quoted), quoted or quotes(found)
            yield Judged(found, error)
    return timeline.extras()


class _Timeline:
    """The stages of a task, and the results that each leaves for the later ones."""

    def __init__(self, prepared: Prepared) -> None:
        self.machine = machine_of(prepared)
        self._prepared, self._task = prepared, prepared.task
        self._planned = TaskPlans()
        self._findings: list[Finding] = []
        self._target = Target()
        # A case failed; a case ran out of time, after which no other can earn points.
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
        return concluded(check, self._planned.trouble)

    def case(self, check: CheckResult) -> CheckResult:
        if not self._planned.plans:
            return not_run(check, "not run: there is no plan")
        plan = self._planned.plans[check.case]
        if isinstance(plan, Unplanned):
            found = concluded(check, self._planned.explain(self._task, Stopped(plan)))
        elif self._endless:
            return not_run(check, "not run: a case before had run out of time")
        else:
            case = next(case for case in self._task.assignment.cases if case.name == check.case)
            judged = judge_case(self._prepared, self._planned, self.machine, check, case, plan, self._right)
            found = judged.check if judged.check.detail is None else judged.check.model_copy(
                update={"blocks": _blocks(plan), "told": _told(plan, case)})
            self._findings += [] if check.hidden else judged.findings
            # If one wrong case costs all points, further endless cases tell nothing new.
            strict = self._task.course.points.credit == "all"
            self._endless = strict and found.detail is not None and found.detail.kind == "time_out"
            if found.outcome == "passed":
                self._right.append((case, found.seconds or 0.0))
        self._failed = self._failed or found.outcome == "failed"
        return found

    def target(self, check: CheckResult) -> CheckResult:
        if self._failed:
            return not_run(check, "not run: a case before has failed")
        if not self._planned.plans:
            return not_run(check, "not run: there is no plan")
        self._target = check_target(self._prepared, self._planned)
        return concluded(check, self._target.detail).model_copy(
            update={"hidden": self._target.hidden, "note": self._target.looked})

    def structure(self, check: CheckResult) -> CheckResult:
        if self._failed or self._target.detail is not None or not self._planned.plans:
            return not_run(check, "not run: conditions count once every case is right")
        if not self._conditions:
            facts = look_at_structure(self._prepared)
            self._conditions = self._task.conditions.decided(facts)
            if self._target.inspection is not None and isinstance(facts[0], CaseFacts):
                self._target = replace(self._target, inspection=with_warps(
                    self._target.inspection, facts[0].launched.launches))
        found = next(one for one in self._conditions if check.id == f"structure-{one.name}")
        if found.met is None:
            return not_run(check, found.said)
        return concluded(check, explain_condition(self._task.assignment, self._task.text, found))

    def speed(self, check: CheckResult) -> CheckResult:
        if self._failed or not self._planned.plans:
            return not_run(check, "not measured: speed counts once every case is right")
        case = next(case for case in self._task.assignment.timed if case.name == check.case)
        timing = time_case(self._prepared, self._planned, case, self.machine)
        if isinstance(timing, Timing):
            return concluded(check, None, timing=timing)
        task = self._task
        return concluded(check, explain_timed(task.assignment, task.text, timing) if isinstance(timing, Wrong) else
                         self._planned.explain(task, timing))

    def extras(self) -> Extras:
        remarks = explain_remarks(self._task.assignment, self._planned.skipped, self._findings, self._task.text)
        # A kernel with such a finding is wrong in its first call on a GPU, though in no call that is made here.
        tuned = [one for one in self._findings if isinstance(one, Undefined) and one.what == "tuner"]
        flagged = explain_remarks(self._task.assignment, (), tuned, self._task.text)
        return Extras(self._target.inspection, (*remarks, *self._target.remarks), tuple(flagged),
                      tuple(self._conditions))


def _told(plan: Plan, case: Case) -> list[str]:
    """Return the names of the sizes that kernels get, as arguments or in their grids. A size of 1 may be a constant in
    them."""
    launches = [one for one in plan.first if isinstance(one, Launch)]
    grids = {number for one in launches for number in one.grid if number}
    given = {argument.value for one in launches for argument in one.arguments if isinstance(argument, Integer)}
    # A grid may be a product of sizes.
    return [name for name, size in case.sizes.items()
            if size == 1 or size in given or any(number % size == 0 for number in grids)]


def _blocks(plan: Plan) -> list[int]:
    """Return the sizes of the blocks that a plan's kernels work on, as far as they show."""
    sizes = (languages.of(kernel).blocks(launch, kernel) for launch in plan.first if isinstance(launch, Launch)
             for kernel in [plan.kernels[launch.kernel]])
    return sorted(set[int]().union(*sizes))
