"""A student as a line of the class page: what is kept of a result, which with its checks is far larger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from grader.model.result import REFERENCE, AssignmentResult, Environment, Flag, Interval
from grader.model.text import clean
from grader.model.verdicts import Verdict
from grader.report.findings import Status, evidence, label, status
from grader.report.load import Entry
from grader.report.speed import impossible, measured, positive
from grader.report.text import clean_model

TEXT_BYTES = 240
# Of a hint nothing is left out: its end says what to do.
HINT_BYTES = 2000
MOST_FLAGS = 3
# What a check says in its kind, where nothing closer was recognised.
KINDS = {
    "missing_file": "no file", "missing_function": "no such function", "not_attempted": "not written yet",
    "exception": "raises an error", "crash": "the process crashes", "time_out": "does not end in time",
    "policy": "host code does the work", "infrastructure": "the grader failed", "over_limit": "more than is allowed",
    "protocol": "not understood", "unreadable_source": "cannot be read", "import_error": "cannot be imported",
    "wrong_values": "wrong values", "unwritten": "elements never written", "needs_gpu": "only a GPU can tell",
}


@dataclass(frozen=True)
class Cell:
    """One assignment of a student. `failed` are the cases and other checks that did not pass; `mistake` names what is
    wrong, the same for all who made it; `interval` and `reference` are ratios to the baseline's speed. `other`: graded
    under another course file than the newest grades."""

    title: str
    verdict: Verdict
    status: Status
    score: float
    maximum: float
    seconds: float
    message: str
    hint: str
    mistake: str
    failed: tuple[str, ...]
    astray: bool
    impossible: bool
    flags: tuple[Flag, ...]
    interval: Interval | None
    reference: float | None
    floor: float | None
    target: float | None
    other: bool = False


@dataclass(frozen=True)
class Line:
    """A student, by the folder that a link leads to. `environment` is without its seed."""

    folder: str
    student: str
    score: float
    maximum: float
    cells: dict[str, Cell]
    unread: tuple[str, ...]
    graded_at: str
    reproduce: str
    environment: Environment

    @property
    def other(self) -> bool:
        return any(cell.other for cell in self.cells.values())

    @property
    def flags(self) -> list[tuple[str, Flag]]:
        return [(cell.title, flag) for cell in self.cells.values() for flag in cell.flags]


def line(entry: Entry) -> Line:
    result = entry.result
    return Line(
        entry.folder, _short(result.student), result.score, result.measured_max,
        {name: _cell(a) for name, a in result.assignments.items()}, tuple(map(_short, result.unread)),
        result.graded_at, clean(result.reproduce, 1000),
        clean_model(result.environment.model_copy(update={"seed": ""}), TEXT_BYTES))


def marked(lines: Sequence[Line], others: Collection[tuple[str, str]] | None) -> list[Line]:
    """The lines with what was graded under another course file marked: `others` as (folder, assignment). Where nothing
    is known but results, that is whatever has another course file than the newest of them."""
    if others is None:
        newest = max(lines, key=lambda one: one.graded_at).environment.course if lines else ""
        others = {(one.folder, name) for one in lines for name in one.cells if one.environment.course != newest}
    return [replace(one, cells={name: replace(cell, other=(one.folder, name) in others)
                                for name, cell in one.cells.items()}) for one in lines]


def comparable(lines: Sequence[Line]) -> list[Line]:
    """Those whose points may stand in one figure: of one course file, and of the sum that most could win."""
    alike = [one for one in lines if not one.other]
    most = Counter(one.maximum for one in alike).most_common(1)
    return [one for one in alike if one.maximum == most[0][0]] if most else []


def devices(lines: Sequence[Line]) -> list[str]:
    """What they were graded on, the device of most first."""
    return [name for name, _ in Counter(one.environment.device for one in lines).most_common()]


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
        tuple(_short(label(c)) for c in a.correctness.checks if c.outcome == "failed"),
        bool(a.elsewhere), bool(impossible(a)),
        tuple(clean_model(flag, TEXT_BYTES) for flag in a.flags),
        speed.speedup if measured(a) else None, reference, speed.floor, speed.target)


def _short(text: str) -> str:
    return clean(text, TEXT_BYTES)
