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
from grader.judging.plans.residency import TooManyRegisters, TooManyTogether, misfits
from grader.judging.plans.rules import foreign
from grader.judging.plans.toolchain import kernels_of
from grader.judging.prepared import NoAnswer, PreparedTask, TaskPlans
from grader.judging.running.time_budget import NOT_COMPILED
from grader.languages import FrontEnd
from grader.languages.phrases import fact
from grader.plan.compiled import Problem
from grader.plan.messages import Exhausted, kernel_key
from grader.plan.plan import Launch, Plan
from grader.results.launched import Inspection
from grader.results.result import Detail
from grader.sandbox.forkserver.conversation import LostAnswer


@dataclass(frozen=True)
class Target:
    """The outcome of the target's check: `detail` is what is wrong, `hidden` whether that concerns a hidden case.
    `sampled` says how much was sampled of sizes that only a GPU runs; `remarks` cost no points."""

    detail: Detail | None = None
    hidden: bool = False
    sampled: str = ""
    remarks: tuple[str, ...] = ()
    inspection: Inspection | None = None


def check_target(prepared: PreparedTask, planned: TaskPlans) -> Target:
    """Check whether a GPU could launch every kernel, and whether kernels as compiled go wrong. Without a GPU, and where
    threads may race for shared memory, also sample the sizes that only a GPU runs. Raises InfrastructureError."""
    task = prepared.task
    hidden = {case.name for case in task.assignment.cases if case.hidden}
    plans: dict[str, Plan] = {}
    for name, plan in planned.plans.items():
        if not isinstance(plan, Plan):
            return Target(planned.explain(task, NoAnswer(plan, f"At {name}: ")), name in hidden)
        plans[name] = plan
    # A course refuses assembly everywhere, also where only a GPU could run it.
    assembly, libraries = (choice == "refuse" for choice in (task.course.policy.assembly, task.course.policy.libraries))
    for name, plan in plans.items() if assembly or libraries else ():
        if refused := _foreign([plan], assembly=assembly, libraries=libraries):
            return Target(refused[0], name in hidden)
    # The cases have left a simulator running: samples come before a compiler takes its place.
    call = prepared.inspected()
    samples = large.sample_large_cases(prepared, plans) if not task.on_gpu or _threads_share(prepared, plans) else []
    trouble: tuple[str, Trouble] | None = next((
        (sample.case.name, sample.detail) for sample in samples if sample.detail is not None), None)
    if trouble is None and (wrong := prepared.compiled()) is not None:
        case, detail = wrong
        said = fact("compiled", case=case, message=detail.message)
        return Target(detail.model_copy(update={"message": say(phrases_of(task.assignment, task.text), said)}))
    timed = {case.name for case in task.assignment.timed}
    kernels = kernels_of(plan for name, plan in plans.items() if name in timed)
    trouble = trouble or _trouble(prepared, plans)
    if trouble is not None:
        case, why = trouble
        if why is NOT_COMPILED:
            return Target(explain_uncompiled(task.assignment, task.text))
        detail = why if isinstance(why, Detail) else planned.explain(task, NoAnswer(why))
        message = (f"At {case}: " if case else "") + detail.message
        return Target(detail.model_copy(update={"message": message, "traceback": "", "output": ""}), case in hidden)
    code = prepared.toolchain.code(kernels)
    assert isinstance(code, list)
    shown = [plan for name, plan in plans.items() if name not in hidden]
    return Target(
        sampled="" if task.on_gpu else large.sampling_note(
            [sample for sample in samples if not sample.case.hidden], phrases_of(task.assignment, task.text)),
        remarks=tuple(detail.message for detail in _foreign(shown)),
        inspection=None if call is None else inspection_of(
            task.assignment, call.case, call.plan, call.simulated.launched,
            dict(zip(map(kernel_key, kernels), code, strict=True)), prepared.toolchain.target))


def _threads_share(prepared: PreparedTask, plans: Mapping[str, Plan]) -> bool:
    """Return whether kernels that are written thread by thread use shared memory: a GPU's right answer shows no race,
    and a block may have a second tile in large sizes alone."""
    if all(languages.of(kernel).lowers_to for kernel in kernels_of(plans.values())):
        return False
    requested = any(operation.shared for plan in plans.values() for operation in plan.first
                    if isinstance(operation, Launch))
    code = prepared.toolchain.code(kernels_of(plans.values()))
    return requested or (isinstance(code, list) and any(binary.facts.shared for binary in code))


Trouble = Detail | Problem | LostAnswer | TooManyRegisters | TooManyTogether | Exhausted


def _trouble(prepared: PreparedTask, plans: Mapping[str, Plan]) -> tuple[str, Trouble] | None:
    """Return the first case that the device cannot start, or that would stall there, with the reason; None if there is
    none. The case is "" where the reason concerns all."""
    lost = prepared.fit()
    if lost is not None:
        return "", lost
    for name, plan in plans.items():
        for kernel in plan.kernels:
            if (problem := prepared.toolchain.misfit(kernel)) is not None:
                return name, problem
        for beyond in misfits(plan, prepared.toolchain.device, prepared.toolchain.facts(plan)):
            return name, beyond
    # Cases ran before anything was known of registers; a GPU has shown whether they end.
    assignment = prepared.task.assignment
    for case in () if prepared.task.on_gpu else (*assignment.cases, *assignment.timed):
        plan = plans[case.name]
        if (stalled := prepared.stalled(case, plan)) is not None:
            return case.name, stalled
    return None


def _foreign(plans: Iterable[Plan], *, assembly: bool = True, libraries: bool = True) -> list[Detail]:
    """Return details about what kernels use beyond their language, and about kernels of libraries, one detail for each
    kernel and kind."""
    kernels: dict[tuple[str, FrontEnd, bool], list[str]] = {}
    for plan in plans:
        for kernel, code in foreign(plan):
            if libraries if (library := code.kind == "library") else assembly:
                kernels.setdefault((kernel.name, languages.of(kernel), library), []).append(code.text)
    return [explain_foreign(kernel, list(dict.fromkeys(names)), language, library=library)
            for (kernel, language, library), names in kernels.items()]
