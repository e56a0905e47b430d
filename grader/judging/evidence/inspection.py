"""Facts about a call's launches that a compiler and a simulator show without a GPU; they decide no check."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from pydantic import ValidationError

from grader import home, languages
from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.errors import InfrastructureError
from grader.judging.explain.wording import phrases_of, say
from grader.judging.plans.planning import Unplanned
from grader.judging.running.simulation import Simulation
from grader.languages.phrases import Phrases, fact
from grader.plan.compiled import Binary
from grader.plan.device import TARGETS, occupancy
from grader.plan.messages import Simulated, kernel_key
from grader.plan.plan import ITEM_BYTES, Copy, Fill, Kernel, Launch, Plan
from grader.plan.traffic import LaunchTraffic, Watch
from grader.results.launched import AccessFacts, CopyFacts, Figures, Inspection, LaunchFacts, WarpFacts

# Programs of each launch that are simulated: more show nothing new.
PROGRAMS = 64
# Element operations of an inspection during a grading, about a tenth of a second. The figures in good.json come from as
# many.
OPERATIONS = 80_000_000
# Most bytes of the submission's temporaries, which take memory and time.
MOST_TEMPORARY = 256 << 20
FACTS = "good.json"


@dataclass(frozen=True)
class InspectedCall:
    """A simulator's view of a case's first call."""

    case: Case
    plan: Plan
    simulated: Simulated


def inspect_timed(
    assignment: Assignment, plans: Mapping[str, Plan | Unplanned], simulation: Simulation
) -> InspectedCall | None:
    """Inspect the first timed case in a simulator; `plans` has plans by the case's name. None if the case has no plan
    or the simulator fails, which costs no points."""
    case = next(iter(assignment.timed), None)
    plan = None if case is None else plans.get(case.name)
    if case is None or not isinstance(plan, Plan):
        return None
    with contextlib.suppress(InfrastructureError):
        return inspect_call(assignment, case, plan, simulation)
    return None


def inspect_call(
    assignment: Assignment, case: Case, plan: Plan, simulation: Simulation, *, operations: int = OPERATIONS
) -> InspectedCall | None:
    """Inspect a case's first call in a simulator; None if the call cannot run there, or has large temporaries. Raises
    InfrastructureError."""
    if sum(buffer.bytes for buffer in plan.buffers if not buffer.given) > MOST_TEMPORARY:
        return None
    simulated = simulation.inspect(assignment, plan, Watch(programs=PROGRAMS, warps=True), operations=operations)
    return InspectedCall(case, plan, simulated) if isinstance(simulated, Simulated) else None


def inspection_of(
    assignment: Assignment, case: Case, plan: Plan, launched: Sequence[LaunchTraffic], code: Mapping[str, Binary],
    target: str,
) -> Inspection:
    """Return facts about the launches of a plan's first call, as a simulator counted them. `code` is the machine code
    of the plan's kernels, by key."""
    # A text is read once for all its launches.
    kernels = [(kernel, code[kernel_key(kernel)], "product" in languages.of(kernel).traits(kernel))
               for kernel in plan.kernels]
    # Shared memory that a launch asks for, beside what its kernel takes itself.
    shared = {(launch.kernel, launch.grid, launch.line): launch.shared for launch in plan.first
              if isinstance(launch, Launch)}
    launches = [
        _launch(traffic, *kernels[traffic.kernel], target,
                shared.get((traffic.kernel, traffic.grid, traffic.line), 0), phrases_of(assignment, ""))
        for traffic in launched if traffic.kernel < len(kernels)]
    copies = [CopyFacts(
        line=copy.line, bytes=prod(copy.target.shape) * ITEM_BYTES[copy.target.dtype],
        source="fill" if isinstance(copy, Fill) else plan.buffers[copy.source.buffer].place,
        target=plan.buffers[copy.target.buffer].place) for copy in plan.first if isinstance(copy, Copy | Fill)]
    many = TARGETS[target].multi_processor_count if target in TARGETS else 0
    # The figures in good.json are of the first timed case.
    good = good_figures(assignment.name) if case in assignment.timed[:1] else None
    return Inspection(
        case=case.name, sizes=case.sizes, target=target, multiprocessors=many, launches=launches, copies=copies,
        good=good if good is not None and good.target == target else None)


def with_warps(inspection: Inspection, others: Sequence[LaunchFacts]) -> Inspection:
    """Return the facts with what warps do, where they were not counted: from the same launches, run as PTX."""
    alike = len(inspection.launches) == len(others) and all(
        (launch.kernel, launch.grid, launch.line) == (counted.kernel, counted.grid, counted.line)
        for launch, counted in zip(inspection.launches, others, strict=True))
    return inspection if not alike else inspection.model_copy(update={"launches": [
        launch.model_copy(update={"warps": launch.warps or counted.warps})
        for launch, counted in zip(inspection.launches, others, strict=True)]})


def _launch(
    traffic: LaunchTraffic, kernel: Kernel, binary: Binary, products: bool, target: str, extra: int, words: Phrases
) -> LaunchFacts:
    facts = binary.facts
    threads, shared = traffic.threads, facts.shared + extra
    holds, bounds, share = 0, tuple[str, ...](), 0.0
    if target in TARGETS:
        holds, bounds = occupancy(TARGETS[target], threads, facts.registers, shared)
        share = holds * threads / TARGETS[target].max_threads_per_multi_processor
    widths: dict[tuple[str, int], Counter[int]] = {}
    for width in facts.lines:
        widths.setdefault((width.access, width.line), Counter())[width.bits] += width.count
    return LaunchFacts(
        kernel=kernel.name, line=traffic.line, grid=list(traffic.grid), counted=traffic.programs, cut=traffic.cut,
        threads=threads, registers=facts.registers, spills=facts.spills, shared=shared, tensor_cores=facts.tensor_cores,
        copies=facts.copies, products=products, resident=holds,
        bound=" and ".join(say(words, fact(f"bound.{bound}")) for bound in bounds), occupancy=round(share, 4),
        unit=say(words, fact("program")),
        accesses=[AccessFacts(
            access=access.access, line=access.line, tensor=access.given or access.tensor, lanes=access.lanes,
            masked=access.masked, needed=access.needed, moved=access.moved,
            widths=dict(widths.get((access.access, access.line), {})))
            for access in traffic.accesses],
        warps=None if traffic.warps is None else WarpFacts.model_validate(
            {**traffic.warps.model_dump(), "counted": traffic.programs, "cut": traffic.cut,
             "full": traffic.full or traffic.warps.full}))


def good_figures(name: str, root: Path | None = None) -> Figures | None:
    """Return a good kernel's figures, from good.json in the assignment's folder; None if they are absent or cannot be
    read."""
    try:
        return Figures.model_validate_json(((root or home.root()) / "assignments" / name / FACTS).read_bytes())
    except (OSError, ValidationError):
        return None
