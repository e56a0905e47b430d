"""A generation of GPUs is a row of one table, and a new one takes no more."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from grader.course.catalogue import assignments
from grader.course.course import read_course
from grader.course.submission import find_submissions
from grader.grading.grading import grade
from grader.grading.job import read_job
from grader.home import ROOT
from grader.judging.plans.planning import RequestedCall
from grader.judging.plans.toolchain import Toolchain
from grader.judging.running.lane import LANE
from grader.plan import device
from grader.plan.compiled import Binary
from grader.plan.device import (
    BY_TARGET,
    DEFAULT_TARGET,
    GENERATIONS,
    TARGETS,
    better_cores,
    tensor_cores,
    with_features,
)
from grader.plan.plan import Plan
from tests import copied

# A GPU of now, but for the programs that a multiprocessor holds, which show that it is this row that is read.
ROW = '''    Generation(
        granule=16, clusters=True, max_blocks_per_multiprocessor=4, tensor_cores=NEWER,
        device=Device(
            name="NVIDIA B300", major=10, minor=3, multi_processor_count=148, total_memory=270 << 30,
            l2_cache_size=126 << 20, shared_memory_per_block_optin=232_448,
            shared_memory_per_multiprocessor=233_472)),
)  # fmt: skip
'''
CORES = 'NEWER = TensorCores("newer", "tcgen05.mma.", takes="tiles of 128 rows")\nTENSOR_CORES = (NEWER, '
# Plans and simulates all cases, compiles what they launch, and inspects the timed one; then a product of matrices,
# whose tensor cores are this generation's own.
PROGRAM = '''
import json
from pathlib import Path

from grader.judging.running.lane import LANE
from grader.judging.plans.toolchain import Toolchain, RequestedCall
from grader.course.catalogue import assignments
from grader.course.course import read_course
from grader.grading.job import read_job
from grader.course.submission import find_submissions
from grader.plan import device
from grader.plan.device import TARGETS
from grader.grading.grading import grade

course = read_course(Path("course.toml"), frozenset(assignments()))
(submission,) = find_submissions(Path("reference"), [one.file for one in assignments().values()])
silu = grade(read_job(submission, course, ("silu",))).result.assignments["silu"]

gemm = assignments()["gemm"]
toolchain = Toolchain(gemm, Path("reference/gemm.py").read_bytes(), course.limits, TARGETS["sm_103"])
plan = toolchain.plan([RequestedCall(gemm.timed[0], {})]).outcomes[0]
product = toolchain.binaries(plan.kernels)[0].facts.tensor_cores
LANE.close()
print(json.dumps({
    "verdict": silu.verdict, "target": silu.inspection.target, "multiprocessors": silu.inspection.multiprocessors,
    "resident": silu.inspection.launches[0].resident, "bound": silu.inspection.launches[0].bound,
    "product": product}))
'''


def test_a_new_generation_is_a_row(tmp_path: Path) -> None:
    copied.copy(tmp_path, "assignments", "reference", "calibration")
    copied.changed(tmp_path, "grader/plan/device.py", ")  # fmt: skip\n", ROW)
    copied.changed(tmp_path, "grader/plan/device.py", "TENSOR_CORES = (", CORES)
    course = (ROOT / "course.toml").read_text(encoding="utf-8")
    (tmp_path / "course.toml").write_text(course.replace('target = "sm_90"', 'target = "sm_103"'), encoding="utf-8")
    data = json.loads(copied.run(tmp_path, PROGRAM))
    assert data == {"verdict": "accepted", "target": "sm_103", "multiprocessors": 148, "resident": 4,
                    "bound": "the number of programs", "product": "newer"}


@pytest.mark.parametrize(("target", "resident"), [("sm_100", 8), ("sm_121", 6)])
def test_references_compile_for_each_generation_and_are_simulated(target: str, resident: int) -> None:
    gemm = assignments()["gemm"]
    course = read_course(ROOT / "course.toml", frozenset(assignments()))
    toolchain = Toolchain(gemm, (ROOT / "reference/gemm.py").read_bytes(), course.limits, TARGETS[target])
    (plan,) = toolchain.plan([RequestedCall(gemm.timed[0], {})]).outcomes
    assert isinstance(plan, Plan), plan
    made = toolchain.binaries(plan.kernels)
    LANE.close()
    assert isinstance(made, list)
    (product,) = made
    assert isinstance(product, Binary) and product.facts.tensor_cores == BY_TARGET[target].tensor_cores.name
    (submission,) = find_submissions(ROOT / "reference", ["silu.py"])
    course = course.model_copy(update={"gpu": course.gpu.model_copy(update={"target": target})})
    result = grade(read_job(submission, course, ("silu",))).result
    assert result is not None
    silu = result.assignments["silu"]
    assert silu.verdict == "accepted" and silu.inspection is not None
    (launch,) = silu.inspection.launches
    assert (silu.inspection.target, launch.resident, launch.bound) == (target, resident, "threads")



@pytest.mark.parametrize(("capability", "target"), [
    ((7, 5), "sm_80"), ((8, 0), "sm_80"), ((8, 9), "sm_80"), ((9, 0), "sm_90"), ((99, 0), [*BY_TARGET][-1])])
def test_a_device_that_is_in_no_row_is_of_the_newest_generation_before_it(
    capability: tuple[int, int], target: str
) -> None:
    major, minor = capability
    found = TARGETS["sm_90"].model_copy(update={"major": major, "minor": minor})
    assert found.generation is BY_TARGET[target]


def test_rows_go_from_the_oldest_and_the_course_names_them() -> None:
    assert all(before.capability < after.capability for before, after in pairwise(GENERATIONS))
    course = (ROOT / "course.toml").read_text(encoding="utf-8")
    assert DEFAULT_TARGET in TARGETS and all(f'"{target}" (' in course for target in TARGETS)


def test_newer_tensor_cores_are_named_where_the_target_has_them() -> None:
    assert tensor_cores("mma.sync.aligned wgmma.mma_async.sync") == "wgmma"
    assert (tensor_cores("mma.sync.aligned"), tensor_cores("fma.rn")) == ("mma", "none")
    cores = better_cores("sm_90", "mma")
    assert cores is not None and cores.name == "wgmma"
    for target, used in (("sm_90", "wgmma"), ("sm_90", "none"), ("sm_80", "mma"), ("sm_120", "mma")):
        assert better_cores(target, used) is None


def test_a_newer_generation_may_share_tensor_cores_or_have_slower_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    ampere = BY_TARGET["sm_80"]
    ada, consumer = (replace(ampere, device=ampere.device.model_copy(update={"major": major, "minor": 9}))
                     for major in (8, 12))
    monkeypatch.setattr(device, "BY_TARGET", {**BY_TARGET, "sm_89": ada, "sm_129": consumer})
    assert {better_cores(target, "mma") for target in ("sm_80", "sm_89", "sm_129")} == {None}
    assert tensor_cores("mma.sync wgmma.mma_async") == "wgmma"


def test_features_that_one_generation_alone_has() -> None:
    assert [with_features(target) for target in ("sm_80", "sm_89", "sm_90", "sm_100", "sm_120")] == [
        "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"]
