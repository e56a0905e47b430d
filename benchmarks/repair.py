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
from grader.judging.prepared import Prepared, Task
from grader.judging.repair import repaired
from grader.judging.running.lane import LANE
from grader.results.result import Repair, decisive
from grader.sandbox.confine.processes import processor_seconds
from tests.graded import FILES
from tests.members import select


class Searched(NamedTuple):
    """A file that was judged and searched: times in seconds, `processors` those of all processes of the search."""

    name: str
    verdict: str
    said: str
    repair: Repair | None
    judging: float
    searching: float
    processors: float


def searched(folder: Path, file: str) -> Searched:
    assignment = assignments()[FILES[file]]
    course = read_course(ROOT / "course.toml", frozenset(assignments()))
    prepared = Prepared(Task(assignment, read_source_file(folder, file, 1 << 20), course, b"repair", "cpu"))
    started = time.monotonic()
    checks = Judgement(prepared).take_all()
    judged, processors = time.monotonic(), processor_seconds()
    found = repaired(prepared, checks)
    ended = time.monotonic()
    summary = explain_assignment(assignment, checks)
    return Searched(f"{folder.name}/{file}", decisive(checks)[0] or "accepted", f"{summary.message} | {summary.hint}",
                    found, judged - started, ended - judged, processor_seconds() - processors)


def files(folders: Sequence[Path], every: int) -> Iterator[tuple[Path, str]]:
    for top in folders:
        for path in sorted(top.rglob("*")):
            if path.name in FILES and zlib.crc32(path.parent.name.encode()) % every == 0:
                yield path.parent, path.name


def table(found: Sequence[Searched]) -> Iterator[str]:
    yield "| files | searched | one change proved | tried for it | seconds of a search | processor seconds |"
    yield "|---|---|---|---|---|---|"
    looked = [one for one in found if one.searching > 0.01]
    tried = [one.repair.tried for one in found if one.repair]
    shown = [", ".join(f"{_at(values, share):.{digits}f}" for share in (0.5, 0.9, 1)) for values, digits in (
        (tried, 0), ([one.searching for one in looked], 1), ([one.processors for one in looked], 1))]
    yield f"| {len(found)} | {len(looked)} | {len(tried)} | {' | '.join(shown)} |"
    yield "\nMedian, nine tenths, most."
    if looked:
        mean, judging = (statistics.fmean(getattr(one, what) for one in looked) for what in ("searching", "judging"))
        yield f"\nMean of a file that was searched: {judging:.2f} s to judge it, {mean:.2f} s to search."


def _at(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description="wrong kernels mended by trial")
    parser.add_argument("folders", nargs="*", type=Path, default=[
        one.folder() for one in select("wrong_answer", "runtime_error")])
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    LANE.open()
    try:
        found = []
        for folder, file in files(options.folders, options.every):
            found.append(searched(folder, file))
            print(found[-1].name, found[-1].repair is not None, file=sys.stderr)
    finally:
        LANE.close()
    print("\n".join(table(found)))
    for one in found:
        print(f"\n* `{one.name}` {one.verdict}: {one.said}")
        if one.repair:
            print(f"  - after {one.repair.tried}: {one.repair.told}\n\n```diff\n{one.repair.diff}\n```")


if __name__ == "__main__":
    main()
