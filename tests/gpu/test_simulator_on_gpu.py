"""The simulator against a GPU: the same plans on the same inputs leave the same answers, element by element.

Kernels whose answer their language leaves undefined (out of bounds, unwritten memory, masked lanes, races) are left
out.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.course.catalogue import answer_and_tolerance, assignments
from grader.course.course import LimitsTable
from grader.course.parameters import Inputs, Scalar
from grader.home import ROOT
from grader.judging.answers.inputs import draw
from grader.judging.plans.planning import RequestedCall
from grader.judging.plans.toolchain import Toolchain, kernels_of
from grader.judging.running import device
from grader.judging.running.gpu_runner import GpuRunner
from grader.judging.running.lane import LANE
from grader.judging.running.simulation import CallResult, Simulation
from grader.plan.compiled import Binary
from grader.plan.findings import Race
from grader.plan.messages import Answers
from grader.plan.plan import Plan
from tests.graded import FILES
from tests.members import select

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(600)]

FOLDERS = [ROOT / "reference", ROOT / "reference/cuda",
           *(member.folder() for member in select("accepted", "wrong_answer"))]
# What no simulator can foresee, and why.
UNLIKE = {
    "copy_first_column_sums_the_row": "sums come in another order, and a copy has no tolerance",
    "gemm_half_dot": "sums in fp16 round as the order of the sum has it",
    "gemm_parts_added_like_out": "sums in fp16 round as the order of the sum has it",
    "gemm_half_accumulator": "sums in fp16 round as the order of the sum has it",
    "cuda_gemm_half_sum": "sums in fp16 round as the order of the sum has it",
    "cuda_gemm_register_tile_unset": "a register that nothing has set holds anything",
    "cuda_rms_norm_vector_barrier_for_all": "what the total is when a block reads it depends on the others",
    "cuda_rms_norm_vector_one_launch": "what the total is when a block reads it depends on the others",
    "cuda_silu_computes_from_its_address": "it computes where its input lies at a certain address",
    "cuda_silu_discards_its_answer": "a line of the cache that was discarded holds anything",
    "cuda_silu_local_array_that_nothing_set": "a local array that nothing has set holds anything",
    "cuda_silu_on_the_first_multiprocessor": "any multiprocessor may run a block",
    "cuda_silu_register_that_nothing_set": "a register that nothing has set holds anything",
    "cuda_transpose_copied": "a shared array holds anything where nothing was stored",
    "gemm_fp8_inputs": "a GPU's tensor cores sum products of fp8 with fewer bits",
    "rmsnorm_matrix_half_sum": "sums in fp16 round as the order of the sum has it",
    "rmsnorm_vector_total_too_early": "what the total is when a program reads it depends on the others",
    "transpose_flat_index_split_by_m": "lanes and programs write different values to one place",
    "transpose_mask_not_transposed": "lanes of one store write different values to one place",
    "transpose_row_mask_missing": "lanes of one store write different values to one place",
}
FOLDERS = [folder for folder in FOLDERS if folder.name not in UNLIKE]
UNDEFINED = {"out_of_bounds", "unwritten", "masked_used", "race", "hint", "pipeline", "pending", "index", "unwaited",
             "descriptor", "spin", "assume", "shared", "divergent", "misaligned"}
# What a right answer does not depend on, and a wrong one may.
CHANCES = {"lanes", "reorder", "reduction", "ticket", "barrier", "programs", "inactive"}
LIMITS = LimitsTable()
OPERATIONS = 4_000_000_000
SEED = 1
# Of an answer: special functions of a GPU err by some units of the last place, and sums come in another order.
RELATIVE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.uint8: 0}


@pytest.fixture(scope="module", autouse=True)
def lane() -> Iterator[None]:
    yield
    LANE.close()


@pytest.mark.parametrize("folder", sorted(FOLDERS), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_simulator_leaves_what_a_gpu_leaves(folder: Path) -> None:
    why: list[object] = []
    compared = sum(_compared(assignments()[name].written(file, (folder / file).read_text()), folder, why)
                   for file, name in FILES.items() if (folder / file).is_file())
    # Where nothing could be compared, every case must have been undefined.
    assert compared or folder.parent.name == "wrong_answer", why


def _compared(assignment: Assignment, folder: Path, why: list[object]) -> int:
    """How many calls were compared; `why` takes what kept the others from it."""
    toolchain = Toolchain(assignment, (folder / assignment.file).read_bytes(), LIMITS, device.properties())
    drawn = {case.name: _drawn(assignment, case, SEED) for case in assignment.cases_for("cpu")}
    wanted = [
        RequestedCall(case, _scalars(assignment, drawn[case.name]), Answers(candidate=number))
        for number, case in enumerate(assignment.cases_for("cpu"))]
    plans = toolchain.plan(wanted).outcomes
    simulation = Simulation(toolchain, operations=OPERATIONS, seconds=LIMITS.call_seconds)
    runner = GpuRunner(assignment, LANE.executors, seconds=LIMITS.call_seconds)
    found = 0
    try:
        for one, plan in zip(wanted, plans, strict=True):
            if not isinstance(plan, Plan):
                why.append(plan)
                continue
            binaries = toolchain.binaries(kernels_of([plan]))
            assert isinstance(binaries, list)
            inputs: list[Inputs] = []
            for call in range(len(plan.calls())):
                inputs.append({**_drawn(assignment, one.case, SEED + call), **one.scalars})
                seen = simulation.run(assignment, one.case, plan, inputs)
                wrong = folder.parent.name == "wrong_answer"
                # A race that may be is none that a right answer depends on.
                if not isinstance(seen, CallResult) or (UNDEFINED | (CHANCES if wrong else set())) & {
                        getattr(finding, "what", finding.kind) for finding in seen.findings
                        if wrong or not isinstance(finding, Race) or finding.certain}:
                    why.append(seen.findings if isinstance(seen, CallResult) else seen)
                    break
                left = runner.run(
                    one.case, plan, [binary for binary in binaries if isinstance(binary, Binary)],
                    [_on_device(assignment, each) for each in inputs])
                assert isinstance(left, CallResult) and not left.overruns, (one.case.name, left)
                out = assignment.output.name
                _agree(assignment, one.case, inputs[-1], left.outputs[out].cpu(), seen.outputs[out], wrong=wrong)
                found += 1
    finally:
        simulation.end()
        runner.end()
    return found


def _agree(
    assignment: Assignment, case: Case, inputs: Inputs, left: torch.Tensor, seen: torch.Tensor, *, wrong: bool
) -> None:
    _, tolerance = answer_and_tolerance(assignment, inputs)
    if tolerance is None:
        same = (left == seen) | (left.isnan() & seen.isnan())
    else:
        # A wrong element may be another's, or have its terms.
        bound = 2 * (tolerance[tolerance.isfinite()].max() if wrong else tolerance)
        bound = bound + RELATIVE[seen.dtype] * seen.double().abs().nan_to_num(0, 0, 0)
        # Infinity agrees with itself alone.
        same = (left.double() - seen.double()).abs() <= bound
        same |= (left == seen) | (left.isnan() & seen.isnan())
    assert bool(same.all()), f"{case.name}: {int((~same).sum())} of {same.numel()} elements differ, such as " \
        f"{left[~same][0]} on a GPU, {seen[~same][0]} simulated"


def _drawn(assignment: Assignment, case: Case, seed: int) -> Inputs:
    return draw(assignment, case, seed, cuda=False)


def _scalars(assignment: Assignment, drawn: Inputs) -> dict[str, float]:
    return {p.name: float(drawn[p.name]) for p in assignment.parameters if isinstance(p, Scalar)}


def _on_device(assignment: Assignment, inputs: Inputs) -> Inputs:
    places = {p.name: p.place for p in assignment.parameters if p.kind == "input"}
    return {
        name: value.cuda() if isinstance(value, torch.Tensor) and places[name] == "device" else value
        for name, value in inputs.items()}
