"""A student's line on the class page: a short form of a result, which is far larger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from grader.pages.findings import ABSENT, Status, evidence, label, status
from grader.pages.load import Entry
from grader.pages.people import People
from grader.pages.speed import impossible, measured, positive
from grader.pages.text import clean_model
from grader.results.mark import Mark, counting
from grader.results.result import REFERENCE, AssignmentResult, Environment, Flag, Interval, Repair
from grader.results.text import clean
from grader.results.verdicts import Verdict

TEXT_BYTES = 240
# Hints are stored whole, since their end says what to do.
HINT_BYTES = 2000
# Bytes of a change, which mostly has a line of the file before it and a line after.
CHANGE_BYTES = 600
MOST_FLAGS = 3
NOTHING = " nothing handed in"
# Words for a kind of failure, used if no mistake was recognised.
KINDS = {
    "missing_file": "no file", "missing_function": "no such function", "not_attempted": "not written yet",
    "exception": "raises an error", "crash": "the process crashes", "time_out": "does not end in time",
    "policy": "host code does the work", "infrastructure": "the grader failed", "over_limit": "more than is allowed",
    "unsupported": "not supported here",
    "protocol": "not understood", "unreadable_source": "cannot be read", "import_error": "cannot be imported",
    "wrong_values": "wrong values", "unwritten": "elements never written", "needs_gpu": "only a GPU can decide",
    "condition": "a required condition",
}


@dataclass(frozen=True)
class Cell:
    """One assignment of a student. `failed` are the checks that did not pass. `mistake` names the failure, in the same
    words for all students who have it. `repair` is a change that makes every case right, if one was found. `elsewhere`
    names files that may be meant for the assignment, if its own is missing. `interval` and `reference` are ratios to
    the baseline's speed. `marks` are the marks that people gave; `given` are their points, beside `score`, for
    everybody whose line it is. `other`: graded under another course file than the newest grades."""

    title: str
    verdict: Verdict
    status: Status
    score: float
    measured_max: float
    seconds: float
    message: str
    hint: str
    mistake: str
    repair: Repair | None
    failed: tuple[str, ...]
    elsewhere: str
    impossible: bool
    flags: tuple[Flag, ...]
    interval: Interval | None
    reference: float | None
    floor: float | None
    target: float | None
    given: float
    marks: tuple[Mark, ...]
    other: bool = False


@dataclass(frozen=True)
class Line:
    """A student's line. `folder` is where its link leads, and `student` is the name by which the folder is graded.
    `environment` has no seed. If the owner is `hidden`, `student` is a pseudonym. `absent`: the roster has the person,
    but no folder is theirs."""

    folder: str
    student: str
    name: str
    section: str
    hidden: bool
    score: float
    measured_max: float
    cells: dict[str, Cell]
    unread: tuple[str, ...]
    graded_at: str
    reproduce: str
    environment: Environment
    absent: bool = False

    @property
    def shown(self) -> str:
        """Return the name to show."""
        return self.name or self.student

    @property
    def label_length(self) -> int:
        """Return the number of characters before the points: name, id and section."""
        return (len(self.shown) + (len(self.student) + 1 if self.name else 0) + len(self.section) + 1
                + self.absent * len(NOTHING))

    @property
    def given(self) -> float:
        return sum(cell.given for cell in self.cells.values())

    @property
    def total(self) -> float:
        """Return the points, including people's, which medians and charts leave out."""
        return max(0, self.score + self.given)

    @property
    def other(self) -> bool:
        return any(cell.other for cell in self.cells.values())

    @property
    def flags(self) -> list[tuple[str, Flag]]:
        return [(cell.title, flag) for cell in self.cells.values() for flag in cell.flags]


def line(entry: Entry) -> Line:
    result, owner = entry.result, entry.owner
    return Line(
        entry.folder, owner.pseudonym or _short(result.student), _short(owner.name), _short(owner.section),
        bool(owner.pseudonym), result.score, result.measured_max,
        {name: _cell(a) for name, a in result.assignments.items()}, tuple(map(_short, result.unread)),
        result.graded_at, "" if owner.pseudonym else clean(result.reproduce, 1000),
        clean_model(result.environment.model_copy(update={"seed": ""}), TEXT_BYTES))


