"""Repeatability of a grade: the speed of our reference, measured many times, by thresholds far off and near.

    .venv/bin/python -m benchmarks.repeatability [--runs 50] [--only silu] [--cases 1] [--thresholds usual,near]
        [--hog none|cpu|gpu|lane]

Every run plans, compiles and times each timed case, as in a grading. Near thresholds are measured
where the reference's ratio lies between two percents of the points, "edge"; "near" are the points of the same times
with a target that is just that ratio, and "again" is the edge with the share before known, as when a submission is
graded again into the same folder. `--hog` has other programs at work, on every core or on the GPU, strangers to the
grader, or another lane that grades the reference all the time and shares the GPU's lock; `--cases` leaves timed cases
out. Prints a Markdown table, of the runs so far when interrupted.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import triton

from grader.course import catalogue
from grader.course.assignment import Assignment
from grader.course.course import Course, Threshold, read_course
from grader.errors import InfrastructureError
from grader.grading.calibrate import time_cases
from grader.home import ROOT
from grader.judging.running.gpu_lock import GPU_LOCK
from grader.judging.running.lane import LANE
from grader.judging.speed.fitness import take, uuid_of
from grader.results.estimate import Estimate, combine, points_share
from grader.results.result import Timing

# Share of the target, as in the course's own tables.
FLOOR_SHARE = 0.3
TRIALS = 3

# Its starter has ended, so it is no child of a process that the grader knows.
STARTER = """
import subprocess, sys
nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
print(subprocess.Popen([sys.executable, "-c", sys.argv[1]], start_new_session=True, **nowhere).pid)
"""
CPU_HOG = "while True: pass"
GPU_HOG = """
import time, torch
a = torch.randn(2048, 2048, device="cuda")
while True:
    for _ in range(20):
        a @ a
    torch.cuda.synchronize()
    time.sleep(0.2)
"""


LANE_HOG = """
import itertools
from grader.course.course import Course
from grader.course.submission import Submission
from grader.grading.job import read_job
from grader.grading.lanes import LocalLanes
from grader.home import ROOT

def jobs():
    for seed in itertools.count():
        yield read_job(Submission("hog", ROOT / "reference", "hog"), Course(), NAMES, "cuda", seed=seed)

NAMES = ("silu", "rmsnorm_vector", "rmsnorm_matrix", "copy_first_column", "transpose", "gemm")
with LocalLanes([{"CUDA_VISIBLE_DEVICES": "0"}]) as lanes:
    for outcome in lanes.grade(jobs(), 1):
        print(outcome.error or outcome.result.seconds, flush=True)
