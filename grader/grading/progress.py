"""The progress of a run: live on a terminal, as lines, as JSON for programs, and on the class page."""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import under_another_course_file
from grader.console import console as stdout
from grader.course.late import LatePolicy
from grader.errors import UserError
from grader.grading.job import JobOutcome
from grader.grading.lanes import OngoingGrading
from grader.pages.line import Line, line, marked
from grader.pages.load import Failure, load_entry, load_results
from grader.pages.pages import OngoingRow, Progress, write_lines
from grader.pages.people import read_people
from grader.pages.text import of_points, seconds
from grader.results.verdicts import ACCEPTED, INFRASTRUCTURE_ERROR, VERDICTS

# The least seconds between two writings of the class page, and the least multiple of the seconds that a writing takes.
PAGE_SECONDS = 3.0
PAGE_SHARE = 20


class RunState:
    """The state of a run of `total` submissions. `running` returns the gradings in progress, and `lanes` describes the
    lanes' state in words."""

    def __init__(self, total: int, running: Callable[[], list[OngoingGrading]], lanes: Callable[[], str] = str) -> None:
        self.total = total
        self.done = 0
        self.verdicts: Counter[str] = Counter()
        self.running = running
        self.lanes = lanes
        self._started = time.monotonic()

    def add(self, outcome: JobOutcome) -> None:
        self.done += 1
        assignments = outcome.result.assignments.values() if outcome.result else ()
        self.verdicts.update([a.verdict for a in assignments] or [INFRASTRUCTURE_ERROR])

    @property
    def left(self) -> float | None:
        """Return the seconds left, if the remaining submissions take as long as the earlier ones; None if that is not
        known."""
        return (time.monotonic() - self._started) / self.done * (self.total - self.done) if self.done else None

    @property
    def failed(self) -> str:
        """Return in words how many assignments did not pass, by verdict."""
        return ", ".join(f"{count} {VERDICTS[verdict].words}" for verdict, count in self.verdicts.most_common()
                         if verdict != ACCEPTED)


@contextlib.contextmanager
def shown(watch: RunState, console: Console, as_json: bool) -> Iterator[Callable[[JobOutcome, Sequence[str]], None]]:
    """Show a run on the console until the block ends. Yields a function to call for each graded submission, with a line
    for each failure of the grader. With `as_json` it prints one JSON object a line on standard output."""
    live = console.is_interactive and watch.total > 0

    def report(outcome: JobOutcome, trouble: Sequence[str]) -> None:
        if as_json:
            stdout.out(json.dumps(_object(watch, outcome, trouble)))
        left = "" if live else f"  (about {watch.left or 0:.0f} s left)"
        count = "" if live else f"[{watch.done}/{watch.total}] "
        if live or not as_json:
            console.print(f"{count}{_line(outcome)}{left}", markup=False, soft_wrap=True)

    if not live:
        yield report
        return
    with Live(console=console, get_renderable=lambda: _panel(watch), refresh_per_second=4, transient=True):
        yield report


def _panel(watch: RunState) -> RenderableType:
    head = f"{watch.done} of {watch.total} graded"
    if watch.left is not None:
        head += f", about {seconds(round(watch.left))} left"
    if lanes := watch.lanes():
        head += f"; {lanes}"
    lines: list[RenderableType] = [Text(head)]
    if watch.failed:
        lines.append(Text(f"assignments not passed: {watch.failed}"))
    table = Table.grid(padding=(0, 2))
    for grading in watch.running():
        table.add_row(Text(grading.student, overflow="ellipsis", no_wrap=True), Text(_at(grading)),
                      Text(f"since {_clock(grading.since)}, {seconds(round(time.time() - grading.since))}"))
    return Group(*lines, table)


def _object(watch: RunState, outcome: JobOutcome, trouble: Sequence[str]) -> dict[str, object]:
    result = outcome.result
    about: dict[str, object] = {"event": "graded", "done": watch.done, "of": watch.total,
                               "student": outcome.submission.student, "folder": outcome.submission.slug}
    for name in ("score", "measured_max", "max_score", "seconds"):
        about[name] = None if result is None else getattr(result, name)
    about["verdicts"] = {} if result is None else {name: a.verdict for name, a in result.assignments.items()}
    return about | {"failures": list(trouble)}


def _line(outcome: JobOutcome) -> str:
    result = outcome.result
    if result is None:
        return f"{outcome.submission.student}: not graded"
    right = sum(a.right for a in result.assignments.values())
    return (f"{result.student}: {of_points(result.score, result.measured_max, result.max_score)}, {right} of "
            f"{len(result.assignments)} right, {result.seconds:.1f} s")


def _at(grading: OngoingGrading) -> str:
    return " ".join(filter(None, (grading.assignment, f"on {grading.lane}" if grading.lane else ""))) or "beginning"


def _clock(since: float, form: str = "%H:%M:%S") -> str:
    return time.strftime(form, time.localtime(since))


class LivePage:
    """The class page during a run: all results in `out`, and the progress. It is written again at intervals."""

    def __init__(self, out: Path, store: Store, late: LatePolicy, watch: RunState) -> None:
        self._out, self._store, self._late, self._watch = out, store, late, watch
        # Only lines are stored: results are large.
        self._lines: dict[str, Line] = {entry.folder: line(entry) for entry in load_results(out).entries}
        self._failures: list[Failure] = []
        self._shown: tuple[object, ...] = ()
        self._next = 0.0
        self.beat()

    def add(self, outcome: JobOutcome, failures: Sequence[Failure]) -> None:
        folder = self._out / outcome.submission.slug
        with contextlib.suppress(OSError, ValueError):
            self._lines[folder.name] = line(load_entry(folder, read_people(self._out)))
        self._failures.extend(failures)

    def beat(self) -> None:
        """Write the page if something is new and enough time has passed. Errors are ignored here, since the final
        writing reports them."""
        started = time.monotonic()
        state = (self._watch.done, self._watch.lanes(),
                 *((grading.student, _at(grading)) for grading in self._watch.running()))
        if state == self._shown or started < self._next:
            return
        with contextlib.suppress(OSError, UserError):
            lines = marked(list(self._lines.values()), under_another_course_file(self._store, self._late))
            write_lines(lines, self._out, self._failures, self.progress(), self._store.marks())
        self._shown = state
        ended = time.monotonic()
        self._next = ended + max(PAGE_SECONDS, PAGE_SHARE * (ended - started))

    def progress(self, ended: bool = False) -> Progress:
        watch = self._watch
        left = "" if watch.left is None else f"about {seconds(round(watch.left))}"
        running = [OngoingRow(grading.student, _at(grading), _clock(grading.since)) for grading in watch.running()]
        return Progress(watch.done, watch.total, _clock(time.time(), "%Y-%m-%d %H:%M:%S"), left,
                        () if ended else running, ended, "" if ended else watch.lanes())


def report_end(watch: RunState, **more: object) -> None:
    """Print the last JSON object of a run."""
    stdout.out(json.dumps({"event": "end", "graded": watch.done, "of": watch.total} | more))
