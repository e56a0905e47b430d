"""Costs of a grading: a submission cold and warm, a class of 20, peak memory, and the seconds of each step.

    .venv/bin/python -m benchmarks.grading [--students 20] [--device cuda] [--folder reference/cuda]
    cd examples/llm && PYTHONPATH=../.. ../../.venv/bin/python -m benchmarks.grading --students 0

Prints a table in Markdown. Times are wall clock in seconds on the machine named in the first line. On a GPU speed is
measured too, and there is one lane.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import torch

from grader import home
from grader.course.catalogue import assignments
from grader.course.course import read_course
from grader.course.submission import find_submissions
from grader.grading.grading import grade
from grader.grading.job import read_job
from grader.judging import judge, prepared
from grader.judging.answers import answers, inputs
from grader.judging.evidence import large
from grader.judging.plans import toolchain
from grader.judging.running import execution, simulation
from grader.judging.running.lane import LANE
from grader.judging.speed.pool import Pool

SAMPLE_SECONDS = 0.2


def main() -> None:
    parser = argparse.ArgumentParser(description="seconds and memory of a grading")
    parser.add_argument("--students", type=int, default=20)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--folder", type=Path, default=home.root() / "reference",
                        help="a submission of all assignments of the course, which is that of the working directory")
    options = parser.parse_args()
    students, device, folder = options.students, options.device, options.folder
    gpu = f", {torch.cuda.get_device_name()}" if device == "cuda" else ""
    print(f"{processor()}{gpu}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}")
    print("\n| what | seconds |\n|---|---|")
    for name, seconds in _one_submission(device, folder):
        print(f"| {name} | {seconds:.3g} |", flush=True)
    if not students:
        return
    print(f"\n| class of {students} | seconds | peak memory, all processes (GiB) |\n|---|---|---|")
    for jobs in (1, 2) if device == "cpu" else (1,):
        seconds, peak = _class(students, jobs, device, folder)
        print(f"| --jobs {jobs} | {seconds:.1f} | {peak / 2**30:.2f} |")


def processor() -> str:
    """Return the processor's name."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _one_submission(device: str, folder: Path) -> Iterator[tuple[str, float]]:
    """Grade a folder's solutions as a student's, in this process; yield each step with its seconds."""
    known = assignments()
    course = read_course(home.file(), frozenset(known))
    (submission,) = find_submissions(folder, [a.file for a in known.values()])
    job = read_job(submission, course, only=course.assignments or (), device=device)

    started = time.perf_counter()
    LANE.open(gpu=device == "cuda")
    versions = LANE.fork_server.handle.ready
    yield f"a lane: import torch {versions.torch} and triton {versions.triton}", time.perf_counter() - started
    started = time.perf_counter()
    grade(job)
    first = time.perf_counter() - started
    yield "a submission of all assignments, first in its lane", first
    if device == "cuda":
        started = time.perf_counter()
        grade(replace(job, speed=False))
        yield "its answers alone (warm)", time.perf_counter() - started
    sources = {name: replace(source, content=(source.content or b"") + b"\n")
               for name, source in job.handed_in.sources.items()}
    started = time.perf_counter()
    grade(replace(job, handed_in=replace(job.handed_in, sources=sources)))
    yield "the same with an empty line more in each file (CUDA C++ is built anew)", time.perf_counter() - started
    with _clocked() as spent:
        started = time.perf_counter()
        graded = grade(job)
        total = time.perf_counter() - started
    assert graded.result is not None, graded.error
    for result in graded.result.assignments.values():
        assert result.verdict == "accepted" and (device == "cpu" or result.performance.status == "measured"), graded.log
    yield "the same again (warm)", total
    for name, seconds in spent.items():
        if seconds:
            yield f"– of which {name}", seconds
    for name, result in graded.result.assignments.items():
        yield f"– {name}", result.seconds
    timings = [timing for result in graded.result.assignments.values() for timing in result.performance.timings]
    if timings:
        replays = sum(2 * len(t.ratios) * t.slots * (t.student_us + t.baseline_us) for t in timings)
        yield "at the least: the replays that were counted", replays / 1e6
    yield "maximum resident set of this process (GiB)", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    LANE.close()


@contextmanager
def _clocked() -> Iterator[dict[str, float]]:
    """Add up the seconds spent in the judge's steps until the block ends."""
    steps = (
        (toolchain.Toolchain, "built", "waiting for files to be built"),
        (toolchain.Toolchain, "plan", "planning, planners' start and end included"),
        (toolchain, "compile_kernels", "compiling for the GPU"),
        (toolchain, "canonical_texts", "planning: texts parsed and printed"),
        (simulation.Simulation, "run", "simulating, simulators' start included"),
        (prepared, "inspect_timed", "inspecting a timed case, for its facts"),
        (large, "sample_case", "sampling large sizes"),
        (execution.Executors, "take", "starting executors"),
        (execution.Executor, "run", "kernels on the GPU"),
        (answers, "answers", "oracle"),
        (answers, "compare", "comparing"),
        (inputs.Draws, "inputs", "making inputs"),
        (judge, "time_case", "speed"),
        (execution.Executor, "replay", "speed: replays"),
        (execution.Executor, "capture", "speed: capturing graphs"),
        (Pool, "draw", "speed: new contents"),
        (Pool, "check", "speed: answers checked"),
    )
    spent = {name: 0.0 for *_, name in steps}
    kept = [(owner, method, getattr(owner, method)) for owner, method, _ in steps]
    for owner, method, name in steps:
        def clocked(
            *args: object, _inner: object = getattr(owner, method), _name: str = name, **named: object
        ) -> object:
            started = time.perf_counter()
            try:
                return _inner(*args, **named)  # type: ignore[operator]
            finally:
                spent[_name] += time.perf_counter() - started
        setattr(owner, method, clocked)
    try:
        yield spent
    finally:
        for owner, method, inner in kept:
            setattr(owner, method, inner)


def _class(students: int, jobs: int, device: str, of: Path) -> tuple[float, int]:
    """Grade copies of a folder as `students` students by the command line. Return seconds, and peak memory in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(students):
            shutil.copytree(of, Path(folder, "class", f"student{number:02}"),
                            ignore=shutil.ignore_patterns("__pycache__"))
        command = [sys.executable, "-m", "grader", "grade", f"{folder}/class", "--out", f"{folder}/out",
                   "--jobs", str(jobs), "--device", device, "--allow-degraded"]
        return watched(command)


def watched(command: Sequence[str | Path]) -> tuple[float, int]:
    """Run a command, which must succeed. Return its seconds, and the peak memory of its process tree in bytes."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=home.root(), stdout=subprocess.DEVNULL)
    peak, over = [0], Event()
    watch = Thread(target=_watch, args=(process.pid, peak, over))
    watch.start()
    code = process.wait()
    seconds = time.perf_counter() - started
    over.set()
    watch.join()
    assert code == 0, code
    return seconds, peak[0]


def _watch(root: int, peak: list[int], over: Event) -> None:
    """Sample the proportional set size (shared pages counted once) of a process tree."""
    while not over.wait(SAMPLE_SECONDS):
        peak[0] = max(peak[0], sum(map(_pss, _tree(root))))


def _tree(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry))
    members, queue = [root], [root]
    while queue:
        below = children.get(queue.pop(), [])
        members += below
        queue += below
    return members


def _pss(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


if __name__ == "__main__":
    main()
