"""Wrong kernels mended by trial: for how many a single change is proved, after how many tries, in how many seconds.

    .venv/bin/python -m benchmarks.repair [--every N] [FOLDER …]

Judges every file of an assignment in the folders below FOLDER (the wrong answers and run-time errors of the corpus if
none is named) without a GPU, in one lane, and searches a change for each; with `--every`, only in one of N folders,
chosen by the name. Prints a table in Markdown, then a line for each file with the sentence for its student; progress
goes to stderr. The corpus takes half an hour or more. On a busy machine only the counts and, roughly, the processor
seconds hold.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from grader.course.catalogue import assignments
from grader.course.course import read_course
from grader.course.submission import read_source_file
from grader.home import ROOT
from grader.judging.explain import explain_assignment
from grader.judging.judgement import Judgement
from grader.judging.prepared import PreparedTask, Task
from grader.judging.repair import repaired
from grader.judging.running.lane import LANE
from grader.results.result import Repair, decisive
from grader.sandbox.confine.processes import processor_seconds
from tests.graded import FILES
from tests.members import select


class SearchTimes(NamedTuple):
    """A file that was judged and searched: times in seconds, `processors` those of all processes of the search."""

    name: str
    verdict: str
    said: str
    repair: Repair | None
    judging: float
    searching: float
    processors: float


def searched(folder: Path, file: str) -> SearchTimes:
    assignment = assignments()[FILES[file]]
    course = read_course(ROOT / "course.toml", frozenset(assignments()))
    prepared = PreparedTask(Task(assignment, read_source_file(folder, file, 1 << 20), course, b"repair", "cpu"))
    started = time.monotonic()
    checks = Judgement(prepared).take_all()
    judged, processors = time.monotonic(), processor_seconds()
    repair = repaired(prepared, checks)
    ended = time.monotonic()
    summary = explain_assignment(assignment, checks)
    return SearchTimes(
        f"{folder.name}/{file}", decisive(checks)[0] or "accepted", f"{summary.message} | {summary.hint}", repair,
        judged - started, ended - judged, processor_seconds() - processors)


def files(folders: Sequence[Path], every: int) -> Iterator[tuple[Path, str]]:
    for top in folders:
        for path in sorted(top.rglob("*")):
            if path.name in FILES and zlib.crc32(path.parent.name.encode()) % every == 0:
                yield path.parent, path.name


def table(outcomes: Sequence[SearchTimes]) -> Iterator[str]:
    yield "| files | searched | one change proved | tried for it | seconds of a search | processor seconds |"
    yield "|---|---|---|---|---|---|"
    long = [outcome for outcome in outcomes if outcome.searching > 0.01]
    tried = [outcome.repair.tried for outcome in outcomes if outcome.repair]
    shown = [", ".join(f"{_at(values, share):.{digits}f}" for share in (0.5, 0.9, 1)) for values, digits in (
        (tried, 0), ([outcome.searching for outcome in long], 1), ([outcome.processors for outcome in long], 1))]
    yield f"| {len(outcomes)} | {len(long)} | {len(tried)} | {' | '.join(shown)} |"
    yield "\nMedian, nine tenths, most."
    if long:
        mean, judging = (
            statistics.fmean(getattr(outcome, what) for outcome in long) for what in ("searching", "judging"))
        yield f"\nMean of a file that was searched: {judging:.2f} s to judge it, {mean:.2f} s to search."


def _at(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description="wrong kernels mended by trial")
    parser.add_argument("folders", nargs="*", type=Path, default=[
        member.folder() for member in select("wrong_answer", "runtime_error")])
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    LANE.open()
    try:
        outcomes = []
        for folder, file in files(options.folders, options.every):
            outcomes.append(searched(folder, file))
            print(outcomes[-1].name, outcomes[-1].repair is not None, file=sys.stderr)
    finally:
        LANE.close()
    print("\n".join(table(outcomes)))
    for outcome in outcomes:
        print(f"\n* `{outcome.name}` {outcome.verdict}: {outcome.said}")
        if outcome.repair:
            print(f"  - after {outcome.repair.tried}: {outcome.repair.told}\n\n```diff\n{outcome.repair.diff}\n```")


if __name__ == "__main__":
    main()
