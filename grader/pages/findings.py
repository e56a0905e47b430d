"""A result in words: status, headline, what to fix first, what was not measured, and conditions on how kernels work."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from grader.pages.text import percent, points
from grader.results.result import AssignmentResult, CheckResult, Detail, Outcome, OutputFigures, Result, decisive
from grader.results.structure import ConditionResult
from grader.results.verdicts import RANKED, VERDICTS, FailureKind

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
BEFORE_RUNNING = {
    "syntax_error": "syntax error", "compile_error": "compile error", "unreadable_source": "not read"}
STAGE_WORDS = {"source": "the file", "target": "compiled for the GPU"}


@dataclass(frozen=True)
class Status:
    """A status, as shape and word. `key` selects its colour, which adds no information."""

    key: str
    shape: str
    word: str


PASSED = Status("passed", "●", "passed")
PARTLY = Status("partly", "▲", "partly")
FAILED = Status("failed", "■", "failed")
ABSENT = Status("absent", "○", "not handed in")
UNWRITTEN = Status("absent", "○", "not written yet")
UNMEASURED = Status("unmeasured", "◇", "not measured")
CHECK_STATUS = {"passed": PASSED, "failed": FAILED, "not_run": Status("unmeasured", "◇", "not run")}


@dataclass(frozen=True)
class FailedAssignment:
    """A failing assignment and the check that shows what is wrong."""

    name: str
    assignment: AssignmentResult
    check: CheckResult | None
    others: int

    @property
    def detail(self) -> Detail | None:
        return self.check.detail if self.check else None

    @property
    def title(self) -> str:
        """Return the name of the mistake, without the example, which is shown as evidence."""
        return sentence(self._said) or VERDICTS[self.assignment.verdict].words

    @property
    def _said(self) -> str:
        return self.assignment.summary or self.assignment.message or (self.detail.message if self.detail else "")

    @property
    def text(self) -> str:
        """Return the part of the check's message that title and worst element do not say."""
        if not self.detail or self.detail.message == self._said:
            return ""
        first = self.detail.wrong_outputs[0]
        if first.worst and first.wrong and not first.unwritten:
            of = f" of {first.name}" if len(self.detail.outputs) > 1 else ""
            return f"{how_much(first, of)}."
        return sentence(self.detail.message)

    @property
    def introduction(self) -> str:
        """Return the words before the name of the case shown."""
        cases = [c for c in self.assignment.correctness.checks if c.outcome == "failed" and c.sizes]
        smallest = min((prod(c.sizes.values()) for c in cases), default=0)
        return "Smallest failing case" if self.check and prod(self.check.sizes.values()) == smallest else "Seen in case"

    @property
    def hint(self) -> str:
        return self.assignment.hint or (self.detail.hint if self.detail else "")


def status(assignment: AssignmentResult) -> Status:
    if assignment.right:
        return PASSED
    if not assignment.judged:
        return UNMEASURED
    if not assignment.tried:
        return UNWRITTEN if _failures(assignment) - {"missing_file"} else ABSENT
    return PARTLY if assignment.score > 0 else FAILED


def verdict_words(assignment: AssignmentResult) -> str:
    """Return the words for an assignment's verdict. A file that fails before it can run has words of its own, since
    that is no error of running it."""
    check = None if assignment.right else evidence(assignment)
    words = VERDICTS[assignment.verdict].words
    return BEFORE_RUNNING.get(check.detail.kind, words) if check and check.detail else words


def evidence(assignment: AssignmentResult) -> CheckResult | None:
    """Return the check that the message shows. If there is none, choose among the checks that gave the verdict: the
    source; or else the smallest case with more than one element; or else the target."""
    checks = assignment.correctness.checks
    if (shown := next((check for check in checks if check.id == assignment.shown), None)) is not None:
        return shown
    failed = decisive(checks)[1] or [check for check in checks if check.outcome == "failed"]
    order = {"source": 0, "case": 1, "target": 2, "structure": 3, "speed": 4}

    def place(check: CheckResult) -> tuple[bool, int, bool, int, str]:
        elements = prod(check.sizes.values())
        return check.detail is None, order[check.stage], elements <= 1, elements, check.id

    return min(failed, key=place, default=None)