"""
HOGS = {"none": "nothing", "cpu": "a program on every core", "gpu": "another program on the GPU",
        "lane": "another lane on the GPU"}


def main() -> None:
    parser = argparse.ArgumentParser(description="spread of ratio and points over many gradings of the same code")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--only", default="silu")
    parser.add_argument("--cases", type=int, default=2)
    parser.add_argument("--thresholds", default="usual,near")
    parser.add_argument("--hog", choices=HOGS, default="none", help="what else is at work")
    options = parser.parse_args()
    course = read_course(ROOT / "course.toml", frozenset(catalogue.assignments()))
    state = take(uuid_of())
    print(f"{torch.cuda.get_device_name()}, SM {state.sm_mhz} MHz, {state.celsius} °C, "
          f"{len(os.sched_getaffinity(0))} cores, torch {torch.__version__}, triton {triton.__version__}, "
          f"Python {platform.python_version()}, isolation {LANE.isolation}; "
          f"also at work: {HOGS[options.hog]}\n")
    print("| submission | thresholds | runs | not measured | ratio | standard deviation | lowest to highest "
          "| blocks a case | seconds a run | points of 40 |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with _hogs(options.hog) if options.hog != "lane" else _beside_lane():
        for name in options.only.split(","):
            assignment = catalogue.assignments()[name]
            few = assignment.model_copy(update={"timed": assignment.timed[: options.cases]})
            _assignment(few, course, options.runs, options.thresholds.split(","))
    LANE.close()


def _assignment(assignment: Assignment, course: Course, runs: int, wanted: list[str]) -> None:
    usual = course.threshold_of(assignment.name)
    first = [timings for timings in (_timings(assignment, course, usual) for _ in range(TRIALS)) if timings]
    ratio = statistics.median(_estimate(timings).median for timings in first) if first else usual.target
    near = Threshold(floor=FLOOR_SHARE * ratio, target=ratio)
    # The share is then 90.5 steps of 100.
    edge = Threshold(floor=FLOOR_SHARE * ratio, target=ratio * (FLOOR_SHARE + (1 - FLOOR_SHARE) / 0.905))
    points = course.points_of(assignment.name)
    for which, threshold in (("usual", usual), ("near", edge)):
        if which not in wanted:
            continue
        started, measured, failed, stopped = time.monotonic(), list[list[Timing]](), 0, False
        try:
            for _ in range(runs):
                timings = _timings(assignment, course, threshold)
                measured += [timings] if timings else []
                failed += not timings
        except KeyboardInterrupt:
            stopped = True
        seconds = (time.monotonic() - started) / max(1, len(measured) + failed)
        given = {"the course's": usual} if which == "usual" else {"near": near, "edge": edge}
        for kind, applied in given.items():
            shares = [points_share(_estimate(timings), applied.floor, applied.target) for timings in measured]
            _row(assignment.name, kind, measured, failed, seconds, [round(s * points.performance, 2) for s in shares])
        if which == "near":
            previous, kept = None, []
            for timings in measured:
                previous = points_share(_estimate(timings), edge.floor, edge.target, previous=previous)
                kept.append(round(previous * points.performance, 2))
            _row(assignment.name, "edge, again", measured, failed, seconds, kept)
        if stopped:
            raise KeyboardInterrupt


def _row(name: str, kind: str, measured: list[list[Timing]], failed: int, seconds: float, given: list[float]) -> None:
    if len(measured) < 2:
        print(f"| reference {name} | {kind} | {len(measured) + failed} | {failed} | – | – | – | – | "
              f"{seconds:.1f} | – |", flush=True)
        return
    ratios = [_estimate(timings).median for timings in measured]
    middle = statistics.median(ratios)
    blocks = statistics.mean(len(timing.ratios) for timings in measured for timing in timings)
    counted = ", ".join(f"{value:g} in {count}" for value, count in Counter(given).most_common())
    print(f"| reference {name} | {kind} | {len(measured) + failed} | {failed} | {middle:.4f} "
          f"| {statistics.stdev(ratios) / middle:.2%} | {min(ratios):.4f} to {max(ratios):.4f} | {blocks:.1f} "
          f"| {seconds:.1f} | {counted} |", flush=True)


def _estimate(timings: list[Timing]) -> Estimate:
    return combine([timing.ratios for timing in timings])


def _timings(assignment: Assignment, course: Course, threshold: Threshold) -> list[Timing] | None:
    """Return one grading's timed cases; None if the machine is unfit, which costs nobody points."""
    thresholds = course.thresholds.model_copy(update={"assignments": {assignment.name: threshold}})
    try:
        return time_cases(assignment, course.model_copy(update={"thresholds": thresholds}),
                          ROOT / "reference" / assignment.file)
    except InfrastructureError as error:
        print(f"not measured: {error}", file=sys.stderr)
        return None


@contextmanager
def _beside_lane() -> Iterator[None]:
    """Have another lane at work on the GPU, from the end of its first grading."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[GPU_LOCK] = f"{folder}/gpu"
        with subprocess.Popen([sys.executable, "-c", LANE_HOG], stdout=subprocess.PIPE, text=True) as hog:
            try:
                assert hog.stdout is not None
                print(f"the other lane's first grading took {hog.stdout.readline().strip()} s", file=sys.stderr)
                yield
            finally:
                hog.terminate()
                del os.environ[GPU_LOCK]


@contextmanager
def _hogs(wanted: str) -> Iterator[None]:
    programs = {"none": [], "cpu": [CPU_HOG] * len(os.sched_getaffinity(0)), "gpu": [GPU_HOG]}[wanted]
    started = [
        int(subprocess.run([sys.executable, "-c", STARTER, program], capture_output=True, check=True).stdout)
        for program in programs]
    try:
        yield
    finally:
        for pid in started:
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
