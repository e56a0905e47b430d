"""A run as it is watched: on a terminal, in lines, as JSON for a program, and in the class page while it is written."""

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

from grader.model.job import Graded
from grader.model.verdicts import ACCEPTED, INFRASTRUCTURE_ERROR, VERDICTS
from grader.records.draw import under_another_course_file
from grader.records.store import Store, StoreError
from grader.report.line import Line, line, marked
from grader.report.load import Failure, load_entry, load_results
from grader.report.pages import Progress, Running, write_lines
from grader.report.text import seconds
from grader.run.lanes import At

# Between two writings of the class page, and how many times as long as one takes.
PAGE_SECONDS = 3.0
PAGE_SHARE = 20


class Watch:
    """How far a run of `total` submissions is. `running` says what lanes are at, and `lanes` what there is to know of
    them."""

    def __init__(self, total: int, running: Callable[[], list[At]], lanes: Callable[[], str] = str) -> None:
        self.total = total
        self.done = 0
        self.verdicts: Counter[str] = Counter()
        self.running = running
        self.lanes = lanes
        self._started = time.monotonic()

    def add(self, graded: Graded) -> None:
        self.done += 1
        assignments = graded.result.assignments.values() if graded.result else ()
        self.verdicts.update([a.verdict for a in assignments] or [INFRASTRUCTURE_ERROR])

    @property
    def left(self) -> float | None:
        """Seconds, if what is to come is as what was."""
        return (time.monotonic() - self._started) / self.done * (self.total - self.done) if self.done else None

    @property
    def failed(self) -> str:
        """How many assignments did not pass, by what became of them."""
        return ", ".join(f"{count} {VERDICTS[verdict].words}" for verdict, count in self.verdicts.most_common()
                         if verdict != ACCEPTED)


@contextlib.contextmanager
def shown(watch: Watch, console: Console, as_json: bool) -> Iterator[Callable[[Graded, Sequence[str]], None]]:
    """Shows a run on the console until the block ends: what is given is told of each submission, with a line for each
    failure of ours. As JSON it goes to standard output, an object a line."""
    live = console.is_terminal and watch.total > 0

    def tell(graded: Graded, trouble: Sequence[str]) -> None:
        if as_json:
            print(json.dumps(_object(watch, graded, trouble)), flush=True)
        left = "" if live else f"  (about {watch.left or 0:.0f} s left)"
        count = "" if live else f"[{watch.done}/{watch.total}] "
        if live or not as_json:
            console.print(f"{count}{_line(graded)}{left}", markup=False, soft_wrap=True)

    if not live:
        yield tell
        return
    with Live(console=console, get_renderable=lambda: _panel(watch), refresh_per_second=4, transient=True):
        yield tell


def _panel(watch: Watch) -> RenderableType:
    head = f"{watch.done} of {watch.total} graded"
    if watch.left is not None:
        head += f", about {seconds(round(watch.left))} left"
    if lanes := watch.lanes():
        head += f"; {lanes}"
    lines: list[RenderableType] = [Text(head)]
    if watch.failed:
        lines.append(Text(f"assignments not passed: {watch.failed}"))
    table = Table.grid(padding=(0, 2))
    for one in watch.running():
        table.add_row(Text(one.student, overflow="ellipsis", no_wrap=True), Text(_at(one)),
                      Text(f"since {_clock(one.since)}, {seconds(round(time.time() - one.since))}"))
    return Group(*lines, table)


def _object(watch: Watch, graded: Graded, trouble: Sequence[str]) -> dict[str, object]:
    result = graded.result
    told: dict[str, object] = {"event": "graded", "done": watch.done, "of": watch.total,
                               "student": graded.submission.student, "folder": graded.submission.slug}
    for name in ("score", "measured_max", "max_score", "seconds"):
        told[name] = None if result is None else getattr(result, name)
    told["verdicts"] = {} if result is None else {name: a.verdict for name, a in result.assignments.items()}
    return told | {"failures": list(trouble)}


def _line(graded: Graded) -> str:
    result = graded.result
    if result is None:
        return f"{graded.submission.student}: not graded"
    right = sum(a.right for a in result.assignments.values())
    return (f"{result.student}: {result.score:g} of {result.measured_max:g} points, {right} of "
            f"{len(result.assignments)} right, {result.seconds:.1f} s")


def _at(one: At) -> str:
    return " ".join(filter(None, (one.assignment, f"on {one.lane}" if one.lane else ""))) or "beginning"


def _clock(since: float, form: str = "%H:%M:%S") -> str:
    return time.strftime(form, time.localtime(since))


class LivePage:
    """The class page while a run is on: written whole and seldom, with what lies in `out` and how far the run is."""

    def __init__(self, out: Path, store: Store, watch: Watch) -> None:
        self._out, self._store, self._watch = out, store, watch
        # Lines alone: results are large.
        self._lines: dict[str, Line] = {one.folder: line(one) for one in load_results(out).entries}
        self._failures: list[Failure] = []
        self._shown: tuple[object, ...] = ()
        self._next = 0.0
        self.beat()

    def add(self, graded: Graded, failures: Sequence[Failure]) -> None:
        folder = self._out / graded.submission.slug
        with contextlib.suppress(OSError, ValueError):
            self._lines[folder.name] = line(load_entry(folder))
        self._failures.extend(failures)

    def beat(self) -> None:
        """Writes the page if there is something new, and not too soon after the last time. What cannot be written now
        is told when the run ends."""
        started = time.monotonic()
        state = (self._watch.done, self._watch.lanes(), *((one.student, _at(one)) for one in self._watch.running()))
        if state == self._shown or started < self._next:
            return
        with contextlib.suppress(OSError, StoreError):
            lines = marked(list(self._lines.values()), under_another_course_file(self._store))
            write_lines(lines, self._out, self._failures, self.progress())
        self._shown = state
        ended = time.monotonic()
        self._next = ended + max(PAGE_SECONDS, PAGE_SHARE * (ended - started))

    def progress(self, ended: bool = False) -> Progress:
        watch = self._watch
        left = "" if watch.left is None else f"about {seconds(round(watch.left))}"
        running = [Running(one.student, _at(one), _clock(one.since)) for one in watch.running()]
        return Progress(watch.done, watch.total, _clock(time.time(), "%Y-%m-%d %H:%M:%S"), left,
                        () if ended else running, ended, "" if ended else watch.lanes())


def tell_end(watch: Watch, **more: object) -> None:
    """The last object of a run's JSON."""
    print(json.dumps({"event": "end", "graded": watch.done, "of": watch.total} | more), flush=True)
