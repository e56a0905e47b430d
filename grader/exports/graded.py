"""Results with their owners: combines the folder of results with the intake's manifest and a roster, if given."""

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
    """A class, or one `folder` of it, cannot be exported; one line that says what is wrong, where, and what to do."""

    def __init__(self, why: str, folder: str = "") -> None:
        super().__init__(f"{folder}: {why}" if folder else why)
        self.folder, self.why = folder, why


@dataclass(frozen=True)
class GradedSubmission:
    """A submission's result and its owners. `result` is complete, `shown` is the part that its student may see.
    `grades` are everyone's, by id in lower case; None if no attempts are recorded or grades are not needed."""

    folder: str
    result: Result
    members: list[Member]
    hand_in: ManifestEntry | None
    grades: Mapping[str, Grade] | None = None

    def total(self, member: Member) -> float | None:
        """The member's points by the course's policy, or the result's points if no attempts are recorded. None while
        some are open, and for members without a grade."""
        if self.grades is None:
            return None if self.unjudged else self.result.score
        grade = self.grades.get(member.id.casefold())
        return None if grade is None or any(line.open for line in grade.lines) else grade.points

    def max_score(self, member: Member) -> float:
        """The points that the course gives the member in all: less than in the result if a part is excused."""
        grade = (self.grades or {}).get(member.id.casefold())
        return self.result.max_score if grade is None else grade.max_score

    @property
    def shown(self) -> Result:
        return for_student(self.result)

    @property
    def unjudged(self) -> list[str]:
        """The assignments whose points are still open."""
        return [name for name, assignment in self.result.assignments.items() if not assignment.judged]


@dataclass(frozen=True)
class Total:
    """A member's points of the `max_score` that the course gives the member. `excused`: a part is, so that this is less
    than others get. `part`: fewer than these were measured."""

    folder: str
    member: Member
    points: float
    max_score: float
    excused: bool = False
    part: bool = False


@dataclass
class Class:
    """`kind` is the source's kind, None without a manifest. `lines` are for the TA to know before grades are exported.
    `given` are the grades, by id, of `missing` students to whom a person gave points."""

    graded: list[GradedSubmission]
    kind: Kind | None
    missing: list[Member] = field(default_factory=list)
    given: dict[str, Grade] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def judged(self) -> Iterator[Total]:
        """Everybody with a total. Others stay blank: people ask about a blank, but believe a zero."""
        for submission in self.graded:
            for member in submission.members:
                if (total := submission.total(member)) is not None:
                    most, result = submission.max_score(member), submission.result
                    yield Total(submission.folder, member, total, most, most < result.max_score,
                                result.measured_max < result.max_score)
        for member in self.missing:
            if (grade := self.given.get(member.id)) is not None:
                yield Total(member.id, member, grade.points, grade.max_score)


def read_class(
    out: Path, manifest: Manifest | None, roster: Sequence[Student] | None, students: Sequence[str] = (),
    grades: Iterable[Grade] | None = None, members: Mapping[str, Sequence[str]] | None = None,
) -> Class:
    """The results in `out`, of these students or of all, with their `grades`. `members` are ids by folder, for folders
    that the manifest lacks; without them a folder counts as one person. Raises ExportError."""
    by_id = None if grades is None else {grade.student.casefold(): grade for grade in grades}
    try:
        loaded = load_results(out)
    except OSError as error:
        raise ExportError(f"{out}: {error.strerror}; name a folder of results") from None
    hand_ins = {listed.folder: listed for listed in manifest.submissions} if manifest else {}
    register = Register(roster or (), {})
    class_ = Class([], manifest.kind if manifest else None)
    for entry in loaded.entries:
        hand_in = hand_ins.pop(entry.folder, None)
        ids = (members or {}).get(entry.folder) or [entry.result.student]
        owner = RawSubmission(entry.folder, list(hand_in.members) if hand_in else [
            Member(id=id_, source_id=id_) for id_ in ids])
        if not register.enter(owner) and roster is not None:
            class_.lines.append(f"{entry.folder}: not in the roster: {_ids(owner.members)}")
        submission = GradedSubmission(entry.folder, entry.result, owner.members, hand_in, by_id)
        if students and not {entry.folder, *(member.id for member in owner.members)} & set(students):
            continue
        class_.graded.append(submission)
        without = [] if by_id is None else [member for member in owner.members if member.id.casefold() not in by_id]
        if without:
            class_.lines.append(f"{entry.folder}: {_ids(without)}: no grade, since no recorded attempt is theirs; give "
                                "the intake that was graded, or grade this one")
        if submission.unjudged:
            class_.lines.append(f"{entry.folder}: no total, since the points of these are open: "
                                f"{', '.join(submission.unjudged)}")
    names = {name for submission in class_.graded
             for name in (submission.folder, *(member.id for member in submission.members))}
    if unknown := [name for name in students if name not in names]:
        raise ExportError(f"--student {unknown[0]}: no such result in {out}; give a folder's name or an id")
    if not students:
        class_.lines += [f"{failure.folder}: {failure.message}" for failure in loaded.failures]
        failed = {failure.folder for failure in loaded.failures}
        class_.lines += [f"{name}: handed in, and not graded" for name in hand_ins if name not in failed]
        if roster is not None:
            class_.missing = register.missing()
            class_.given = {member.id: grade for member in class_.missing
                            if (grade := (by_id or {}).get(member.id.casefold())) is not None
                            and any(line.points is not None for line in grade.lines)}
    if not class_.graded:
        raise ExportError(f"{out}: holds no result; name the folder that kernelmark grade wrote")
    return class_


def _ids(members: Sequence[Member]) -> str:
    return ", ".join(member.id for member in members)
