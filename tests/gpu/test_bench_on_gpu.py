"""A sweep times every kernel at every size, a wrong one at none; what PyTorch launches; what NVIDIA's tools see."""

import shutil
from collections.abc import Iterator

import pytest

from grader.course.assignment import Assignment
from grader.course.cases import TimedCase
from grader.course.catalogue import assignments
from grader.course.course import Course
from grader.course.submission import Source, Submission
from grader.grading import profilers
from grader.grading.job import read_job
from grader.grading.lanes import grade_in_lane
from grader.grading.sweep import launched_kernels, sweep
from grader.home import ROOT
from grader.judging.running.lane import LANE
from tests.members import Member

pytestmark = [pytest.mark.gpu, pytest.mark.alone, pytest.mark.timeout(600)]

SMALL = TimedCase(name="1024x1024", sizes={"M": 1024, "N": 1024})
KERNEL = Source(content=(ROOT / "reference/silu.py").read_bytes())
IN_CUDA = Source(content=(ROOT / "reference/cuda/silu.cu").read_bytes(), file="silu.cu")
PAST_THE_END = Source(content=Member("runtime_error/silu_missing_mask").source.encode())


@pytest.fixture(scope="module", autouse=True)
def lane() -> Iterator[None]:
    LANE.open()
    yield
    LANE.close()


@pytest.fixture(scope="module")
def silu() -> Assignment:
    return assignments()["silu"].model_copy(update={"timed": (SMALL,)})


def test_every_size_of_a_sweep_has_every_time(silu: Assignment) -> None:
    told: list[str] = []
    found = sweep(silu, KERNEL, Course(), told.append)
    assert [point.sizes["M"] for point in found.points] == [384, 512, 768, 1024] and found.unit == "GB/s"
    for point in found.points:
        times = (point.student_us, point.baseline_us, point.compiled_us, point.reference_us, point.roof_us)
        assert all(time is not None and time > 0 for time in times) and not point.trouble, point
    # Of the kernel, and of the reference.
    assert told == [f"{n}x{n}" for n in (384, 512, 768, 1024)] * 2


def test_a_wrong_kernel_has_no_time_and_says_why(silu: Assignment) -> None:
    found = sweep(silu.model_copy(update={"timed": (SMALL.model_copy(update={"sizes": {"M": 1023, "N": 1021}}),)}),
                  PAST_THE_END, Course())
    for point in found.points:
        assert point.student_us is None and point.trouble and point.reference_us, point


def test_what_pytorch_launches_is_named(silu: Assignment) -> None:
    (eager, *_), compiled = launched_kernels(silu, SMALL, "eager"), launched_kernels(silu, SMALL, "compiled")
    assert "elementwise" in eager.name and eager.share > 0.5 and eager.count >= 1
    assert any(kernel.name.startswith("triton_") for kernel in compiled)
    assert sum(kernel.share for kernel in compiled) == pytest.approx(1)


@pytest.mark.skipif(shutil.which("ncu") is None, reason="ncu is not installed")
@pytest.mark.parametrize("kernel", [KERNEL, IN_CUDA], ids=["triton", "cuda"])
def test_counters_are_those_of_the_plans_kernels(silu: Assignment, kernel: Source) -> None:
    with profilers.recorded(silu.written(kernel.file or silu.file), SMALL, kernel, Course()) as path:
        assert not isinstance(path, profilers.ToolFailure)
        found = profilers.counters(path)
    if isinstance(found, profilers.ToolFailure):
        pytest.skip(found.message)
    (profile,) = found
    assert "silu" in profile.kernel and profile.microseconds and profile.occupancy and profile.moved
    assert profile.microseconds > 0 and 0 < profile.occupancy <= 100
    # It reads 4 MiB; what it writes may still be in the cache.
    assert 4 << 20 <= profile.moved < 20 << 20


@pytest.mark.skipif(shutil.which("ncu") is None, reason="ncu is not installed")
def test_a_right_kernel_is_profiled_and_its_report_comes_along() -> None:
    job = read_job(Submission("ada", ROOT / "reference", "ada"), Course(), ("silu",), "cuda", profile=True)
    outcome = grade_in_lane(job)
    profile = outcome.profile
    assert profile is not None
    if "ERR_NVGPUCTRPERM" in profile.trouble:
        pytest.skip(profile.trouble)
    assert profile.trouble == "", outcome.log
    (launch,) = profile.launches
    assert launch.microseconds and launch.moved and launch.dram and launch.sm and launch.occupancy
    assert launch.stalls and sum(launch.stalls.values()) == pytest.approx(100)
    assert len(profile.report) > 10_000


@pytest.mark.skipif(shutil.which("compute-sanitizer") is None, reason="compute-sanitizer is not installed")
@pytest.mark.parametrize(("source", "bad"), [(KERNEL, False), (PAST_THE_END, True)])
def test_a_checker_of_memory_finds_what_lies_outside(source: Source, bad: bool) -> None:
    case = next(case for case in assignments()["silu"].cases if case.name == "67x127-extreme")
    with profilers.recorded(assignments()["silu"], case, source, Course()) as path:
        assert not isinstance(path, profilers.ToolFailure), path
        found = profilers.findings(path)
    if isinstance(found, profilers.ToolFailure):
        pytest.skip(found.message)
    assert any(one.startswith("Invalid __global__") for one in found) == bad
