"""What the compiler and the memory system see of a call's launches, without a GPU: facts, and no judgement."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from grader.assignment import Assignment, Case
from grader.catalogue import ROOT
from grader.forkserver.conversation import Lost
from grader.forkserver.handle import InfrastructureError
from grader.judge.planning import Unplanned
from grader.judge.preparing import Preparing
from grader.judge.simulation import Simulation
from grader.launched import AccessFacts, Figures, Inspection, LaunchFacts
from grader.plan.compiled import Binary
from grader.plan.device import TARGETS, resident
from grader.plan.messages import Simulated
from grader.plan.plan import Plan
from grader.plan.traffic import Launched, Watch

# Of each launch: more tell nothing new.
PROGRAMS = 64
# Element operations of a run beside a grading: half a second.
OPERATIONS = 120_000_000
# Bytes of what the submission makes beside its arguments, which take memory and time.
MOST_TEMPORARY = 256 << 20
WARP = 32
FACTS = "good.json"


def inspect_timed(
    assignment: Assignment, plans: Mapping[tuple[str, bool], Plan | Unplanned], preparing: Preparing,
    simulation: Simulation,
) -> Inspection | None:
    """The facts of the first timed case, of plans by the case's name and whether they are for a simulator. None where
    they are not to be had, which costs nothing."""
    case = next(iter(assignment.timed), None)
    plan = None if case is None else plans.get((case.name, False))
    if case is None or not isinstance(plan, Plan):
        return None
    with contextlib.suppress(InfrastructureError):
        found = preparing.binaries(plan.kernels)
        binaries = [] if isinstance(found, Lost) else [one for one in found if isinstance(one, Binary)]
        if len(binaries) == len(plan.kernels):
            return inspect(assignment, case, plan, binaries, simulation, preparing.target)[0]
    return None


def inspect(
    assignment: Assignment, case: Case, plan: Plan, binaries: Sequence[Binary], simulation: Simulation, target: str,
    *, operations: int = OPERATIONS,
) -> tuple[Inspection | None, Simulated | None]:
    """The facts of a case's first call, whose plan has these kernels as machine code, and what was seen besides. Both
    None where a simulator cannot run it. Raises InfrastructureError."""
    if sum(buffer.bytes for buffer in plan.buffers if not buffer.given) > MOST_TEMPORARY:
        return None, None
    seen = simulation.inspect(assignment, case, plan, Watch(programs=PROGRAMS), operations=operations)
    if seen is None:
        return None, None
    launches = [_launch(one, plan, binaries[one.kernel], target) for one in seen.launched
                if one.kernel < len(binaries)]
    many = TARGETS[target].multi_processor_count if target in TARGETS else 0
    # Those that are kept are of the first case that is timed.
    good = good_figures(assignment.name) if case == assignment.timed[0] else None
    return Inspection(
        case=case.name, sizes=case.sizes, target=target, multiprocessors=many, launches=launches,
        good=good if good is not None and good.target == target else None), seen


def _launch(one: Launched, plan: Plan, binary: Binary, target: str) -> LaunchFacts:
    kernel, facts = plan.kernels[one.kernel], binary.facts
    threads = WARP * kernel.options.num_warps
    holds, bound = (0, "")
    share = 0.0
    if target in TARGETS:
        holds, bound = resident(TARGETS[target], threads, facts.registers, facts.shared)
        share = holds * threads / TARGETS[target].max_threads_per_multi_processor
    widths: dict[tuple[str, int], Counter[int]] = {}
    for width in facts.lines:
        widths.setdefault((width.access, width.line), Counter())[width.bits] += width.count
    return LaunchFacts(
        kernel=kernel.name, line=one.line, grid=list(one.grid), counted=one.programs, cut=one.cut, threads=threads,
        registers=facts.registers, spills=facts.spills, shared=facts.shared, tensor_cores=facts.tensor_cores,
        copies=facts.copies, products="tt.dot" in kernel.ttir, resident=holds, bound=bound, occupancy=round(share, 4),
        accesses=[AccessFacts(
            access=each.access, line=each.line, tensor=each.given or each.tensor, lanes=each.lanes, masked=each.masked,
            needed=each.needed, moved=each.moved, widths=dict(widths.get((each.access, each.line), {})))
            for each in one.accesses])


def good_figures(name: str, root: Path = ROOT) -> Figures | None:
    """The figures of a good kernel that are kept with the assignment; None where there are none that can be read."""
    try:
        return Figures.model_validate_json((root / "assignments" / name / FACTS).read_bytes())
    except (OSError, ValidationError):
        return None
