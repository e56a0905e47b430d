"""The result of a grading: `result.json`, version kernelmark/result/v1. Reports read nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import ConfigDict, Field

from grader.results.launched import Inspection
from grader.results.mark import Mark
from grader.results.record import Record
from grader.results.structure import ConditionResult
from grader.results.verdicts import (
    ACCEPTED,
    GRADERS_FAULT,
    RANKED,
    UNJUDGED,
    UNTRIED,
    VERDICT_OF_KIND,
    FailureKind,
    Verdict,
)

SCHEMA = "kernelmark/result/v1"

IMPOSSIBLE = 1.05
"""The fraction of the machine's roof beyond which a kernel is flagged for a person to examine."""

Outcome = Literal["passed", "failed", "not_run"]
Stage = Literal["source", "case", "target", "structure", "speed"]
"""The subject of a check: the file, one case's answer, the compiled code for the target GPU, one condition on how the
kernels work, one case's time."""


class WorstElement(Record):
    """The element that exceeds its tolerance most. Values are text, so that NaN and infinity survive JSON."""

    index: list[int]
    got: str
    expected: str
    error: str
    allowed: str

    @property
    def exact(self) -> bool:
        """Return whether bits must match: the size of an error then means nothing."""
        return self.allowed in ("0", "0.0")


class ErrorMap(Record):
    """A map of the wrong elements of an output. Cell (i, j) covers a block of the output; a vector is folded into rows.

    Each cell is one character: "." right; "1".."9" wrong by a growing factor of the tolerance (each step is a factor of
    ten); "u" never written. `cells` has at most 128 strings of at most 128 characters.
    """

    output_shape: list[int]
    cell_shape: list[int] = Field(description="elements a cell covers, rows x columns")
    cells: list[str]
    kept: bool = Field(default=False, exclude_if=lambda kept: not kept, description='"u" is: left as it was, of a '
                       "tensor that is changed in place")


class Corner(Record):
    """Some elements around the first wrong one, in rows; for a vector, one element in each row. Values are text;
    `expected` is "" for an element that is right."""

    index: list[int] = Field(description="of the first that is shown")
    got: list[list[str]]
    expected: list[list[str]]


class OutputFigures(Record):
    """The figures of one of several outputs in a case that failed. `worst` and `error_map` are there if it is wrong."""

    name: str
    wrong: int
    total: int
    unwritten: int = 0
    worst: WorstElement | None = None
    error_map: ErrorMap | None = None

    @property
    def kept(self) -> bool:
        """Return whether `unwritten` elements are elements left unchanged, in a tensor that is updated in place."""
        return self.error_map is not None and self.error_map.kept

    @property
    def worst_written(self) -> WorstElement | None:
        """Return the worst element, if the kernel wrote it at all."""
        return self.worst if self.kept or self.wrong != self.unwritten else None


class Place(Record):
    """A line of the student's file, with its text, and what was seen there that the message does not say."""

    file: str
    line: int
    text: str = ""
    seen: str = ""


class Detail(Record):
    """The reason why a check failed or did not run."""

    kind: FailureKind
    message: str
    hint: str = ""
    guess: str = Field(default="", description="the end of the hint that follows from no evidence")
    pattern: str = Field(default="", description="a name for what was recognised, the same in cases that show the same")
    fits: list[str] = Field(default=[], description="the patterns that it shows, where it shows several")
    place: Place | None = None
    traceback: str = ""
    output: str = Field(default="", description="the end of what the submission printed")
    wrong: int | None = None
    total: int | None = None
    unwritten: int | None = None
    worst: WorstElement | None = None
    error_map: ErrorMap | None = None
    corner: Corner | None = None
    outputs: list[OutputFigures] = Field(
        default=[], exclude_if=lambda outputs: not outputs,
        description="each output, in the order of their parameters; the figures above are of the first wrong one. "
                    "Left out where there is one output alone and its name is out")

    @property
    def wrong_outputs(self) -> list[OutputFigures]:
        """Return the figures of each wrong output, the output that the message is about first."""
        return [output for output in self.outputs if output.wrong] or [OutputFigures(
            name=self.outputs[0].name if self.outputs else "out", wrong=self.wrong or 0, total=self.total or 0,
            unwritten=self.unwritten or 0, worst=self.worst, error_map=self.error_map)]

    @property
    def about(self) -> str:
        """Return the name of the output that message and figures are about."""
        return self.wrong_outputs[0].name