def absent(people: People, lines: Sequence[Line], marks: Sequence[Mark]) -> list[Line]:
    """Return lines for people on the roster who handed in nothing. They have no points in the assignments that are
    graded alike, except for the points of `marks`."""
    cells: dict[str, Cell] = {}
    for line_ in [*comparable(lines), *lines]:
        cells = line_.cells | cells
    given: dict[str, list[Mark]] = {}
    for mark in counting(marks):
        # A person's own line need not name the person.
        given.setdefault(mark.student.casefold(), []).append(
            clean_model(mark.model_copy(update={"student": ""}), HINT_BYTES))
    made = []
    for person in people.absent if lines else ():
        owner, own_marks = people.shown(person), given.get(person.id.casefold(), [])
        made.append(Line(
            "", owner.pseudonym or _short(person.id), _short(owner.name), _short(owner.section), people.hidden, 0,
            sum(cell.measured_max for cell in cells.values()),
            {name: _without_work(cell, [mark for mark in own_marks if mark.assignment == name])
             for name, cell in cells.items()}, (), "", "", lines[0].environment, absent=True))
    return made


def _without_work(cell: Cell, marks: Sequence[Mark]) -> Cell:
    return replace(
        cell, verdict="missing", status=ABSENT, score=0, seconds=0, message="", hint="", mistake="", repair=None,
        failed=(), elsewhere="", impossible=False, flags=(), interval=None, given=sum(mark.points for mark in marks),
        marks=tuple(marks), other=False)


def marked(lines: Sequence[Line], others: Collection[tuple[str, str]] | None) -> list[Line]:
    """Mark the lines in `others`, pairs (folder, assignment): their grades are from another course file. If it
    is None, these are the grades whose course file differs from the newest result's."""
    if others is None:
        newest = max(lines, key=lambda line_: line_.graded_at).environment.course if lines else ""
        others = {(line_.folder, name) for line_ in lines for name in line_.cells if line_.environment.course != newest}
    return [replace(line_, cells={name: replace(cell, other=(line_.folder, name) in others)
                                for name, cell in line_.cells.items()}) for line_ in lines]


def comparable(lines: Sequence[Line]) -> list[Line]:
    """Return the lines whose points are comparable: graded under one course file, and with as many points measured as
    most."""
    alike = [line_ for line_ in lines if not line_.other]
    most = Counter(line_.measured_max for line_ in alike).most_common(1)
    return [line_ for line_ in alike if line_.measured_max == most[0][0]] if most else []


def devices(lines: Sequence[Line]) -> list[str]:
    """Return the devices of the gradings, in descending order of their number."""
    return [name for name, _ in Counter(line_.environment.device for line_ in lines).most_common()]


def _cell(a: AssignmentResult) -> Cell:
    speed = a.performance
    reference = next((rung.ratio for rung in speed.ladder if rung.name == REFERENCE and positive(rung.ratio)), None)
    check = evidence(a) if not a.right else None
    detail = check.detail if check else None
    named = detail.pattern.removeprefix("mistake: ") if detail else ""
    mistake = named or (KINDS.get(detail.kind, detail.kind.replace("_", " ")) if detail else "")
    return Cell(
        _short(a.title), a.verdict, status(a), a.score, a.measured_max, a.seconds, _short(a.message),
        clean(a.hint or (detail.hint if detail else ""), HINT_BYTES), _short(mistake),
        a.repair and clean_model(a.repair, CHANGE_BYTES),
        tuple(_short(label(c)) for c in a.correctness.checks if c.outcome == "failed"),
        _short(", ".join(a.elsewhere)), bool(impossible(a)),
        tuple(clean_model(flag, TEXT_BYTES) for flag in a.flags),
        speed.speedup if measured(a) else None, reference, speed.floor, speed.target, a.given,
        tuple(clean_model(mark, HINT_BYTES) for mark in a.marks))


def _short(text: str) -> str:
    return clean(text, TEXT_BYTES)
