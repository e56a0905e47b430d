"""Submissions an hour by the number of lanes: without a GPU, processes of this command, or lanes that joined a
scheduler on the loopback; or one lane on each GPU, speed included.

    .venv/bin/python -m benchmarks.lanes [--sizes 10,50] [--lanes 1,2]
    .venv/bin/python -m benchmarks.lanes --sizes 8,32 --gpus 1,2,4

Prints a table in Markdown. Students are those of `benchmarks.class`. The rate is that of the larger size beyond the
smaller, so the command's start does not count. Processor time is given for the cluster's command alone: it bounds the
number of lanes that it can supply.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from benchmarks.grading import processor, watched
from grader.home import ROOT

# Its name is no word of Python's syntax that may stand behind `import`.
students_of = importlib.import_module("benchmarks.class")


def main() -> None:
    parser = argparse.ArgumentParser(description="submissions an hour by lanes")
    parser.add_argument("--sizes", default="10,50")
    parser.add_argument("--lanes", default="1,2")
    parser.add_argument("--gpus", default="", help="numbers of GPUs, instead of lanes without one")
    options = parser.parse_args()
    small, large = sorted(int(size) for size in options.sizes.split(","))
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("torch", "triton", "distributed"))
    print(f"{processor()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}, {versions}\n")
    print(f"| where | lanes | {small} students, seconds | {large} students, seconds | a student more | an hour | "
          "of the command's processor | its peak memory (GiB) |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for size in (small, large):
            students_of.write_folders(root / f"class-{size}", students_of.students(size))
        for count in map(int, options.gpus.split(",") if options.gpus else ()):
            words = ["--device", "cuda", "--gpus", ",".join(map(str, range(count)))]
            _row(root, f"gpus-{count}", "this machine's GPUs", count, small, large, words)
        for lanes in map(int, () if options.gpus else options.lanes.split(",")):
            _row(root, f"here-{lanes}", "this machine's processes", lanes, small, large, [
                "--device", "cpu", "--jobs", str(lanes)])
            with _joined(root, lanes) as words:
                _row(root, f"there-{lanes}", "lanes of a cluster", lanes, small, large, ["--device", "cpu", *words])


def _row(root: Path, name: str, where: str, lanes: int, small: int, large: int, words: list[str]) -> None:
    seconds, spent, peaks = [], [], []
    for size in (small, large):
        before = _spent()
        took, peak = watched([
            *students_of.kernelmark("grade", root / f"class-{size}", "--out", root / f"{name}-{size}"),
            "--only", "transpose,silu", *words])
        seconds.append(took)
        spent.append(_spent() - before)
        peaks.append(peak)
    more = (seconds[1] - seconds[0]) / (large - small)
    # Lanes of its own are its children: their processor time is the grading's.
    own = f"{(spent[1] - spent[0]) / (large - small):.3f} s a student" if "--lanes" in words else ""
    print(f"| {where} | {lanes} | {seconds[0]:.1f} | {seconds[1]:.1f} | {more:.3f} | {3600 / more:,.0f} | {own} | "
          f"{peaks[1] / 2**30:.2f} |", flush=True)


def _spent() -> float:
    """Return the processor seconds of all commands that have ended, and of their children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def _joined(root: Path, lanes: int) -> Iterator[list[str]]:
    """Yield the options with which `grade` uses a scheduler with `lanes` lanes."""
    key = root / f"key-{lanes}.pem"
    subprocess.run(students_of.kernelmark("cluster-key", key), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    scheduler = _started("scheduler", "--listen", "tls://127.0.0.1:0", "--key", key)
    address = _line(scheduler).split()[-1]
    lane = _started("lane", address, "--key", key, "--jobs", str(lanes))
    try:
        assert " joined " in _line(lane)
        yield ["--lanes", address, "--key", str(key)]
    finally:
        for process in (lane, scheduler):
            process.terminate()
            process.wait()


def _started(*words: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-u", *students_of.kernelmark(*words)[1:]], cwd=ROOT, stdout=subprocess.PIPE, text=True)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


if __name__ == "__main__":
    main()
