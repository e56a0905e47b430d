"""Results with their owners: a folder of results, combined with the intake's manifest and a roster, if given."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.classroom.attempts.policy import Grade, GradeLine
from grader.classroom.attempts.student_files import outdated_lines, removed_lines
from grader.classroom.intake.manifest import Kind, Manifest, ManifestEntry, Member
from grader.classroom.intake.people import Register
from grader.course.roster import Student
from grader.errors import UserError
from grader.pages.load import load_results
from grader.pages.people import People
from grader.results.hidden import for_student
from grader.results.mark import Mark
from grader.results.result import Result, with_assignments
from grader.results.text import some


class ExportError(UserError):
    """A class, or one `folder` of it, that cannot be exported; one line says what is wrong, where, and what to do."""

    def __init__(self, why: str, folder: str = "") -> None:
        super().__init__(f"{folder}: {why}" if folder else why)
        self.folder, self.why = folder, why


@dataclass(frozen=True)
class ClassRecord:
    """The outcome of a class's attempts: `results` and `members` by folder, and `grades` by student's id in lower
    case."""

    results: Mapping[str, Result]
    members: Mapping[str, Sequence[str]]
    grades: Mapping[str, Grade]

    @property
    def assignments(self) -> list[str]:
        """Return the assignments in which anyone has points or words, from a grading or from a person."""
        lines = (line for grade in self.grades.values() for line in grade.lines)
        return list(dict.fromkeys(line.assignment for line in lines if _has_points_or_words(line)))


@dataclass(frozen=True)
class Selection:
    """The part of a class to export: these `students` and the assignments in `only`; all of them if empty. Assignments
    outside of the `course` are left out, unless it is None."""

    students: Sequence[str] = ()
    course: Collection[str] | None = None
    only: Collection[str] = ()

    def counts(self, name: str) -> bool:
        return (self.course is None or name in self.course) and (not self.only or name in self.only)


EVERYTHING = Selection()


@dataclass(frozen=True)
class GradedSubmission:
    """A submission's result and its owners. `result` is complete; `shown` is the part that its student may see.
    `grades` has all students' grades, by id in lower case; None if no attempts are recorded."""

    folder: str
    result: Result
    members: list[Member]
    hand_in: ManifestEntry | None
    grades: Mapping[str, Grade] | None = None

    def grade(self, member: Member) -> Grade | None:
        return (self.grades or {}).get(member.id.casefold())

    def total(self, member: Member) -> float | None:
        """Return the member's points by the course's policy; if no attempts are recorded, the result's points. None
        while any points are open, and for a member without a grade."""
        if self.grades is None:
            return None if self.unjudged else self.result.score
        grade = self.grade(member)
        return None if grade is None or not grade.is_final else grade.points

    def submitted_at(self, member: Member) -> str:
        """Return the time of the hand-in by the intake. Files that came through a course server have no intake: return
        the time of the newest file that counts. "" if there is none."""
        if self.hand_in is not None:
            return self.hand_in.submitted_at or ""
        lines = grade.lines if (grade := self.grade(member)) is not None else ()
        times = {instant: line.attempt.submitted_at for line in lines
                 if line.attempt is not None and (instant := line.attempt.instant) is not None}
        return times[max(times)] or "" if times else ""

    def late(self, member: Member) -> bool | None:
        """Return whether a file that counts was late: by the course's policy if that has deadlines, else by the
        intake."""
        by_policy = grade.late if (grade := self.grade(member)) is not None else None
        return self.hand_in.late if by_policy is None and self.hand_in is not None else by_policy

    def max_score(self, member: Member) -> float:
        """Return the points that the member can get in the course: fewer than in the result if an assignment is
        excused."""
        grade = self.grade(member)
        return self.result.max_score if grade is None else grade.max_score

    def points(self, member: Member, name: str) -> float | None:
        """Return the member's points in an assignment, as `total` counts them; None if they are open or do not
        exist."""
        if self.grades is None:
            assignment = self.result.assignments.get(name)
            return assignment.score if assignment is not None and assignment.judged else None
        grade = self.grade(member)
        return None if grade is None else next((line.points for line in grade.lines if line.assignment == name), None)

    def marks(self, member: Member, name: str) -> Sequence[Mark]:
        """Return the marks that people gave this member in an assignment."""
        if self.grades is None:
            assignment = self.result.assignments.get(name)
            return () if assignment is None else assignment.marks
        grade = self.grade(member)
        return () if grade is None else marks_in(grade, name)

    def lines(self) -> dict[str, GradeLine]:
        """Return the grade that all members share, by assignment: in a group it leaves out marks for one member. Empty
        if no attempts are recorded. Raises ExportError if the members' grades differ."""
        grades = {member.id: grade for member in self.members if (grade := self.grade(member)) is not None}
        by_name = [{line.assignment: line for line in grade.lines} for grade in grades.values()]
        if len({tuple((name, line.points) for name, line in lines.items()) for lines in by_name}) > 1:
            points = ", ".join(f"{member} {grade.points:g}" for member, grade in grades.items())
            raise ExportError(f"its members have different grades ({points}), and the format has one for all; enter "
                              "them by hand", self.folder)
        lines = by_name[0] if by_name else {}
        return lines if len(self.members) == 1 else {name: _shared(line) for name, line in lines.items()}

    def lines_without_result(self) -> list[GradeLine]:
        """Return the grade's lines on assignments in which a person gave points or words, and which the result lacks.
        Raises ExportError, as `lines` does."""
        return [line for name, line in self.lines().items()
                if name not in self.result.assignments and _has_points_or_words(line)]

    @property
    def shown(self) -> Result:
        return for_student(self.result)

    @property
    def unjudged(self) -> list[str]:
        """Return the assignments whose points are still open."""
        return [name for name, assignment in self.result.assignments.items() if not assignment.judged]


