"""Seconds of a student's check: from Enter to the verdict of `kernelmark check FILE`, without a GPU.

    .venv/bin/python -m benchmarks.check [--runs 5]

Prints a table in Markdown: medians, and the least and most. Cold is a command of its own, warm the check after a save
under `--watch`. Right files are the reference kernels, so that every case runs; wrong ones have one mistake, and a
change that mends them is found after their verdict.
"""

from __future__ import annotations

import argparse
import os
import platform
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
from grader.home import ROOT
from grader.judging.running.lane import LANE

COMMAND = "from grader.__main__ import main; main()"
RIGHT, WRONG, MENDED = "● ", "■ ", "Δ "
# A text of each file, and the wrong text that replaces its first occurrence.
FILES = {
    "silu.py": ("offsets < n", "offsets <= n"),
    "rmsnorm_matrix.py": ("/ cols + eps", "/ cols * eps"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="seconds from Enter to the verdict of a check")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("torch", "triton"))
    print(f"{processor()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}, {versions}, "
          f"isolation {LANE.isolation}\n")
    print("| file | verdict, cold | verdict, warm | change found, warm |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for file, (right, wrong) in FILES.items():
            text = (ROOT / "reference" / file).read_text(encoding="utf-8")
            assert right in text, file
            for said, contents in (("right", text), ("wrong", text.replace(right, wrong, 1))):
                path = Path(folder, file)
                path.write_text(contents, encoding="utf-8")
                cells = " | ".join(map(_spread, _seconds(path, options.runs, wrong=said == "wrong")))
                print(f"| `{file}`, {said} | {cells} |", flush=True)


def _seconds(path: Path, runs: int, *, wrong: bool) -> tuple[list[float], list[float], list[float]]:
    """Return the seconds until the verdict, cold and warm, and until the change is found, warm: `runs` of each."""
    cold, warm, mended = [], [], []
    sign = WRONG if wrong else RIGHT
    for _ in range(runs):
        started = time.perf_counter()
        with _command(str(path)) as output:
            _await(output, sign)
            cold.append(time.perf_counter() - started)
    with _command(str(path), "--watch") as output:
        for _ in range(runs):
            _await(output, "Watching")
            started = time.perf_counter()
            path.touch()
            _await(output, sign)
            warm.append(time.perf_counter() - started)
            if wrong:
                _await(output, MENDED)
                mended.append(time.perf_counter() - started)
    return cold, warm, mended


@contextmanager
def _command(*arguments: str) -> Iterator[IO[str]]:
    process = subprocess.Popen([sys.executable, "-c", COMMAND, "check", *arguments, "--device", "cpu"],
                               cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout
    finally:
        if "--watch" in arguments:
            process.terminate()
        process.communicate()


def _await(output: IO[str], sign: str) -> None:
    for line in output:
        if line.startswith(sign):
            return
    raise SystemExit(f"benchmarks.check: no line with {sign!r} came")


def _spread(seconds: list[float]) -> str:
    if not seconds:
        return ""
    return f"{statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"


if __name__ == "__main__":
    main()
