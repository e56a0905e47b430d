"""Cost for a class of changes that are tried: `kernelmark grade` with `[hints] level = "off"` and "kind", in turn.

    .venv/bin/python -m benchmarks.mended_class [--each 6] [--runs 1]

The class has eight submissions of the six reference kernels, and four with mistakes, drawn from
the wrong answers of the corpus, in `--each` of their kernels: with six a third of all kernels is wrong, with two a
ninth. Prints seconds of the wall for two lanes, and how many wrong kernels one change mends. A run takes a minute and a
half.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

from benchmarks.grading import processor
from grader.course.catalogue import assignments
from grader.course.course import read_course
from grader.home import ROOT
from grader.judging.running.lane import LANE
from grader.pages.load import load_results
from tests.members import select

RIGHT, WRONG, SEED = 8, 4, 4
SWITCH = 'level = "kind"'


def main() -> None:
    parser = argparse.ArgumentParser(description="seconds to grade a class without and with changes tried")
    parser.add_argument("--each", type=int, default=6, help="wrong kernels of each of the four submissions")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("torch", "triton"))
    print(f"{processor()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}, {versions}, "
          f"isolation {LANE.isolation}\n")
    print("| changes | seconds | wrong kernels | mended by one change |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = _class(Path(scratch, "class"), options.each)
        shipped = (ROOT / "course.toml").read_text(encoding="utf-8")
        assert shipped.count(SWITCH) == 1
        for _ in range(options.runs):
            for level in ("off", "kind"):
                course, out = Path(scratch, "course.toml"), Path(scratch, f"out-{level}")
                course.write_text(shipped.replace(SWITCH, f'level = "{level}"'), encoding="utf-8")
                shutil.rmtree(out, ignore_errors=True)
                started = time.perf_counter()
                subprocess.run([sys.executable, "-m", "grader", "grade", folder, "--out", out, "--course", course,
                                "--device", "cpu", "--jobs", "2"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
                seconds = time.perf_counter() - started
                wrong = [a for entry in load_results(out).entries for a in entry.result.assignments.values()
                         if not a.right]
                print(f"| {level} | {seconds:.1f} | {len(wrong)} | {sum(a.repair is not None for a in wrong)} |",
                      flush=True)


def _class(folder: Path, most_wrong: int) -> Path:
    drawn = random.Random(SEED)
    names = read_course(ROOT / "course.toml", frozenset(assignments())).select(assignments(), ())
    for number in range(RIGHT + WRONG):
        student = folder / f"student{number:02}"
        student.mkdir(parents=True)
        wrong = drawn.sample(names, most_wrong) if number >= RIGHT else ()
        for name in names:
            file = f"{name}.py"
            mistakes = [member for member in select("wrong_answer")
                        if member.title.startswith(f"{name}_") and file in member.files]
            source = ROOT / "reference" / file
            shutil.copy(drawn.choice(mistakes).folder() / file if name in wrong else source, student)
    return folder


if __name__ == "__main__":
    main()