@dataclass(frozen=True)
class Total:
    """A member's points out of `max_score`, which the course gives this member. `excused`: an assignment is excused, so
    `max_score` is less than other members'. `part`: not all of these points were measured. `feedback` has a line for
    each mark that people gave."""

    folder: str
    member: Member
    points: float
    max_score: float
    excused: bool = False
    part: bool = False
    feedback: str = ""


@dataclass
class Class:
    """The results of a class. `kind` is the kind of the source; None without a manifest. `lines` inform the TA before
    grades are exported. `assignments` begins with assignments that have a result; assignments in which only people gave
    points or words follow. `missing` are students without a hand-in, and `given` the grades that people gave them, by
    id. `broken` has the owners of folders without a result, by folder. `damaged`: a file of results cannot be read."""

    graded: list[GradedSubmission]
    kind: Kind | None
    assignments: list[str]
    missing: list[Member] = field(default_factory=list)
    given: dict[str, Grade] = field(default_factory=dict)
    broken: dict[str, list[Member]] = field(default_factory=dict)
    damaged: bool = False
    lines: list[str] = field(default_factory=list)

    def judged(self) -> Iterator[Total]:
        """Yield the total of each member who has one. Others stay blank: people ask about a blank, but believe a
        zero."""
        for submission in self.graded:
            for member in submission.members:
                if (total := submission.total(member)) is not None:
                    max_score, result = submission.max_score(member), submission.result
                    yield Total(submission.folder, member, total, max_score, max_score < result.max_score,
                                result.measured_max < result.max_score, _feedback(submission.grade(member)))
        for member in self.missing:
            if (grade := self.given.get(member.id)) is not None and grade.is_final:
                yield Total(member.id, member, grade.points, grade.max_score, feedback=_feedback(grade))


def read_class(
    out: Path, manifest: Manifest | None, roster: Sequence[Student] | None, recorded: ClassRecord | None = None,
    wanted: Selection = EVERYTHING,
) -> Class:
    """Return the `wanted` part of the results in `out`. The `recorded` results take precedence over a folder's files.
    They also say who owns a folder that the manifest lacks; without them, such a folder counts as one person. Raises
    ExportError."""
    try:
        loaded_results = load_results(out, People())
    except OSError as error:
        raise ExportError(f"{out}: {error.strerror}; name a folder of results") from None
    results = {entry.folder: entry.result for entry in loaded_results.entries}
    class_ = Class([], manifest.kind if manifest else None, [])
    if recorded is not None:
        class_.lines += outdated_lines(recorded.results, results)
        results |= recorded.results
    names = recorded.assignments if recorded else []
    class_.lines += _removed_lines(dict.fromkeys(
        [*(name for result in results.values() for name in result.assignments), *names]), wanted)
    grades = {member: grade.of(wanted.only) if wanted.only else grade
              for member, grade in recorded.grades.items()} if recorded else None
    owners = _Owners(manifest, roster, recorded, class_.lines)
    for folder, result in sorted(results.items(), key=lambda item: (item[1].student.casefold(), item[0])):
        hand_in, members = owners.of(folder, result.student)
        if not wanted.students or {folder, *(member.id for member in members)} & set(wanted.students):
            part = with_assignments(result, {
                name: a for name, a in result.assignments.items() if wanted.counts(name)})
            submission = GradedSubmission(folder, part, members, hand_in, grades)
            class_.graded.append(submission)
    class_.assignments = list(dict.fromkeys(
        [*(name for submission in class_.graded for name in submission.result.assignments),
         *filter(wanted.counts, names)]))
    class_.lines += _doubts(class_.graded)
    known = {name for submission in class_.graded
             for name in (submission.folder, *(member.id for member in submission.members))}
    if unknown := [name for name in wanted.students if name not in known]:
        raise ExportError(f"--student {unknown[0]}: no such result in {out}; give a folder's name or an id")
    if not wanted.students:
        for failure in loaded_results.failures:
            class_.lines.append(f"{failure.folder}: {failure.message}" if failure.folder else failure.message)
            exists = _exists(out / failure.folder / "result.json")
            class_.damaged |= exists
            if exists and failure.folder not in results:
                _, class_.broken[failure.folder] = owners.of(failure.folder, failure.folder)
        failed = {failure.folder for failure in loaded_results.failures}
        class_.lines += [f"{name}: handed in, and not graded" for name in owners.hand_ins if name not in failed]
        if roster is not None:
            class_.missing = owners.register.missing()
            for member in class_.missing:
                grade = (grades or {}).get(member.id.casefold())
                if grade is not None and any(map(_has_points_or_words, grade.lines)):
                    class_.given[member.id] = grade
    if not class_.graded:
        raise ExportError(f"{out}: holds no result; name the folder that kernelmark grade wrote")
    if not class_.assignments:
        raise ExportError(f"{out}: holds no result of these assignments; pass the --course that graded it")
    return class_


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        # A path that may not be examined counts as existing.
        return True


