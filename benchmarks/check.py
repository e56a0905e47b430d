"""What a student waits for: seconds from Enter to the verdict of `kernelmark check FILE`, without a GPU.

    .venv/bin/python -m benchmarks.check [--runs 5] [--files silu,gemm]

Prints a table in Markdown: medians, and the least and most. Cold is a command of its own, warm the check after a save
under `--watch`. "Without compiling" leaves out what compiles kernels for the course's GPU. The files are the reference
kernels, so that every case runs.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import IO

from benchmarks.grading import processor
from grader.judge.lane import lane_isolation
from grader.model.catalogue import ROOT, files

COMMAND = "from grader.cli import main; main()"
# The check of a target finds nothing to compile. Patched once the lane is open: what is imported when stays as it is.
WITHOUT = """
from grader.student import check
begin = check._opened
def opened(*arguments):
    checker = begin(*arguments)
    from grader.judge import attempt
    attempt.kernels_of = lambda outcomes: []
    return checker
check._opened = opened
"""
VERDICT = "● "


def main() -> None:
    parser = argparse.ArgumentParser(description="seconds from Enter to the verdict of a check")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--files", default="silu,rmsnorm_vector,gemm", help="assignments")
    options = parser.parse_args()
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("torch", "triton"))
    print(f"{processor()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}, {versions}, "
          f"isolation {lane_isolation()}\n")
    print("| file | cold | warm | cold, without compiling | warm, without compiling |\n|---|---|---|---|---|")
    for name in options.files.split(","):
        cells = []
        for before in ("", WITHOUT):
            cold, warm = _seconds(files()[name], before, options.runs)
            cells += [_spread(cold), _spread(warm)]
        print(f"| `{files()[name]}` | {' | '.join(cells)} |", flush=True)


def _seconds(file: str, before: str, runs: int) -> tuple[list[float], list[float]]:
    """Cold and warm, so many of each."""
    cold, warm = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(ROOT / "reference" / file, folder)
        for _ in range(runs):
            started = time.perf_counter()
            with _command(before, path) as output:
                _verdict(output)
                cold.append(time.perf_counter() - started)
        with _command(before, path, "--watch") as output:
            _verdict(output)
            for _ in range(runs):
                while "Watching" not in output.readline():
                    pass
                started = time.perf_counter()
                Path(path).touch()
                _verdict(output)
                warm.append(time.perf_counter() - started)
    return cold, warm


@contextmanager
def _command(before: str, *arguments: str) -> Iterator[IO[str]]:
    process = subprocess.Popen([sys.executable, "-c", before + COMMAND, "check", *arguments, "--device", "cpu"],
                               cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout
    finally:
        if "--watch" in arguments:
            process.terminate()
        process.communicate()


def _verdict(output: IO[str]) -> None:
    for line in output:
        if line.startswith(VERDICT):
            return
    raise SystemExit("benchmarks.check: no verdict came; a kernel that is right expected")


def _spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"


if __name__ == "__main__":
    main()
