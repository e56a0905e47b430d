"""Costs of the sandbox: the start and the end of a worker by level, and a grading of all six assignments by level.

    .venv/bin/python benchmarks/isolation.py [--runs 20]

Prints tables in Markdown. Levels take turns, so that a noisy moment of the machine is no level's alone.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import torch

from benchmarks.grading import processor
from grader.course.catalogue import assignments
from grader.course.course import read_course
from grader.course.submission import find_submissions
from grader.grading.grading import grade
from grader.grading.job import read_job
from grader.home import ROOT
from grader.judging.running import lane
from grader.plan import wire
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.handle import ForkServer
from grader.sandbox.forkserver.isolation import Isolation

T = TypeVar("T")
LIMITS = wire.Limits(memory_mb=1024, file_mb=64, processes=64, cpu_seconds=60)


def main() -> None:
    parser = argparse.ArgumentParser(description="milliseconds of the sandbox by level")
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    torch.set_num_threads(1)
    levels = _levels()
    print(f"{processor()}, {len(os.sched_getaffinity(0))} cores, Linux {platform.release()}, "
          f"Python {platform.python_version()}, torch {torch.__version__}, uid {os.geteuid()}\n")
    print("| level | layers | worker without torch: start, end (ms) | with torch: start, end (ms) "
          "| start beyond level 0 (ms) |")
    print("|---|---|---|---|---|")
    bare, whole = (_workers(levels, runs, bare=True), _workers(levels, runs, bare=False))
    plain = whole[-1][0]
    for level, (bare_start, bare_end), (start, end) in zip(levels, bare, whole, strict=True):
        print(f"| {level} | {level.summary} "
              f"| {bare_start:.1f}, {bare_end:.1f} | {start:.1f}, {end:.1f} | {start - plain:+.1f} |")
    print("\n| level | a submission of all six, warm (s) | against level 0 |\n|---|---|---|")
    seconds = _gradings(levels, max(3, runs // 4))
    for level, measured in zip(levels, seconds, strict=True):
        ratio = statistics.median(run / none for run, none in zip(measured, seconds[-1], strict=True))
        print(f"| {level} | {statistics.median(measured):.2f} | {ratio:.2f} |")


def _levels() -> list[Isolation]:
    """Return every level that this machine offers, the strongest first; the last is none."""
    strongest = isolation.measure()
    levels = {strongest.level: strongest}
    for layers in isolation.weaker(strongest.layers):
        managed, trouble = isolation.probe(layers)
        level = isolation.level(layers, managed)
        if not trouble and level < strongest.level:
            levels[level] = Isolation(level, layers, False, ())
    return [levels[level] for level in sorted(levels, reverse=True)]


def _workers(levels: list[Isolation], runs: int, *, bare: bool) -> list[tuple[float, float]]:
    """Return the median milliseconds to start and to end a worker, for each level."""
    fork_servers = [ForkServer(() if bare else ("triton/planner",), layers=level.layers) for level in levels]
    try:
        times: list[list[tuple[float, float]]] = [[] for _ in levels]
        for _ in range(runs + 1):
            for fork_server, kept in zip(fork_servers, times, strict=True):
                worker, start = _timed(partial(fork_server.spawn, LIMITS, "probe" if bare else "triton/planner"))
                _, end = _timed(worker.kill)
                kept.append((start, end))
    finally:
        for fork_server in fork_servers:
            fork_server.close()
    # The first of each waits for the fork server's imports.
    return [(statistics.median(s for s, _ in kept[1:]), statistics.median(e for _, e in kept[1:])) for kept in times]


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    result = work()
    return result, (time.perf_counter() - started) * 1e3


def _gradings(levels: list[Isolation], runs: int) -> list[list[float]]:
    """Return the seconds to grade the reference solutions, for each level and run."""
    known = assignments()
    course = read_course(ROOT / "course.toml", frozenset(known))
    (submission,) = find_submissions(ROOT / "reference", [a.file for a in known.values()])
    seconds: list[list[float]] = [[] for _ in levels]
    for _ in range(runs):
        for level, kept in zip(levels, seconds, strict=True):
            lane.start_lane(level)
            grade(read_job(submission, course))
            started = time.perf_counter()
            outcome = grade(read_job(submission, course))
            kept.append(time.perf_counter() - started)
            assert outcome.result is not None and outcome.result.score == outcome.result.measured_max, outcome.log
            lane.LANE.close()
    return seconds


if __name__ == "__main__":
    main()