class Interval(Record):
    """A median ratio of baseline time to student time, with the bounds of its bootstrap interval."""

    median: float
    low: float
    high: float


class Timing(Record):
    """The times of one case. Baseline and student are replayed in turn; a replay of the student has `slots` calls.
    Times are for one call."""

    case: str
    sizes: dict[str, int]
    slots: int
    student_us: float
    baseline_us: float
    compiled_us: float | None = None
    ratios: list[float] = Field(description="baseline ÷ student, one for each block of four replays, as they came")
    speedup: Interval
    roof: str = Field(default="", description="what bounds the work on this machine")
    roof_us: float | None = Field(default=None, description="what the work takes at that roof")
    roof_fraction: float | None = None
    notes: list[str] = Field(default=[], description="the state of the machine, and what was done about it")


class CheckResult(Record):
    """One check. `id` is unique within an assignment; `case` is empty for a check of the source or the target."""

    id: str
    stage: Stage
    case: str = ""
    sizes: dict[str, int] = {}
    hidden: bool = Field(default=False, description="of a hidden case, of which students see only the kind")
    outcome: Outcome
    seconds: float | None = None
    worst_ratio: float | None = Field(default=None, description="worst error over what is allowed")
    detail: Detail | None = None
    timing: Timing | None = None
    blocks: list[int] = Field(default=[], description="where it failed: sizes of the blocks that its kernels work on")
    told: list[str] | None = Field(default=None, description="where it failed: the sizes that its kernels are given")
    note: str = Field(default="", description="how much was compared, if not all")


def decisive(checks: Sequence[CheckResult]) -> tuple[Verdict | None, list[CheckResult]]:
    """Return the verdict that the checks which failed or need a GPU give, and the checks among them that give it;
    (None, []) if there are no such checks."""
    failed = [(row, c) for c in checks if c.detail is not None and (row := VERDICT_OF_KIND[c.detail.kind])
              and (c.outcome == "failed" or (c.outcome == "not_run" and row.fault == "machine"))]
    given = {row.verdict for row, _ in failed}
    for row in RANKED:
        if row.verdict in given:
            return row.verdict, [check for its, check in failed if its == row]
    return None, []


class Correctness(Record):
    points: float = 0
    max_points: float
    checks: list[CheckResult] = []


REFERENCE = "reference"
"""The name of the course's own kernel among an assignment's rungs."""


class Rung(Record):
    """A kernel of the course, as it was measured earlier on a device of the same name."""

    name: str
    title: str = Field(default="", description="what it teaches")
    ratio: float = Field(description="baseline ÷ kernel, the geometric mean over the timed cases")


class SweepPoint(Record):
    """One size. Times are for a call, in microseconds, or None; `trouble` says why the kernel has none."""

    sizes: dict[str, int]
    amount: float = Field(description="bytes or floating-point operations that the work takes at the least")
    student_us: float | None = None
    baseline_us: float | None = None
    compiled_us: float | None = None
    reference_us: float | None = None
    roof_us: float | None = Field(default=None, description="what the work takes at this machine's roof")
    trouble: str = ""


class Sweep(Record):
    """Speed by size: points from the smallest to the largest. A rate is an `amount` divided by a time."""

    unit: Literal["GB/s", "TFLOP/s"]
    points: list[SweepPoint]


class Performance(Record):
    """Speed. `speedup` is the geometric mean of the timed cases' ratios, with its interval."""

    status: Literal["not_measured", "measured"] = "not_measured"
    reason: str = ""
    points: float = 0
    max_points: float
    speedup: Interval | None = None
    floor: float | None = Field(default=None, description="the ratio that earns nothing")
    target: float | None = Field(default=None, description="the ratio that earns all points")
    timings: list[Timing] = []
    baseline: str = ""
    compiled: str = Field(default="", description="what is reported beside the baseline")
    notes: list[str] = Field(default=[], description="how the points came about, beyond the rule")
    ladder: list[Rung] = Field(default=[], description="the stages of the course; empty if this device has none")
    sweep: Sweep | None = Field(default=None, description="the speed at other sizes, where it was asked for")


