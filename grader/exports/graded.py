"""Whose each result is: the folder of results, with the intake's manifest and a roster where they are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.hidden import for_student
from grader.intake.found import Found
from grader.intake.manifest import HandIn, Kind, Manifest, Member
from grader.intake.people import Register
from grader.report.load import load_results
from grader.result import UNJUDGED, Result
from grader.roster import Student


class ExportError(Exception):
    """Nothing can be exported; one line that says what, where and what was expected."""


@dataclass(frozen=True)
class Graded:
    """A submission's result, and whose it is. `result` is whole, `shown` what its student may see."""

    folder: str
    result: Result
    members: list[Member]
    hand_in: HandIn | None

    @property
    def shown(self) -> Result:
        return for_student(self.result)

    @property
    def unjudged(self) -> list[str]:
        """The assignments of which it is open how many points they are."""
        return [name for name, one in self.result.assignments.items() if one.verdict in UNJUDGED]


@dataclass
class Class:
    """`kind` is the source's, None without a manifest; `lines` are what a TA has to know before grades go anywhere."""

    graded: list[Graded]
    kind: Kind | None
    missing: list[Member] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def judged(self) -> Iterator[tuple[Graded, Member]]:
        """Everybody with a total: a blank is asked about, a zero is believed."""
        for one in self.graded:
            if not one.unjudged:
                yield from ((one, member) for member in one.members)


def read_class(
    out: Path, manifest: Manifest | None, roster: Sequence[Student] | None, students: Sequence[str] = (),
) -> Class:
    """The results in `out`, of these students or of all. Raises ExportError."""
    try:
        loaded = load_results(out)
    except OSError as error:
        raise ExportError(f"{out}: {error.strerror}; a folder of results expected") from None
    hand_ins = {one.folder: one for one in manifest.submissions} if manifest else {}
    register = Register(roster or (), {})
    found = Class([], manifest.kind if manifest else None)
    for entry in loaded.entries:
        hand_in = hand_ins.pop(entry.folder, None)
        student = entry.result.student
        who = Found(entry.folder, list(hand_in.members) if hand_in else [Member(id=student, source_id=student)])
        if not register.enter(who) and roster is not None:
            found.lines.append(f"{entry.folder}: not in the roster: {_ids(who.members)}")
        one = Graded(entry.folder, entry.result, who.members, hand_in)
        if students and not {entry.folder, *(member.id for member in who.members)} & set(students):
            continue
        found.graded.append(one)
        if one.unjudged:
            found.lines.append(f"{one.folder}: no total, since it is open how many points these are: "
                               f"{', '.join(one.unjudged)}")
    if unknown := [name for name in students if not any(
            name == one.folder or name in {member.id for member in one.members} for one in found.graded)]:
        raise ExportError(f"--student {unknown[0]}: no such result in {out}; a folder's name or an id expected")
    if not students:
        found.lines += [f"{one.folder}: {one.message}" for one in loaded.failures]
        failed = {one.folder for one in loaded.failures}
        found.lines += [f"{name}: handed in, and not graded" for name in hand_ins if name not in failed]
        if roster is not None:
            found.missing = register.missing()
    if not found.graded:
        raise ExportError(f"{out}: holds no result; the folder that kernelmark grade wrote expected")
    return found


def _ids(members: Sequence[Member]) -> str:
    return ", ".join(member.id for member in members)
