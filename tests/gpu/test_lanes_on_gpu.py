"""A lane sees its own GPU alone, and a grade does not depend on the lane."""

import os
from pathlib import Path

import pytest

from grader.course.course import Course
from grader.course.submission import Submission
from grader.grading import gpus
from grader.grading.gpus import GpuCard
from grader.grading.job import draw_seed, read_job
from grader.grading.lanes import LocalLanes
from grader.home import ROOT

pytestmark = [pytest.mark.gpu, pytest.mark.alone, pytest.mark.timeout(600)]

CARDS = gpus.present()
# Of two measurements of one kernel.
RATIO = 0.01


def seen() -> tuple[int, str]:
    import torch

    return torch.cuda.device_count(), torch.cuda.get_device_name()


@pytest.mark.parametrize("gpu", CARDS, ids=lambda gpu: f"gpu-{gpu.number}")
def test_a_lane_sees_its_own_gpu_alone(gpu: GpuCard) -> None:
    with LocalLanes([gpu.environment]) as lanes:
        assert lanes.ask(os.getenv, "CUDA_VISIBLE_DEVICES").result() == gpu.environment["CUDA_VISIBLE_DEVICES"]
        assert lanes.ask(seen).result() == (1, gpu.name)


def test_a_grade_does_not_depend_on_the_lane(tmp_path: Path) -> None:
    """The same submission in every lane of every GPU at once, and in one alone: ratios within 1 %, points the same."""
    environments = gpus.lanes(CARDS, tmp_path)
    if len(environments) < 2:
        pytest.skip("one GPU, with one lane")
    course, folder, seed = Course(), ROOT / "reference", draw_seed()
    jobs = [read_job(Submission(f"student-{number}", folder, f"student-{number}"), course,
                     ("silu", "transpose", "gemm"), "cuda", seed=seed) for number in range(len(environments))]
    with LocalLanes(environments) as lanes:
        outcomes = [*lanes.grade(jobs, len(environments)), *lanes.grade(jobs[:1], 1)]
    results = [outcome.result for outcome in outcomes]
    alone = results.pop()
    assert alone is not None
    for result in results:
        assert result is not None and result.score == alone.score
        for name, assignment in alone.assignments.items():
            timings = zip(assignment.performance.timings, result.assignments[name].performance.timings, strict=True)
            for timing, same in timings:
                assert same.speedup.median == pytest.approx(timing.speedup.median, rel=RATIO), (name, timing.case)
