"""The judge: one task of one submission, from its file to what is said of it. This is the timeline."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

from grader.judge.answer import answer
from grader.judge.checks import Judged, cut, expected_checks, not_due, not_run, our_failure, quotes, score
from grader.judge.explain import explain_remarks, explain_timed
from grader.judge.machine import machine_of
from grader.judge.prepared import Prepared, Stopped
from grader.judge.target import Compiled, compile_all
from grader.judge.timing.pool import Wrong
from grader.judge.timing.speed import time
from grader.model.launched import Inspection
from grader.model.result import CheckResult, Timing
from grader.plan.findings import Finding
from grader.plan.messages import Skipped
from grader.plan.plan import Plan


@dataclass(frozen=True)
class Beside:
    """What judging a task shows beside its checks: facts about its kernels, and what costs no points."""

    inspection: Inspection | None = None
    remarks: tuple[str, ...] = ()


def judge(
    prepared: Prepared, checks: Sequence[CheckResult] | None = None, *, quiet: Callable[[], None] = lambda: None
) -> Generator[Judged, None, Beside]:
    """Judges a task: yields what becomes of each of `checks`, in their order, as soon as it is known.

    The timeline, which is the order of `expected_checks` with `speed_checks` behind them:

    1. plan: the file is run in planners, once for all calls, and its plans are checked as if they were forged. No
       planner lives when the first kernel runs. The check "source" tells whether there are plans.
    2. run, for each case and each of its calls: on fresh inputs and a poisoned output, by a simulator or a GPU.
    3. compare what the call left with the oracle's answer, and explain what is wrong by what was seen.
    4. compile what is right for the target: the check "target" tells whether a GPU can launch every kernel.
    5. time what is right, on a GPU alone, against the baseline.
    6. score: each of these ends as a check that passed, failed or was not run.

    `checks` may be a part of these; what a check needs is done for it. `quiet` returns when nothing else of the grading
    keeps processors busy. An error inside a check is a failure of ours, and the next check goes on.
    """
    task = prepared.task
    assignment, strict = task.assignment, task.course.points.credit == "all"
    cases = {case.name: case for case in assignment.cases}
    timed = {case.name: case for case in assignment.timed}
    findings: list[Finding] = []
    skipped: Sequence[Skipped] = ()
    compiled = Compiled()
    # Whether a case was wrong, a call ran out of time, and the submission's own words were quoted.
    failed = endless = quoted = False
    with closing(machine_of(prepared)) as machine:
        for check in expected_checks(assignment, task.device) if checks is None else checks:
            error = None
            try:
                planned = prepared.plan()
                skipped, plan = planned.skipped, planned.plans.get(check.case)
                if check.stage == "source":
                    found = score(check, planned.trouble)
                elif check.stage == "case" and plan is not None and not isinstance(plan, Plan):
                    found = score(check, planned.explain(task, Stopped(plan)))
                elif why := not_due(check, planned=bool(planned.plans), failed=failed, endless=endless):
                    found = not_run(check, why)
                elif check.stage == "case" and isinstance(plan, Plan):
                    answered = answer(prepared, planned, machine, check, cases[check.case], plan)
                    found = answered.check
                    findings += [] if check.hidden else answered.findings
                    # Where one wrong case costs all points, further ones that do not end tell nothing new.
                    endless = strict and found.detail is not None and found.detail.kind == "time_out"
                elif check.stage == "target":
                    compiled = compile_all(prepared, planned)
                    found = score(check, compiled.detail).model_copy(
                        update={"hidden": compiled.hidden, "note": compiled.looked})
                else:
                    timing = time(prepared, planned, timed[check.case], machine, quiet)
                    if isinstance(timing, Timing):
                        found = score(check, None, timing=timing)
                    else:
                        found = score(check, explain_timed(timing) if isinstance(timing, Wrong) else
                                      planned.explain(task, timing))
            except (KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as caught:
                found, error = our_failure(check, f"{type(caught).__name__}: {caught}"), caught
            failed = failed or (check.stage == "case" and found.outcome == "failed" and error is None)
            found, quoted = cut(found, quoted=quoted), quoted or quotes(found)
            yield Judged(found, error)
    return Beside(compiled.inspection, (*explain_remarks(assignment, skipped, findings), *compiled.remarks))
