"""`kernelmark inspect`: facts of a kernel's launches from compiler and simulator, without grading and without a GPU."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import home
from grader.console import INFRASTRUCTURE_ERROR, NOT_RIGHT, RIGHT, complain, console, say
from grader.course.assignment import Assignment
from grader.course.cases import Case, dtype_of, shape_of
from grader.course.catalogue import assignments
from grader.course.course import Course
from grader.course.parameters import Scalar
from grader.course.submission import read_source_file
from grader.course.workspace import Workspace
from grader.errors import InfrastructureError, UserError
from grader.grading import preflight
from grader.judging.evidence.inspection import FACTS, inspect_call, inspection_of, with_warps
from grader.judging.evidence.structure import launched_as_ptx
from grader.judging.explain import explain_findings
from grader.judging.plans.compilation import compile_kernels
from grader.judging.plans.toolchain import COMPILE_SECONDS
from grader.judging.prepared import NoAnswer, PreparedTask, Task
from grader.judging.running.buffers import DTYPES
from grader.judging.running.lane import LANE
from grader.judging.running.simulation import Simulation
from grader.pages import inspected
from grader.pages.inspected import picture
from grader.plan.compiled import Binary
from grader.plan.device import TARGETS
from grader.plan.findings import OutOfBounds
from grader.plan.messages import Simulated, kernel_key
from grader.plan.plan import Launch, Plan
from grader.plan.traffic import Watch
from grader.results.files import replace
from grader.results.result import Detail
from grader.sandbox.forkserver.conversation import LostAnswer

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



def run(workspace: Workspace, options: InspectOptions) -> int:
    """Inspect files, and return the exit status. Raises UserError, which are usage errors."""
    chosen = {name: _case(assignments()[name], options.case) for name in workspace.files}
    if options.out is not None:
        preflight.results(options.out, (), len(workspace.files))
    stored = {name: home.root() / "assignments" / name / FACTS for name in workspace.files} if options.keep else {}
    for path in stored.values():
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise UserError(f"--keep: {path}: cannot be written; check its permissions")
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
                say(f"Kept: {stored[name]}")
    except InfrastructureError as error:
        complain(f"{error}; kernelmark doctor says what this machine lacks")
        return INFRASTRUCTURE_ERROR
    finally:
        LANE.close()
    if options.out is not None and shown:
        # Late: jinja2 is slow to import, and the terminal needs no page.
        from grader.pages.pages import inspection_page

        page = replace(options.out / "inspection.html", inspection_page(shown).encode())
        say(f"Report: {page}")
    return RIGHT if shown and all(facts.inspection for facts in shown) else NOT_RIGHT


def _case(assignment: Assignment, name: str) -> Case:
    public = [*assignment.timed, *(case for case in assignment.cases if not case.hidden)]
    for case in public:
        if not name or case.name == name:
            return case
    raise UserError(f"--case {name}: no such case; choose from {', '.join(case.name for case in public)}")


def _facts(assignment: Assignment, path: Path, case: Case, options: InspectOptions) -> inspected.InspectedFile:
    target = options.course.gpu.target
    source = read_source_file(path.parent, path.name, options.course.source_bytes)
    # A fixed seed will do, since the facts do not depend on the inputs.
    task = Task(assignment, source, options.course, b"", "cpu").of(case)
    facts = inspected.InspectedFile(assignment.title, task.text)
    prepared = PreparedTask(task)
    planned = prepared.plan()
    plan = planned.plans.get(case.name)
    if not isinstance(plan, Plan):
        facts.trouble = planned.trouble if plan is None else planned.explain(task, NoAnswer(plan))
        if facts.trouble is not None and facts.trouble.kind == "not_attempted":
            facts.trouble = Detail(
                kind="not_attempted", message="Still the stub: write the function, and its kernels are shown here.")
        return facts
    code = prepared.code(plan)
    if isinstance(code, NoAnswer):
        facts.trouble = planned.explain(task, NoAnswer(code.stop))
        return facts
    toolchain = prepared.toolchain
    simulation = Simulation(toolchain, operations=OPERATIONS, seconds=SECONDS, on=TARGETS[target])
    try:
        call = inspect_call(assignment, case, plan, simulation, operations=OPERATIONS)
        if call is not None:
            by_key = {kernel_key(kernel): binary for kernel, binary in zip(plan.kernels, code, strict=True)}
            facts.inspection = inspection_of(
                assignment, case, plan, call.simulated.launched, by_key, target)
            if not all(launch.warps for launch in facts.inspection.launches):
                facts.inspection = with_warps(facts.inspection, launched_as_ptx(prepared, case, plan))
            # With several launches no finding is certain: a later one depends on all programs of the earlier ones.
            certain = [finding for finding in call.simulated.findings
                       if isinstance(finding, OutOfBounds) and len(call.simulated.launched) == 1]
            facts.trouble = explain_findings(assignment, facts.source, certain)
        if options.program is not None:
            facts.pictures = _touched(assignment, case, plan, simulation, options.program)
            facts.undrawn = "" if facts.pictures else (
                f"Program {options.program}: there is no such program, or it takes too long to run.")
    finally:
        simulation.end()
    if options.ptx:
        with toolchain.fork_server.lock:
            compiled = compile_kernels(
                lambda: toolchain.start("compiler"), plan.kernels, target, seconds=COMPILE_SECONDS, ptx=True)
        if not isinstance(compiled, LostAnswer):
            facts.ptx = {kernel.name: binary.ptx for kernel, binary in zip(plan.kernels, compiled, strict=True)
                         if isinstance(binary, Binary)}
    return facts


def _touched(
    assignment: Assignment, case: Case, plan: Plan, simulation: Simulation, program: int
) -> list[inspected.Touch]:
    watch = Watch(chosen=[[program] for launch in plan.first if isinstance(launch, Launch)], touched="all")
    seen = simulation.inspect(assignment, plan, watch, operations=OPERATIONS)
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
