"""Search for an edit that makes every case right."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grader.course.cases import Case
from grader.judging.explain.wording import phrases_of, say
from grader.judging.prepared import PreparedTask
from grader.judging.repair.proof import Proof, proved
from grader.judging.repair.trial import Trial
from grader.judging.repair.words import change_fact, line_of
from grader.languages.phrases import fact
from grader.plan.edits import MOST_EDITED, Edit, difference, edited
from grader.plan.plan import Malformed
from grader.results.result import CheckResult, Repair, decisive
from grader.sandbox.confine.processes import processor_seconds

MENDED = ("wrong_answer", "runtime_error")
"""Verdicts whose files are edited: kernels that are wrong, not those that are slow or break a rule."""


@dataclass(frozen=True)
class Pace:
    """Numbers of edits to try: `first` together, then four times as many each time, up to `most` together; `after`
    more behind the first that is proved; and the `share` of those that a course allows."""

    first: int
    most: int
    after: int
    share: float


# Processes for a batch take as long to start as ten files to be planned. A better change may follow the first that is
# proved. Likelier changes come earlier, so some dozens more are tried: as many as the second batch has.
PLANNED = Pace(first=15, most=MOST_EDITED, after=60, share=1)
# Files are built together: one more takes a tenth of a second, and one alone takes more than a second.
BUILT = Pace(first=20, most=MOST_EDITED, after=4, share=1 / 10)

# Processor seconds of a search, of all its processes, builds and proofs included. This bound ends the search for
# hostile files alone. For honest ones the number of edits does, so that the same file gets the same hint, on a busy
# machine as well.
PROCESSOR_SECONDS = 60.0
# Seconds of wall time, since a file that waits uses no processor.
MOST_SECONDS = 180
# Seconds between two measurements of the processors' time: each reads all processes of the machine.
MEASURE_SECONDS = 1.0
# A file may be made so that many edits pass a case, and each proof takes as long as ten trials.
MOST_PROOFS = 8
MOST_LINES = 16
# A file that ends planners, or hangs in them, delays the whole class.
MOST_LOST = 2
# Changes whose weights differ by at most this are reported together, since none is the only one.
NEARLY = 0.5


@dataclass
class _Search:
    """A search's state: the lines that evidence names, the numbers of edits `tried` and of proofs `begun`, the proved
    edits with their proofs, the times of the clock and of the processors at its beginning, the processor seconds that
    it had `spent` at the last measurement, and the time at which the next one is `due`."""

    prepared: PreparedTask
    case: Case
    lines: Sequence[int]
    tried: int = 0
    begun: int = 0
    proofs: list[tuple[Edit, Proof]] = field(default_factory=list)
    clock: float = field(default_factory=time.monotonic)
    processors: float = field(default_factory=processor_seconds)
    spent: float = 0.0
    due: float = 0.0

    def prove(self, edit: Edit, text: str) -> bool:
        """Return whether the edit is the first that is proved."""
        self.begun += 1
        if proof := proved(self.prepared, self.case, text):
            self.proofs.append((edit, proof))
        return proof is not None and len(self.proofs) == 1

    def likelier(self, edit: Edit) -> bool:
        """Return whether a proof of `edit` would be reported beside the best one that was found, or instead of it."""
        best = min((_badness(edit) for edit, _ in self.proofs), default=None)
        return best is None or best[0] or edit.weight <= best[1] + NEARLY

    @property
    def over(self) -> bool:
        now = time.monotonic()
        if now >= self.due:
            self.spent, self.due = processor_seconds() - self.processors, now + MEASURE_SECONDS
        return self.begun >= MOST_PROOFS or now - self.clock > MOST_SECONDS or self.spent > PROCESSOR_SECONDS


def repaired(
    prepared: PreparedTask, checks: Sequence[CheckResult],
    progress: Callable[[int, int], object] = lambda tried, most: None
) -> Repair | None:
    """Return a change of a wrong file that makes every case right; None if there is none among those tried, or nothing
    to mend. `checks` are the outcomes of the task. `progress` is called with the number of edits that were tried, and
    with their largest number. The caller has judged the task. Raises InfrastructureError."""
    task, hints = prepared.task, prepared.task.course.hints
    case = failed_case(prepared, checks)
    if hints.level == "off" or not task.assignment.front_end.edits or case is None:
        return None
    search = _Search(prepared, case, _lines(checks))
    _search(search, hints.tries, progress)
    if not search.proofs:
        return None
    proofs = sorted(search.proofs, key=lambda pair: _badness(pair[0]))
    best, proof = proofs[0]
    near = [pair for pair in proofs if pair[0].workaround == best.workaround and pair[0].weight <= best.weight + NEARLY]
    edits, whole = [edit for edit, _ in near], all(proof.whole for _, proof in near)
    return Repair(
        level=hints.level, line=line_of(task.text, edits), kind=best.kind,
        told=say(phrases_of(task.assignment, task.text), change_fact(task.text, edits, hints.level),
                 None if whole else fact("repair.untried")),
        diff=difference(task.text, edited(task.text, best)), tried=search.tried, cases=proof.cases)


def failed_case(prepared: PreparedTask, checks: Sequence[CheckResult]) -> Case | None:
    """Return the smallest public case that failed and that a simulator can run. Cases with a size of 1 hide most
    errors, and come last. None if the verdict is not one that an edit can mend."""
    if decisive(checks)[0] not in MENDED:
        return None
    failed = {check.case for check in checks if check.stage == "case" and check.outcome == "failed"}
    cases = [case for case in prepared.task.assignment.cases_for("cpu") if case.name in failed and not case.hidden]
    return min(cases, key=lambda case: (1 in case.sizes.values(), math.prod(case.sizes.values())), default=None)


def _lines(checks: Sequence[CheckResult]) -> list[int]:
    """Return the lines that public checks name, each once."""
    places = [check.detail.place for check in checks if check.detail and check.detail.place and not check.hidden]
    return list(dict.fromkeys(place.line for place in places if place.line))[:MOST_LINES]


def _search(search: _Search, tries: int, progress: Callable[[int, int], object]) -> None:
    pace = BUILT if search.prepared.toolchain.builds else PLANNED
    text = search.prepared.task.text
    trial = Trial(search.prepared, search.case)
    try:
        edits = [(edit, changed) for edit in trial.edits(search.lines)[:math.ceil(pace.share * tries)]
                 if (changed := _edited(text, edit)) is not None]
        # The file as it stands comes first. A failure that does not show without a GPU cannot be mended here: every
        # edit would pass.
        size, most = pace.first, len(edits)
        while search.tried < most and not search.over and trial.lost < MOST_LOST:
            progress(search.tried, len(edits))
            batch = edits[search.tried:min(most, search.tried + size)]
            texts = [changed for _, changed in batch]
            first, size = not search.tried, min(4 * size, pace.most)
            right = trial.right([text, *texts] if first else texts)
            # If an edit has ended the planner, nothing is known of the file as it stands.
            if first and (next(right) or (trial.lost and next(trial.right([text])))):
                return
            for edit, changed in batch:
                if search.tried >= most or search.over:
                    break
                if not search.likelier(edit):
                    most = search.tried
                    break
                search.tried += 1
                if next(right) and search.prove(edit, changed):
                    most = min(most, search.tried + pace.after)
        progress(search.tried, len(edits))
    finally:
        trial.end()


def _edited(text: str, edit: Edit) -> str | None:
    try:
        return edited(text, edit)
    except Malformed:
        return None


def _badness(edit: Edit) -> tuple[bool, float, int]:
    return edit.workaround, edit.weight, sum(len(span.text) + span.end - span.start for span in edit.spans)
