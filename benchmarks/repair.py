"""Wrong kernels mended by trial: for how many a single change is proved, after how many tries, and in what time.

    .venv/bin/python -m benchmarks.repair [FOLDER …]

Judges every file of an assignment in the folders below FOLDER (the wrong answers and run-time
errors of the corpus if none is named) without a GPU, in one lane, and searches a change for each. Prints a table in
Markdown, then a line for each file with what its student is told; progress goes to stderr. The corpus takes a
quarter of an hour or more.
"""

from __future__ import annotations

import statistics
import sys
import time
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
from tests.graded import FILES
from tests.members import select


class Searched(NamedTuple):
    """A file that was judged and searched: times in seconds."""

    name: str
    verdict: str
    said: str
    repair: Repair | None
    judging: float
    searching: float


def searched(folder: Path, file: str) -> Searched:
    assignment = assignments()[FILES[file]]
    course = read_course(ROOT / "course.toml", frozenset(assignments()))
    prepared = Prepared(Task(assignment, read_source_file(folder, file, 1 << 20), course, b"repair", "cpu"))
    started = time.monotonic()
    checks = Judgement(prepared).take_all()
    judged = time.monotonic()
    found = repaired(prepared, checks)
    ended = time.monotonic()
    summary = explain_assignment(assignment, checks)
    return Searched(f"{folder.name}/{file}", decisive(checks)[0] or "accepted", f"{summary.message} | {summary.hint}",
                    found, judged - started, ended - judged)


def files(folders: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    for top in folders:
        for path in sorted(top.rglob("*")):
            if path.name in FILES:
                yield path.parent, path.name


def table(found: Sequence[Searched]) -> Iterator[str]:
    yield "| files | searched | one change proved | of these tried before, median and 90 % | seconds, median and 90 % |"
    yield "|---|---|---|---|---|"
    proved = [one for one in found if one.repair]
    looked = [one for one in found if one.searching > 0.01]
    tried, seconds = [one.repair.tried for one in proved if one.repair], [one.searching for one in proved]
    shown = [f"{_at(values, 0.5):.{digits}f} and {_at(values, 0.9):.{digits}f}" for values, digits in (
        (tried, 0), (seconds, 1))]
    yield f"| {len(found)} | {len(looked)} | {len(proved)} | {' | '.join(shown)} |"
    if looked:
        mean, judging = (statistics.fmean(getattr(one, what) for one in looked) for what in ("searching", "judging"))
        yield f"\nMean of a file that was searched: {judging:.2f} s to judge it, {mean:.2f} s to search."


def _at(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def main() -> None:
    folders = [Path(name) for name in sys.argv[1:]] or [
        one.folder() for one in select("wrong_answer", "runtime_error")]
    LANE.open()
    try:
        found = []
        for folder, file in files(folders):
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