class _Owners:
    """The owners of each folder. `hand_ins` are the manifest's entries whose folders were not looked up yet."""

    def __init__(
        self, manifest: Manifest | None, roster: Sequence[Student] | None, recorded: ClassRecord | None,
        lines: list[str],
    ) -> None:
        self.hand_ins = {submission.folder: submission for submission in manifest.submissions} if manifest else {}
        self.register = Register(roster or (), {})
        self._has_roster, self._lines = roster is not None, lines
        self._ids = recorded.members if recorded else {}

    def of(self, folder: str, otherwise: str) -> tuple[ManifestEntry | None, list[Member]]:
        """Return the folder's entry in the manifest, and its members. If nothing names them, the only member is
        `otherwise`."""
        hand_in = self.hand_ins.pop(folder, None)
        named = hand_in.members if hand_in else [
            Member(id=id_, source_id=id_) for id_ in self._ids.get(folder) or [otherwise]]
        entries = [self.register.look_up(member) for member in named]
        members = [entry or member for entry, member in zip(entries, named, strict=True)]
        if self._has_roster and not all(entries):
            self._lines.append(f"{folder}: not in the roster: {_ids(members)}")
        return hand_in, members


def _has_points_or_words(line: GradeLine) -> bool:
    return line.points is not None or bool(line.marks)


def _shared(line: GradeLine) -> GradeLine:
    own = {mark.said for mark in line.marks if mark.student}
    return replace(line, marks=tuple(mark for mark in line.marks if not mark.student),
                   steps=tuple(step for step in line.steps if step.text not in own))


def marks_in(grade: Grade, name: str) -> list[Mark]:
    """Return the marks in an assignment for the student whose grade this is, without the student's name."""
    return [mark.model_copy(update={"student": ""})
            for line in grade.lines if line.assignment == name for mark in line.marks]


def _removed_lines(names: Collection[str], wanted: Selection) -> list[str]:
    """Return lines about the assignments among `names` that the course no longer has. Raises ExportError if a wanted
    assignment is not among the others."""
    gone = [name for name in names if wanted.course is not None and name not in wanted.course]
    here = [name for name in names if name not in gone]
    if strange := next((name for name in wanted.only if name not in here), None):
        raise ExportError(f"--only {strange!r}: no graded assignment of the course; choose from {', '.join(here)}")
    return removed_lines(gone)


def _doubts(submissions: Iterable[GradedSubmission]) -> Iterator[str]:
    """Yield lines about members without a grade, and about submissions whose points are open."""
    still_open: dict[str, list[str]] = {}
    for submission in submissions:
        if without := [member for member in submission.members
                       if submission.grades is not None and submission.grade(member) is None]:
            yield (f"{submission.folder}: {_ids(without)}: no grade, since no recorded attempt is theirs; give the "
                   "intake that was graded, or grade this one")
        if submission.unjudged and any(submission.total(member) is None for member in submission.members):
            still_open.setdefault(", ".join(submission.unjudged), []).append(submission.folder)
    yield from (f"{some(folders)}: no total, since the points of these are open: {names}"
                for names, folders in still_open.items())


def _feedback(grade: Grade | None) -> str:
    return "\n".join(f"{line.assignment}: {mark.said}" for line in grade.lines for mark in line.marks) if grade else ""


def _ids(members: Sequence[Member]) -> str:
    return ", ".join(member.id for member in members)
