"""`kernelmark inspect`: facts of a kernel's launches from compiler and simulator, without grading and without a GPU."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from grader import home
from grader.console import INFRASTRUCTURE_ERROR, NOT_RIGHT, RIGHT
from grader.course.assignment import Assignment
from grader.course.cases import Case, dtype_of, shape_of
from grader.course.catalogue import assignments
from grader.course.course import Course
from grader.course.parameters import Scalar
from grader.course.submission import read_source_file
from grader.course.workspace import Workspace
from grader.grading import preflight
from grader.grading.preflight import PlanError
from grader.judging.evidence.inspection import FACTS, inspection_of, look, with_warps
from grader.judging.evidence.structure import launched_as_ptx
from grader.judging.explain import explain_findings
from grader.judging.plans.compilation import compile_kernels
from grader.judging.plans.preparing import COMPILE_SECONDS
from grader.judging.prepared import Prepared, Stopped, Task
from grader.judging.running.buffers import DTYPES
from grader.judging.running.lane import LANE
from grader.judging.running.simulation import Simulation
from grader.pages import inspected
from grader.pages.touched import picture
from grader.plan.compiled import Binary
from grader.plan.device import TARGETS
from grader.plan.findings import Finding, OutOfBounds
from grader.plan.messages import Simulated, kernel_key
from grader.plan.plan import Launch, Plan
from grader.plan.traffic import Watch
from grader.results.files import replace
from grader.results.result import Detail
from grader.sandbox.forkserver.conversation import Lost
from grader.sandbox.forkserver.handle import InfrastructureError

# The most element operations. There are more than in a grading, since a person waits for the facts.
OPERATIONS = 500_000_000
SECONDS = 60.0


@dataclass(frozen=True)
class InspectOptions:
    """The options of an inspection. `case` is by default the first timed case. `keep` stores the figures as those of a
    good kernel."""

    course: Course
    case: str = ""
    program: int | None = None
    ptx: bool = False
    out: Path | None = None
    keep: bool = False


class NoCase(Exception):
    """An error for a case that does not exist; one line lists the cases."""


def run(workspace: Workspace, options: InspectOptions, console: Console, errors: Console) -> int:
    """Inspect files, and return the exit status. Raises NoCase and PlanError, which are usage errors."""
    chosen = {name: _case(assignments()[name], options.case) for name in workspace.files}
    if options.out is not None:
        preflight.results(options.out, (), len(workspace.files))
    stored = {name: home.root() / "assignments" / name / FACTS for name in workspace.files} if options.keep else {}
    for path in stored.values():
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise PlanError(f"--keep: {path}: cannot be written; check its permissions")
    shown = []
    try:
        LANE.open()
        for name, path in workspace.files.items():
            with console.status(f"inspecting {path.name}"):
                facts = _facts(assignments()[name], path, chosen[name], options)
            inspected.show(console, path, facts)
            shown.append(facts)
            if name in stored and facts.inspection is not None and not facts.inspection.cut:
                stored[name].write_text(facts.inspection.figures.model_dump_json(indent=1) + "\n", encoding="utf-8")
                console.print(f"Kept: {stored[name]}", markup=False, soft_wrap=True)
    except InfrastructureError as error:
        errors.print(f"kernelmark: {error}; kernelmark doctor says what this machine lacks", markup=False)
        return INFRASTRUCTURE_ERROR
    finally:
        LANE.close()
    if options.out is not None and shown:
        # Late: jinja2 is slow to import, and the terminal needs no page.
        from grader.pages.pages import inspection_page

        page = replace(options.out / "inspection.html", inspection_page(shown).encode())
        console.print(f"Report: {page}", markup=False, soft_wrap=True)
    return RIGHT if shown and all(facts.inspection for facts in shown) else NOT_RIGHT


def _case(assignment: Assignment, name: str) -> Case:
    public = [*assignment.timed, *(case for case in assignment.cases if not case.hidden)]
    for case in public:
        if not name or case.name == name:
            return case
    raise NoCase(f"--case {name}: no such case; choose from {', '.join(case.name for case in public)}")


def _facts(assignment: Assignment, path: Path, case: Case, options: InspectOptions) -> inspected.InspectedFile:
    target = options.course.gpu.target
    source = read_source_file(path.parent, path.name, options.course.source_bytes)
    # A fixed seed will do, since the facts do not depend on the inputs.
    task = Task(assignment, source, options.course, b"", "cpu").of(case)
    facts = inspected.InspectedFile(assignment.title, task.text)
    prepared = Prepared(task)
    planned = prepared.plan()
    plan = planned.plans.get(case.name)
    if not isinstance(plan, Plan):
        facts.trouble = planned.trouble if plan is None else planned.explain(task, Stopped(plan))
        if facts.trouble is not None and facts.trouble.kind == "not_attempted":
            facts.trouble = Detail(
                kind="not_attempted", message="Still the stub: write the function, and its kernels are shown here.")
        return facts
    code = prepared.code(plan)
    if isinstance(code, Stopped):
        facts.trouble = planned.explain(task, Stopped(code.stop))
        return facts
    preparing = prepared.preparing
    simulation = Simulation(preparing, operations=OPERATIONS, seconds=SECONDS, on=TARGETS[target])
    try:
        seen = look(assignment, case, plan, simulation, operations=OPERATIONS)
        if seen is not None:
            by_key = {kernel_key(kernel): binary for kernel, binary in zip(plan.kernels, code, strict=True)}
            facts.inspection = inspection_of(
                assignment, case, plan, seen.simulated.launched, by_key, target)
            if not all(launch.warps for launch in facts.inspection.launches):
                facts.inspection = with_warps(facts.inspection, launched_as_ptx(prepared, case, plan))
            facts.trouble = explain_findings(assignment, facts.source, _certain(seen.simulated))
        if options.program is not None:
            facts.pictures = _touched(assignment, case, plan, simulation, options.program)
            facts.undrawn = "" if facts.pictures else (
                f"Program {options.program}: there is no such program, or it takes too long to run.")
    finally:
        simulation.end()
    if options.ptx:
        with preparing.station.turn:
            compiled = compile_kernels(
                lambda: preparing.start("compiler"), plan.kernels, target, seconds=COMPILE_SECONDS, ptx=True)
        if not isinstance(compiled, Lost):
            facts.ptx = {kernel.name: binary.ptx for kernel, binary in zip(plan.kernels, compiled, strict=True)
                         if isinstance(binary, Binary)}
    return facts


def _certain(seen: Simulated) -> list[Finding]:
    """Return the findings that hold whichever programs ran. With several launches there are none, since a later launch
    depends on all programs of the earlier ones."""
    return [finding for finding in seen.findings if isinstance(finding, OutOfBounds)] if len(seen.launched) == 1 else []


def _watched(plan: Plan, program: int) -> Watch:
    """Return the watch that records the bytes which one program of each launch touches."""
    return Watch(chosen=[[program] for launch in plan.first if isinstance(launch, Launch)], touched="all")


def _touched(
    assignment: Assignment, case: Case, plan: Plan, simulation: Simulation, program: int
) -> list[inspected.Touch]:
    seen = simulation.inspect(assignment, plan, _watched(plan, program), operations=OPERATIONS)
    shapes: dict[str, tuple[Sequence[int], int]] = {
        tensor.name: (shape_of(tensor, case), DTYPES[dtype_of(tensor, case)].itemsize)
        for tensor in assignment.parameters if not isinstance(tensor, Scalar)}
    touches = []
    for touched in seen.touched if isinstance(seen, Simulated) else ():
        if touched.given in shapes:
            shape, size = shapes[touched.given]
            drawn = picture(shape, [((begin + number * step) // size, length // size)
                                    for begin, length, step, count in touched.runs for number in range(count)])
            if drawn is not None:
                touches.append(inspected.Touch(program, touched.access, touched.given, drawn))
    return touches
