"""What of a class is to be graded: what is there from the same file, tests and environment is not graded again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from grader.intake.manifest import FILE, ManifestEntry, read_manifest
from grader.model import catalogue, desk
from grader.model.course import Course
from grader.model.result import Environment
from grader.model.submission import HandedIn, Submission, read_sources
from grader.records.attempt import Attempt, hash_of_environment, hash_of_rules, hash_of_submission, hash_of_tests
from grader.records.standing import Standing, by_assignment, newest

Kind = Literal["grade", "failed", "regrade"]
"""Everything; what failed through no fault of the student's; what has a grade."""


@dataclass(frozen=True)
class Delivery:
    """What the folder of submissions says of one of them: its members, when it was handed in, and whether late; and
    what of it could not be read."""

    members: tuple[str, ...] = ()
    submitted_at: str | None = None
    late: bool | None = None
    problems: tuple[str, ...] = ()


@dataclass
class Choice:
    """Drafts of the attempts to make, by folder and assignment, and by folder what was read; those that were only
    handed in anew, with another time or after another file; why others are left out."""

    drafts: dict[str, dict[str, Attempt]] = field(default_factory=dict)
    handed_in: dict[str, HandedIn] = field(default_factory=dict)
    again: list[Attempt] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def said(self) -> str:
        """How many are left out, and why, in one line; "" if none is."""
        many = self.skipped.total()
        all_ = sum(map(len, self.drafts.values())) + many
        reasons = [f"{count:,} {why}" if count < many else why for why, count in self.skipped.items()]
        anew = f"; {len(self.again):,} of them handed in again since, which counts" if self.again else ""
        return f"Skipped {many:,} of {all_:,} assignment{'s' * (all_ != 1)}: {'; '.join(reasons)}{anew}" if many else ""


GRADED = "graded already from the same files, tests and environment (--force grades them again)"
NOT_FAILED = "without a failure of ours"
NO_GRADE = "without a grade from the same file"


def deliveries(submissions: Sequence[Submission]) -> dict[Submission, Delivery]:
    """What `intake.json` beside the submissions' folders says of them. Raises ManifestError."""
    said: dict[Path, dict[str, ManifestEntry]] = {}
    found = {}
    for one in submissions:
        folder = one.folder.absolute()
        if folder.parent not in said:
            there = (folder.parent / FILE).is_file()
            said[folder.parent] = {
                each.folder: each for each in read_manifest(folder.parent).submissions} if there else {}
        known = said[folder.parent].get(folder.name)
        found[one] = Delivery() if known is None else Delivery(
            tuple(member.id for member in known.members), known.submitted_at, known.late, tuple(known.problems))
    return found


def choose(
    submissions: Mapping[Submission, Delivery], names: Sequence[str], course: Course, environment: Environment,
    speed: bool, recorded: Sequence[Attempt], standing: Sequence[Standing], *, kind: Kind = "grade",
    force: bool = False,
) -> Choice:
    """Which assignments (`names`) of which submissions to grade. `recorded` are all attempts in the order of recording,
    and `standing` those that stand."""
    found = Choice()
    tests = {name: hash_of_tests(name, course) for name in names}
    rules = {name: hash_of_rules(name, course) for name in names}
    where = hash_of_environment(environment, speed)
    before: dict[tuple[str, str, str], list[Attempt]] = {}
    for one in recorded:
        before.setdefault((one.slug, one.assignment, one.submission), []).append(one)
    stands = {one.attempt.hand_in: one.attempt for one in standing}
    hand_ins = by_assignment({one.attempt.hand_in: one for one in standing})
    for submission, delivery in submissions.items():
        sources = read_sources(submission.folder, names, course.source_bytes)
        for name, source in sources.items():
            draft = Attempt(
                student=submission.student, slug=submission.slug, members=delivery.members or (submission.student,),
                assignment=name, submission=hash_of_submission(source, delivery.problems), tests=tests[name],
                environment=where, rules=rules[name], submitted_at=delivery.submitted_at, late=delivery.late)
            mine = before.get((submission.slug, name, draft.submission), [])
            if draft.submitted_at is None and mine:
                # Nothing is said against the time that was known.
                draft = draft.model_copy(update={"submitted_at": mine[-1].submitted_at, "late": mine[-1].late})
            if mine:
                last = newest(hand_ins[submission.slug, name]).attempt
                came_back = draft.submitted_at is None and last.submission != draft.submission
                draft = draft.model_copy(update={"turn": max(one.turn for one in mine) + came_back})
            graded = any(one.key == draft.key and not one.failed for one in mine)
            # What mended a failure may be other tests or another environment.
            if kind == "failed" and (graded or not mine or not mine[-1].failed):
                found.skipped[NOT_FAILED] += 1
            elif kind == "regrade" and not any(one.judged for one in mine):
                found.skipped[NO_GRADE] += 1
            elif force or not graded:
                found.drafts.setdefault(submission.slug, {})[name] = draft
            else:
                found.skipped[GRADED] += 1
                if draft.hand_in not in stands:
                    last = stands[mine[-1].hand_in]
                    found.again.append(last.model_copy(update={
                        "of": last.id, "submitted_at": draft.submitted_at, "late": draft.late, "turn": draft.turn,
                        "members": draft.members}))
        if submission.slug in found.drafts:
            found.handed_in[submission.slug] = desk.handed_in(submission.folder, sources, catalogue.files())
    return found