class StructureResult(Record):
    """The conditions on how kernels work. Conditions that are not required share `max_points` evenly: `points` are
    those of the conditions that are met, `measured_max` those of the conditions that a run has decided."""

    reason: str = Field(default="", description="why no condition was checked")
    points: float = 0
    measured_max: float = 0
    max_points: float = 0
    conditions: list[ConditionResult] = []


class Flag(Record):
    """A flag: something for a person to examine, and the points that it costs, mostly none."""

    what: str
    evidence: str
    points: float = 0
    place: Place | None = None


class Repair(Record):
    """One change of the student's file, found by trying, that makes every case right. `told` is the sentence for the
    student, who learns as much as the course's `level` allows. `diff` is the change itself; only those who grade see
    it, unless the level is "edit"."""

    level: Literal["place", "kind", "edit"]
    line: int = Field(description="0 where changes of several lines are as good")
    kind: str = Field(description="what it changes: grader.plan.edits.EditKind")
    told: str
    diff: str = ""
    tried: int = Field(description="changes that were tried before")
    cases: int = Field(description="cases that it makes right, sizes of no public case among them")


class AssignmentResult(Record):
    title: str
    signature: str
    formula: str = ""
    verdict: Verdict
    score: float
    max_score: float
    message: str
    summary: str = Field(default="", description="what failed cases have in common, which begins the message")
    shown: str = Field(default="", description="id of the check that the message shows beside its summary")
    hint: str = ""
    guess: str = Field(default="", description="the end of the hint that follows from no evidence")
    repair: Repair | None = Field(default=None, description="a change that makes every case right, if one was found")
    correctness: Correctness
    performance: Performance
    structure: StructureResult = StructureResult()
    flags: list[Flag] = []
    inspection: Inspection | None = None
    remarks: list[str] = Field(default=[], description="what costs no points and is worth knowing")
    source_sha256: str = ""
    source: str = Field(default="", description="the student's file, unless it is too long to be shown")
    elsewhere: list[str] = Field(
        default=[], description="where its file is missing, those that seem to be meant for it")
    seconds: float = 0
    marks: list[Mark] = Field(default=[], description="what people gave and said beside the points above")

    @property
    def given(self) -> float:
        """Return the points that people gave, beside `score`, to everybody whose work this is."""
        return sum(mark.points for mark in self.marks if not mark.student)

    @property
    def right(self) -> bool:
        return self.verdict == ACCEPTED

    @property
    def judged(self) -> bool:
        """Return whether this grading shows if the submission is right or wrong."""
        return self.verdict not in UNJUDGED

    @property
    def ours(self) -> bool:
        """Return whether the assignment failed through the grader's fault."""
        return self.verdict in GRADERS_FAULT

    @property
    def tried(self) -> bool:
        """Return whether something was handed in to be judged."""
        return self.verdict not in UNTRIED

    @property
    def measured_max(self) -> float:
        """Return the most points that this grading could have given."""
        if not self.judged:
            return 0
        speed = self.performance
        return self.correctness.max_points + self.structure.measured_max + (
            speed.max_points if speed.status == "measured" else 0)


class Environment(Record):
    device: str
    python: str
    torch: str
    triton: str
    numpy: str
    platform: str
    isolation: str
    isolation_reasons: list[str] = []
    isolation_missing: list[str] = Field(default=[], description="what this machine lacks, and what would add it")
    seed: str
    course: str = Field(default="", description="sha256 of course.toml")
    kernelmark: str = ""


class Result(Record):
    schema_: str = Field(default=SCHEMA, alias="schema")
    student: str
    score: float
    max_score: float
    measured_max: float = Field(description="points that this machine could have given")
    graded_at: str = Field(description="ISO 8601, UTC")
    seconds: float
    reproduce: str = Field(default="", description="the command that grades this again")
    notes: list[str] = []
    unread: list[str] = Field(
        default=[], description="Python that no assignment reads, in a folder that holds no file of an assignment")
    environment: Environment
    assignments: dict[str, AssignmentResult]

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


def with_assignments(result: Result, assignments: Mapping[str, AssignmentResult], **changed: object) -> Result:
    """Return a result with these assignments, with the sums of their points, and with the fields in `changed`."""
    return result.model_copy(update={
        "assignments": dict(assignments),
        "score": round(sum(a.score for a in assignments.values()), 2),
        "max_score": sum(a.max_score for a in assignments.values()),
        "measured_max": sum(a.measured_max for a in assignments.values()),
        **changed,
    })