def findings(result: Result) -> list[FailedAssignment]:
    """Return every assignment that was tried and is wrong, in descending order of lost points."""
    wrong = [(name, a) for name, a in result.assignments.items()
             if status(a) in (FAILED, PARTLY)]
    wrong.sort(key=lambda item: (item[1].score - item[1].measured_max, VERDICTS[item[1].verdict].urgency))
    return [FailedAssignment(name, a, evidence(a), max(sum(c.outcome == "failed" for c in a.correctness.checks) - 1, 0))
            for name, a in wrong]


def exact(check: CheckResult) -> bool:
    """Return whether bits must match in a wrong answer."""
    wrong = check.detail.wrong_outputs if check.detail else []
    return any(output.worst is not None and output.worst.exact for output in wrong)


def how_much(output: OutputFigures, of: str = "") -> str:
    """Return words for how many elements of an output are wrong: `All 64 elements are wrong`, `3 of 64 elements were
    never written`."""
    wrong, missing, total = output.wrong, output.unwritten, output.total
    state = "wrong"
    if missing:
        state = "left as they were" if output.kept else "never written"
    count = missing or wrong
    are = ("was" if count == 1 else "were") if missing else ("is" if count == 1 else "are")
    said = f"{count:,} of {total:,} elements{of} {are} {state}"
    if count == total:
        said = f"All {total:,} elements{of} {are} {state}" if total > 1 else f"The only element{of} {are} {state}"
    return f"{said}, {wrong - missing:,} more {'is' if wrong - missing == 1 else 'are'} wrong" \
        if missing and wrong > missing else said


def beside(check: CheckResult | None) -> tuple[list[OutputFigures], list[OutputFigures]]:
    """Return the other outputs than the one that a check's message is about: the wrong ones, and the right ones."""
    detail = check.detail if check else None
    if detail is None or len(detail.outputs) < 2 or not detail.wrong:
        return [], []
    return detail.wrong_outputs[1:], [output for output in detail.outputs if not output.wrong]


def _failures(assignment: AssignmentResult) -> set[FailureKind]:
    """Return the kinds of an assignment's failures. The details of checks that did not run are left out."""
    return {c.detail.kind for c in assignment.correctness.checks if c.outcome == "failed" and c.detail}


def absent(assignment: AssignmentResult) -> bool:
    """Return whether nothing was written: there is no file, or only the template."""
    kinds = _failures(assignment)
    return bool(kinds) and kinds <= {"missing_file", "not_attempted"}


def margin(assignment: AssignmentResult) -> str:
    """Describe how close a right kernel's errors come to the allowed error; "" if no case shows it."""
    ratios = [check.worst_ratio for check in assignment.correctness.checks if check.worst_ratio is not None]
    if not ratios:
        return ""
    worst = max(ratios)
    if worst == 1:
        # For example, bytes that may be wrong by one level.
        return "The worst error is exactly the largest that is allowed."
    return f"The worst error is {percent(worst)} of what is allowed." if worst else "Every element is exact."


def headline(result: Result) -> str:
    """Describe in a sentence how many of the judged kernels are right, and which to fix first."""
    every = list(result.assignments.values())
    results = [a for a in every if a.judged]
    none = "Neither" if len(results) == 2 else "None"
    right = sum(a.right for a in results)
    if not every:
        return "Nothing was graded."
    if not results:
        # A missing GPU is named before a failure of the grader, which may be gone the next time.
        return max((VERDICTS[a.verdict] for a in every), key=lambda row: row.rank).none_judged
    if not any(a.tried for a in results):
        # A stub that was handed in does not count as a missing file.
        absent = all(check.detail.kind == "missing_file" for a in results for check in a.correctness.checks
                     if check.outcome == "failed" and check.detail)
        single, many = len(results) == 1, _number(len(results))
        if not absent:
            return "The kernel is not written yet." if single else f"{none} of the {many} kernels is written yet."
        if all(a.elsewhere for a in results):
            said = "The file has not" if single else f"{none} of the {many} files has"
            return f"{said} the name and place that are expected."
        instead = result.unread or any(a.elsewhere for a in results)
        said = "The file was not found" if single else f"{none} of the {many} files was found"
        return f"{said}; other files were handed in." if instead else f"{said}."
    unjudged = f" {_number(len(every) - len(results)).capitalize()} could not be judged." if results != every else ""
    broken = [failed.assignment.title for failed in findings(result)]
    first = f"; {broken[0]} is the one to fix first" if broken and len(results) > 1 else ""
    if len(results) == 1:
        return f"The kernel is {'right' if right else 'not right yet'}.{unjudged}"
    if right == len(results):
        return f"{'Both' if right == 2 else f'All {_number(right)}'} kernels are right.{unjudged}"
    if not right:
        return f"{none} of the {_number(len(results))} kernels is right yet{first}.{unjudged}"
    verb = "is" if right == 1 else "are"
    return f"{_number(right).capitalize()} of {_number(len(results))} kernels {verb} right{first}.{unjudged}"


