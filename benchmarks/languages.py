"""Reference kernels of every language, timed one after another against the same baseline in one run on a GPU.

    python -m benchmarks.languages [ASSIGNMENT …]       (prints a table; results in benchmarks/results/languages-*.md)
"""

from __future__ import annotations

import sys

import torch

from grader.course import catalogue, scoring
from grader.course.course import read_course
from grader.errors import InfrastructureError
from grader.grading.calibrate import time_cases
from grader.home import ROOT
from grader.results.result import Timing


def main(names: list[str]) -> None:
    known = catalogue.assignments()
    course = read_course(ROOT / "course.toml", frozenset(known))
    titles = [assignment.front_end.title for assignment in next(iter(known.values())).in_languages()]
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}\n")
    columns = ["assignment", "case", *(f"{title}, µs" for title in titles), "PyTorch, µs",
               *(f"{title} ÷ {titles[0]}" for title in titles[1:])]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for name in names or known:
        timings: list[list[Timing]] = []
        try:
            timings += (time_cases(assignment, course, catalogue.reference(assignment))
                        for assignment in known[name].in_languages())
        except InfrastructureError as error:
            print(f"| {name} | {error} |", flush=True)
            continue
        for row in zip(*timings, strict=True):
            cells = [f"{timing.student_us:,.1f}" for timing in row] + [f"{row[0].baseline_us:,.1f}"]
            cells += [f"{timing.speedup.median / row[0].speedup.median:.3f}" for timing in row[1:]]
            print(f"| {name} | {row[0].case} | {' | '.join(cells)} |", flush=True)
        speeds = [f"{scoring.speedup(series).median:.3f}×" for series in timings]
        print(f"| {name} | mean ratio to PyTorch | {' | '.join(speeds)} |{' |' * len(titles)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
