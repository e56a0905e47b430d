"""Check of a task's plans against the target GPU, whether this machine has a GPU or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader import languages
from grader.judging.evidence import large
from grader.judging.evidence.inspection import inspection_of
from grader.judging.explain import explain_foreign
from grader.judging.explain.stops import explain_uncompiled
from grader.judging.explain.wording import phrases_of, say
from grader.judging.plans.preparing import kernels_of
from grader.judging.plans.residency import TooManyRegisters, TooManyTogether, misfits
from grader.judging.plans.rules import foreign
from grader.judging.prepared import Prepared, Stopped, TaskPlans
from grader.judging.running.allowance import NOT_COMPILED
from grader.languages import FrontEnd
from grader.languages.phrases import fact
from grader.plan.compiled import Problem
from grader.plan.messages import Exhausted, kernel_key
from grader.plan.plan import Launch, Plan
from grader.results.launched import Inspection
from grader.results.result import Detail
from grader.sandbox.forkserver.conversation import Lost


@dataclass(frozen=True)
class Target:
    """The outcome of the target's check: `detail` is what is wrong, `hidden` whether that concerns a hidden case.
    `looked` says how much was sampled of sizes that only a GPU runs; `remarks` cost no points."""

    detail: Detail | None = None
    hidden: bool = False
    looked: str = ""
    remarks: tuple[str, ...] = ()
    inspection: Inspection | None = None


def check_target(prepared: Prepared, planned: TaskPlans) -> Target:
    """Check whether a GPU could launch every kernel, and whether kernels as compiled go wrong. Without a GPU, and where
    threads may race for shared memory, also sample the sizes that only a GPU runs. Raises InfrastructureError."""
    task = prepared.task
    hidden = {case.name for case in task.assignment.cases if case.hidden}
    plans: dict[str, Plan] = {}
    for name, plan in planned.plans.items():
        if not isinstance(plan, Plan):
            return Target(planned.explain(task, Stopped(plan, f"At {name}: ")), name in hidden)
        plans[name] = plan
    # A course refuses assembly everywhere, also where only a GPU could run it.
    assembly, libraries = (one == "refuse" for one in (task.course.policy.assembly, task.course.policy.libraries))
    for name, plan in plans.items() if assembly or libraries else ():
        if refused := _foreign([plan], assembly=assembly, libraries=libraries):
            return Target(refused[0], name in hidden)
    # The cases have left a simulator running: samples come before a compiler takes its place.
    seen = prepared.look()
    looks = large.look_at_all(prepared, plans) if not task.on_gpu or _threads_share(prepared, plans) else []
    trouble = next((_Trouble(look.case.name, look.detail) for look in looks if look.detail is not None), None)
    if trouble is None and (wrong := prepared.compiled()) is not None:
        case, detail = wrong
        message = fact("compiled", case=case, message=detail.message)
        return Target(detail.model_copy(update={"message": say(phrases_of(task.assignment, task.text), message)}))
    timed = {case.name for case in task.assignment.timed}
    kernels = kernels_of(plan for name, plan in plans.items() if name in timed)
    trouble = trouble or _trouble(prepared, plans)
    if trouble is not None and trouble.what is NOT_COMPILED:
        return Target(explain_uncompiled(task.assignment, task.text))
    if trouble is not None:
        what = trouble.what if isinstance(trouble.what, Detail) else planned.explain(task, Stopped(trouble.what))
        where = f"At {trouble.case}: " if trouble.case else ""
        return Target(what.model_copy(update={"message": where + what.message, "traceback": "", "output": ""}),
                        trouble.case in hidden)
    code = prepared.preparing.code(kernels)
    assert isinstance(code, list)
    shown = [plan for name, plan in plans.items() if name not in hidden]
    return Target(
        looked="" if task.on_gpu else large.told(
            [look for look in looks if not look.case.hidden], phrases_of(task.assignment, task.text)),
        remarks=tuple(detail.message for detail in _foreign(shown)),
        inspection=None if seen is None else inspection_of(
            task.assignment, seen.case, seen.plan, seen.simulated.launched,
            dict(zip(map(kernel_key, kernels), code, strict=True)), prepared.preparing.target))


def _threads_share(prepared: Prepared, plans: Mapping[str, Plan]) -> bool:
    """Return whether kernels that are written thread by thread use shared memory: a GPU's right answer shows no race,
    and a block may have a second tile in large sizes alone."""
    if all(languages.of(kernel).lowers_to for kernel in kernels_of(plans.values())):
        return False
    asked = any(one.shared for plan in plans.values() for one in plan.first if isinstance(one, Launch))
    code = prepared.preparing.code(kernels_of(plans.values()))
    return asked or (isinstance(code, list) and any(binary.facts.shared for binary in code))


@dataclass(frozen=True)
class _Trouble:
    """The reason why a case cannot run on the target; `case` is "" where it concerns all."""

    case: str
    what: Detail | Problem | Lost | TooManyRegisters | TooManyTogether | Exhausted


def _trouble(prepared: Prepared, plans: Mapping[str, Plan]) -> _Trouble | None:
    """Return the first case that the device cannot start, or that would stall there; None if there is none."""
    lost = prepared.fit()
    if lost is not None:
        return _Trouble("", lost)
    for name, plan in plans.items():
        for kernel in plan.kernels:
            if (problem := prepared.preparing.misfit(kernel)) is not None:
                return _Trouble(name, problem)
        for beyond in misfits(plan, prepared.preparing.device, prepared.preparing.facts(plan)):
            return _Trouble(name, beyond)
    # Cases ran before anything was known of registers; a GPU has shown whether they end.
    assignment = prepared.task.assignment
    small = assignment.cases_for("cpu")
    for case in () if prepared.task.on_gpu else (*assignment.cases, *assignment.timed):
        plan = plans[case.name]
        stalled = prepared.stalled(case, plan) if case in small else prepared.stalled_when_large(plan)
        if stalled is not None:
            return _Trouble(case.name, stalled)
    return None


def _foreign(plans: Iterable[Plan], *, assembly: bool = True, libraries: bool = True) -> list[Detail]:
    """Return details about what kernels use beyond their language, and about kernels of libraries, one detail for each
    kernel and kind."""
    found: dict[tuple[str, FrontEnd, bool], list[str]] = {}
    for plan in plans:
        for kernel, one in foreign(plan):
            if libraries if (library := one.kind == "library") else assembly:
                found.setdefault((kernel.name, languages.of(kernel), library), []).append(one.text)
    return [explain_foreign(kernel, list(dict.fromkeys(names)), language, library=library)
            for (kernel, language, library), names in found.items()]
