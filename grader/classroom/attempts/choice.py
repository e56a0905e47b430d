"""The choice of what to grade in a class. A grade from the same file, tests and environment is not made again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from grader.classroom.attempts.attempt import Attempt, hash_of_rules, hash_of_submission, hash_of_tests
from grader.classroom.attempts.selected import SelectedAttempt, by_assignment, newest
from grader.classroom.intake.manifest import FILE, ManifestEntry, Member, read_manifest
from grader.course import catalogue, workspace
from grader.course.course import Course
from grader.course.submission import Submission, SubmittedFiles, read_sources
from grader.results.text import plural

Kind = Literal["grade", "failed", "regrade"]
"""The assignments to grade: all; assignments without a grade, since the grader failed; or assignments with a grade."""


@dataclass(frozen=True)
class Delivery:
    """The intake's record of a submission: its members, when it was handed in, whether it was late, problems with
    reading it, and notes on the sources of its files."""

    people: tuple[Member, ...] = ()
    submitted_at: str | None = None
    late: bool | None = None
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[str, ...]:
        return tuple(member.id for member in self.people)


@dataclass
class Choice:
    """The choice: `drafts` are the attempts to make, by folder and assignment, and `handed_in` has the files read, by
    folder. `again` are attempts to record without a grading, since the same file was handed in once more. `skipped`
    counts all others by reason."""

    drafts: dict[str, dict[str, Attempt]] = field(default_factory=dict)
    handed_in: dict[str, SubmittedFiles] = field(default_factory=dict)
    again: list[Attempt] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def skipped_line(self) -> str:
        """Describe in a line how many assignments are skipped, and why; "" if none is."""
        many = self.skipped.total()
        all_ = sum(map(len, self.drafts.values())) + many
        reasons = [f"{count:,} {why}" if count < many else why for why, count in self.skipped.items()]
        anew = f"; {len(self.again):,} of them handed in again, which is recorded" if self.again else ""
        return f"Skipped {many:,} of {plural(all_, 'assignment')}: {'; '.join(reasons)}{anew}" if many else ""


GRADED = "graded already from the same files, tests and environment (--force grades them again)"
NOT_FAILED = "without a failure of ours"
NO_GRADE = "without a grade from the same file"


def deliveries(submissions: Sequence[Submission]) -> dict[Submission, Delivery]:
    """Return the delivery of each submission, from the `intake.json` beside its folder. Raises UserError."""
    entries: dict[Path, dict[str, ManifestEntry]] = {}
    delivered = {}
    for submission in submissions:
        folder = submission.folder.absolute()
        if folder.parent not in entries:
            written = (folder.parent / FILE).is_file()
            entries[folder.parent] = {
                entry.folder: entry for entry in read_manifest(folder.parent).submissions} if written else {}
        known = entries[folder.parent].get(folder.name)
        delivered[submission] = Delivery() if known is None else Delivery(
            tuple(known.members), known.submitted_at, known.late, tuple(known.problems), tuple(known.notes))
    return delivered


def absent(submissions: Sequence[Submission]) -> list[Member]:
    """Return the students of the roster who have no submission, from the `intake.json` beside the folders. Raises
    UserError."""
    folders = dict.fromkeys(submission.folder.absolute().parent for submission in submissions)
    return [member for folder in folders if (folder / FILE).is_file() for member in read_manifest(folder).missing]


def choose(
    submissions: Mapping[Submission, Delivery], names: Sequence[str], course: Course, environment: str,
    recorded: Sequence[Attempt], selected: Sequence[SelectedAttempt], *, kind: Kind = "grade", force: bool = False,
) -> Choice:
    """Choose which of the assignments `names` to grade, for which submissions. `environment` is the hash of where they
    would be graded, `recorded` are all attempts in the order of recording, and `selected` are the hand-ins with their
    selected attempts."""
    choice = Choice()
    tests = {name: hash_of_tests(name, course) for name in names}
    rules = {name: hash_of_rules(name, course) for name in names}
    before: dict[tuple[str, str, str], list[Attempt]] = {}
    for attempt in recorded:
        before.setdefault((attempt.slug, attempt.assignment, attempt.submission), []).append(attempt)
    attempt_of = {hand_in.attempt.hand_in: hand_in.attempt for hand_in in selected}
    hand_ins = by_assignment(selected)
    for submission, delivery in submissions.items():
        sources = read_sources(submission.folder, names, course.source_bytes, course.counted)
        for name, source in sources.items():
            draft = Attempt(
                student=submission.student, slug=submission.slug, members=delivery.members or (submission.student,),
                assignment=name, submission=hash_of_submission(source, delivery.problems), tests=tests[name],
                environment=environment, rules=rules[name], submitted_at=delivery.submitted_at, late=delivery.late)
            mine = before.get((submission.slug, name, draft.submission), [])
            if draft.submitted_at is None and mine:
                # The folder gives no time, so take the one recorded earlier.
                draft = draft.model_copy(update={"submitted_at": mine[-1].submitted_at, "late": mine[-1].late})
            if mine:
                last = newest(hand_ins[submission.slug, name]).attempt
                came_back = draft.submitted_at is None and last.submission != draft.submission
                draft = draft.model_copy(update={"turn": max(attempt.turn for attempt in mine) + came_back})
            graded = any(attempt.key == draft.key and not attempt.failed for attempt in mine)
            # The last attempt decides: one without a failure has settled the matter, even with other tests or
            # elsewhere.
            if kind == "failed" and (graded or not mine or not mine[-1].failed):
                choice.skipped[NOT_FAILED] += 1
            elif kind == "regrade" and not any(attempt.judged for attempt in mine):
                choice.skipped[NO_GRADE] += 1
            elif force or not graded:
                choice.drafts.setdefault(submission.slug, {})[name] = draft
            else:
                choice.skipped[GRADED] += 1
                if draft.hand_in not in attempt_of:
                    last = attempt_of[mine[-1].hand_in]
                    choice.again.append(last.model_copy(update={
                        "of": last.id, "submitted_at": draft.submitted_at, "late": draft.late, "turn": draft.turn,
                        "members": draft.members}))
        if submission.slug in choice.drafts:
            choice.handed_in[submission.slug] = workspace.handed_in(submission.folder, sources, catalogue.files())
    return choice
