"""Whose each result is: the folder of results, with the intake's manifest and a roster where they are given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.intake.manifest import Kind, Manifest, ManifestEntry, Member
from grader.intake.people import Register
from grader.intake.source import RawSubmission
from grader.model.hidden import for_student
from grader.model.result import Result
from grader.model.roster import Student
from grader.records.policy import Grade
from grader.report.load import load_results


class ExportError(Exception):
    """Nothing can be exported, or not of a `folder`; one line that says what, where and what was expected."""

    def __init__(self, why: str, folder: str = "") -> None:
        super().__init__(f"{folder}: {why}" if folder else why)
        self.folder, self.why = folder, why


@dataclass(frozen=True)
class GradedSubmission:
    """A submission's result, and whose it is. `result` is whole, `shown` what its student may see.
    `grades` are everyone's by id in small letters; None: no attempts are on record, or nobody asked for them."""

    folder: str
    result: Result
    members: list[Member]
    hand_in: ManifestEntry | None
    grades: Mapping[str, Grade] | None = None

    def total(self, member: Member) -> float | None:
        """The member's points by the course's policy, or those of the result where no attempts are on record; None as
        long as some are open, and for whom policy has none."""
        if self.grades is None:
            return None if self.unjudged else self.result.score
        grade = self.grades.get(member.id.casefold())
        return None if grade is None or any(line.open for line in grade.lines) else grade.points

    def most(self, member: Member) -> float:
        """The points that the member's total is of: less than the result's, where a part is excused."""
        grade = (self.grades or {}).get(member.id.casefold())
        return self.result.max_score if grade is None else grade.maximum

    @property
    def shown(self) -> Result:
        return for_student(self.result)

    @property
    def unjudged(self) -> list[str]:
        """The assignments of which it is open how many points they are."""
        return [name for name, one in self.result.assignments.items() if not one.judged]


@dataclass(frozen=True)
class Total:
    """A member's points, of the `most` that they can be: less than the `course` has, where a part is excused. `part`:
    not all of these were measured."""

    folder: str
    member: Member
    points: float
    most: float
    course: float
    part: bool = False


@dataclass
class Class:
    """`kind` is the source's, None without a manifest; `lines` are what a TA has to know before grades go anywhere.
    `given` are the grades, by id, of those `missing` that a person gave points."""

    graded: list[GradedSubmission]
    kind: Kind | None
    missing: list[Member] = field(default_factory=list)
    given: dict[str, Grade] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def judged(self) -> Iterator[Total]:
        """Everybody with a total: a blank is asked about, a zero is believed."""
        for one in self.graded:
            for member in one.members:
                if (total := one.total(member)) is not None:
                    yield Total(one.folder, member, total, one.most(member), one.result.max_score,
                                one.result.measured_max < one.result.max_score)
        for member in self.missing:
            if (grade := self.given.get(member.id)) is not None:
                yield Total(member.id, member, grade.points, grade.maximum, grade.maximum)


def read_class(
    out: Path, manifest: Manifest | None, roster: Sequence[Student] | None, students: Sequence[str] = (),
    grades: Iterable[Grade] | None = None, members: Mapping[str, Sequence[str]] | None = None,
) -> Class:
    """The results in `out`, of these students or of all, with their `grades`. `members` are ids by folder, for those
    that the manifest lacks; without them a folder is a person. Raises ExportError."""
    by_id = None if grades is None else {grade.student.casefold(): grade for grade in grades}
    try:
        loaded = load_results(out)
    except OSError as error:
        raise ExportError(f"{out}: {error.strerror}; a folder of results expected") from None
    hand_ins = {one.folder: one for one in manifest.submissions} if manifest else {}
    register = Register(roster or (), {})
    found = Class([], manifest.kind if manifest else None)
    for entry in loaded.entries:
        hand_in = hand_ins.pop(entry.folder, None)
        ids = (members or {}).get(entry.folder) or [entry.result.student]
        listed = list(hand_in.members) if hand_in else [Member(id=id_, source_id=id_) for id_ in ids]
        who = RawSubmission(entry.folder, listed)
        if not register.enter(who) and roster is not None:
            found.lines.append(f"{entry.folder}: not in the roster: {_ids(who.members)}")
        one = GradedSubmission(entry.folder, entry.result, who.members, hand_in, by_id)
        if students and not {entry.folder, *(member.id for member in who.members)} & set(students):
            continue
        found.graded.append(one)
        if by_id is not None and (without := [one for one in who.members if one.id.casefold() not in by_id]):
            found.lines.append(f"{entry.folder}: {_ids(without)}: no grade, since no attempt on record is theirs; the "
                               "intake that was graded, or a grading of this one, expected")
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
            found.given = {member.id: grade for member in found.missing
                           if (grade := (by_id or {}).get(member.id.casefold())) is not None
                           and any(line.points is not None for line in grade.lines)}
    if not found.graded:
        raise ExportError(f"{out}: holds no result; the folder that kernelmark grade wrote expected")
    return found


def _ids(members: Sequence[Member]) -> str:
    return ", ".join(member.id for member in members)