def sentence(text: str) -> str:
    """Return the text with a full stop, which messages of compilers lack."""
    text = text.strip()
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def label(check: CheckResult) -> str:
    """Return the name of a check in pages."""
    return check.case or STAGE_WORDS.get(check.id, check.id.replace("structure-", "condition "))


def not_measured(result: Result) -> list[str]:
    """Return a sentence for each reason why some points could be neither won nor lost."""
    said = [f"{a.title} ({points(a.max_score)} points): {row.open_because} {sentence(a.message)}"
            for row in RANKED for a in result.assignments.values() if row.verdict == a.verdict and not a.judged]
    judged = len(result.assignments) - len(said)
    reasons: dict[str, list[AssignmentResult]] = {}
    for assignment in result.assignments.values():
        if assignment.performance.status == "not_measured" and assignment.performance.max_points and assignment.judged:
            reasons.setdefault(assignment.performance.reason, []).append(assignment)
    for reason, group in reasons.items():
        if len(group) == len(result.assignments) > 1:
            whose = "both kernels" if len(group) == 2 else f"all {_number(len(group))} kernels"
        else:
            whose = f"the other {_number(len(group))} kernels" if len(group) == judged > 1 \
                else "; ".join(a.title for a in group)
        total = points(sum(a.performance.max_points for a in group))
        said.append(f"Speed of {whose} ({total} points): {sentence(reason) or 'This machine could not measure it.'}")
    for assignment in result.assignments.values():
        structure = assignment.structure
        if assignment.judged and structure.measured_max < structure.max_points:
            unseen = (condition.said for condition in structure.conditions if condition.met is None)
            why = next(unseen, structure.reason)
            open_points = points(structure.max_points - structure.measured_max)
            said.append(f"Structure of {assignment.title} ({open_points} points): "
                        f"{sentence(why)}")
    return said


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


@dataclass(frozen=True)
class ShownCondition:
    """A condition with its status in a word, the sentences about it, and what to do, "" where it is met."""

    status: Status
    word: str
    said: str
    look: str


def conditions_heading(assignment: AssignmentResult) -> str:
    """Return the sentence about the points for structure; "" if the course gives none, or none here."""
    structure = assignment.structure
    if not structure.max_points or not assignment.right:
        return ""
    earning = [condition for condition in structure.conditions if not condition.required]
    met = sum(condition.met is True for condition in earning)
    unseen = sum(condition.met is None for condition in earning)
    if not earning:
        return f"The {points(structure.max_points)} points for structure stay open. {sentence(structure.reason)}"
    left = f", {unseen} not shown, which stay{'s' * (unseen == 1)} open" if unseen else ""
    return (f"{points(structure.points)} of {points(structure.max_points)} points for structure: {met} of "
            f"{len(earning)} condition{'s' * (len(earning) != 1)} met{left}.")


def shown_conditions(assignment: AssignmentResult) -> list[ShownCondition]:
    """Return the conditions that were checked, unmet ones first."""
    words = {True: "met", False: "not met", None: "not shown"}
    conditions = [ShownCondition(CHECK_STATUS[_outcome(condition)], words[condition.met], _said(condition),
                                 condition.look if condition.met is False else "")
                  for condition in assignment.structure.conditions]
    order = [CHECK_STATUS[outcome] for outcome in ("failed", "not_run", "passed")]
    return sorted(conditions, key=lambda condition: order.index(condition.status))


def condition_checks(assignment: AssignmentResult) -> list[CheckResult]:
    """Return the conditions as checks, for those who list checks."""
    return [CheckResult(
        id=f"structure-{condition.name}", stage="structure", outcome=_outcome(condition),
        detail=None if condition.met else Detail(kind="condition", message=_said(condition), hint=condition.look))
        for condition in assignment.structure.conditions if not condition.required]


def _outcome(condition: ConditionResult) -> Outcome:
    return "not_run" if condition.met is None else "passed" if condition.met else "failed"


def _said(condition: ConditionResult) -> str:
    required = " This is required." if condition.required else ""
    return f"The kernel has to {condition.words}.{required} {condition.said}".strip()
