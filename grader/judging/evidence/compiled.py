"""Second check of kernels that a simulator finds right: the text that goes to the assembler runs thread by thread, in a
few small cases.

The check shows choices of the compiler that the kernel's language leaves open: the order of lanes with different values
and of loads before a store, and broken promises. It skips a case whose text has instructions that the second simulator
does not know. On the accepted submissions of our tests the check raises no false alarm.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod

from grader import languages
from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.course.parameters import Inputs
from grader.judging.answers.answers import AnswerComparisons, given_answer
from grader.judging.explain import ExplainedCall, explain_case
from grader.judging.plans.lowered import CannotLower, lowered
from grader.judging.plans.planning import Unplanned
from grader.judging.plans.toolchain import Toolchain, kernels_of
from grader.judging.running.device import working
from grader.judging.running.simulation import CallResult, Simulation
from grader.plan.findings import Finding, MisalignedAccess, OutOfBounds, Race
from grader.plan.messages import kernel_key
from grader.plan.plan import Kernel, Plan
from grader.results.result import Detail

TARGET = "sm_80"
"""An old target, since tensor cores of later generations have instructions that no simulator knows."""
SMALL = 2
"""Number of smallest cases that are checked. One case of more than LARGER elements, as a block has, is checked too."""
LARGER = 1024
MOST_ELEMENTS = 1 << 17
SECONDS = 2.0
"""Seconds of wall time for a run: programs that wait for each other would take too long."""


def check_compiled(
    assignment: Assignment, source: str, plans: Mapping[str, Plan | Unplanned], toolchain: Toolchain,
    inputs: Callable[[Case], Sequence[Inputs]], compared: Callable[[CallResult, Inputs], AnswerComparisons],
) -> tuple[str, Detail] | None:
    """Return the name of the first case in which a compiled kernel goes wrong, and what is wrong; None if there is
    none. `source` is the student's file, `inputs` returns the contents of a case's first call, `compared` compares its
    answer. Raises InfrastructureError."""
    if not (language := assignment.front_end.lowers_to):
        return None
    chosen = [(case, plan) for case in _sampled_cases(assignment) if isinstance(plan := plans.get(case.name), Plan)
              and all(kernel.language != language for kernel in plan.kernels)]
    kernels = kernels_of(plan for _, plan in chosen)
    binaries = toolchain.lowered({kernel_key(kernel): kernel for kernel in kernels}, TARGET)
    simulation = Simulation(toolchain, language, seconds=SECONDS)
    try:
        for case, plan in chosen:
            if not all(kernel_key(kernel) in binaries and rounds_alike(kernel) for kernel in plan.kernels):
                continue
            with contextlib.suppress(CannotLower):
                given = inputs(case)
                ran = simulation.run(assignment, case, lowered(plan, binaries, language), given)
                if isinstance(ran, CallResult) and (detail := _explained(
                        assignment, source, case, plan, ran, given[-1], compared)) is not None:
                    return case.name, detail
    finally:
        simulation.end()
    return None


def rounds_alike(kernel: Kernel) -> bool:
    """Return whether a kernel rounds alike on all generations of GPUs, so that an older target shows the same
    numbers."""
    return "rounded by generation" not in languages.of(kernel).traits(kernel)


def _sampled_cases(assignment: Assignment) -> list[Case]:
    """Return the SMALL smallest public cases of more than one element, and the first public one that is larger than a
    block."""
    sizes = {case.name: prod(case.sizes.values()) for case in assignment.cases_for("cpu")}
    public = [case for case in assignment.cases_for("cpu") if not case.hidden and sizes[case.name] > 1]
    small = sorted(public, key=lambda case: sizes[case.name])[:SMALL]
    larger = [case for case in public if LARGER < sizes[case.name] <= MOST_ELEMENTS and case not in small]
    return [*small, *larger[:1]]


def _explained(
    assignment: Assignment, source: str, case: Case, plan: Plan, result: CallResult, inputs: Inputs,
    compared: Callable[[CallResult, Inputs], AnswerComparisons],
) -> Detail | None:
    """Return what is wrong with the first call of a case; None if it is right."""
    result = replace(result, findings=tuple(filter(_counts, result.findings)), accesses=())
    # Explanations compute on the inputs' device, which may be the GPU.
    with working():
        answer = compared(result, inputs)
        about = given_answer(assignment, result, inputs).about(answer.about)
        return explain_case(ExplainedCall(about, case, plan, 0, result, source), inputs, answer)


def _counts(finding: Finding) -> bool:
    """Return whether a finding in the compiled text is a fault in the kernel's own language, too."""
    return isinstance(finding, OutOfBounds | MisalignedAccess) or (isinstance(finding, Race) and finding.certain)
