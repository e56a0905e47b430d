"""The verdicts, one row each. Everything that lists, orders, draws or scores verdicts follows from this table.

A new verdict is a row, and a name in `FailureKind` if its failure has none yet. `docs/grading.md` explains it to those
who grade. A new kind of failure also needs words in `results/hidden.py`, `judging/explain/failures.py` and
`pages/line.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator

FailureKind = Literal[
    "missing_file", "missing_function", "not_attempted", "unreadable_source", "syntax_error", "import_error",
    "wrong_signature", "compile_error",
    "exception", "crash", "time_out", "out_of_memory", "protocol", "over_limit", "unsupported", "out_of_bounds",
    "wrong_values", "unwritten", "not_finite", "input_changed", "race", "undefined",
    "condition", "policy", "needs_gpu", "infrastructure",
]
"""The reason why a check failed."""


class Colour(NamedTuple):
    """CSS colours on the class page: of the words and of the ground behind them, each for light and dark."""

    ink: str
    ground: str


GREEN = Colour("light-dark(#005a3f, #5fd6b0)", "light-dark(#d3ebe0, #10362b)")
ORANGE = Colour("light-dark(#8f3500, #ff9e68)", "light-dark(#fbdccb, #4a2109)")
PURPLE = Colour("light-dark(#83285c, #f0a6d0)", "light-dark(#f4dcea, #43203a)")
BLUE = Colour("light-dark(#00527f, #8ccaf3)", "light-dark(#d6e9f6, #0f3145)")
YELLOW = Colour("light-dark(#574c00, #f0e442)", "light-dark(#f5edb0, #3d3700)")
GREY = Colour("var(--muted)", "var(--raised)")
RED = Colour("light-dark(#fff, #111)", "light-dark(#a83f00, #ff9459)")


@dataclass(frozen=True, kw_only=True)
class VerdictRow:
    """A verdict: its name, its look on pages, its rank among others, and the points that it costs.

    `shape` identifies it without its colour. `look` is "hollow" for a bar in outline, "dashed" for a cell with a dashed
    border as well, "striped" for a bar in stripes and a cell in bold. `fault` is the student's, the machine's, which
    lacks a GPU, or the grader's. `kinds` are the kinds of failures that give the verdict; `about_answer`: these are
    seen in what a kernel computed. `tried` is False if nothing was handed in to be judged.

    `rank`: if an assignment's checks give several verdicts, the one with the lowest rank counts. `urgency`: if several
    kernels lose the same points, the one with the lowest urgency is to be fixed first.

    `points` says which points for correctness the verdict leaves: "share", the points of the cases that passed;
    "rules", as the course sets in `[policy] violation`; "none"; "open", neither won nor lost. `open_because` explains
    to a student why points are open; `none_judged` is the headline of a report in which all are; `judged` says where
    such cases can be judged, if anywhere.
    """

    verdict: str
    words: str
    shape: str
    colour: Colour
    look: Literal["filled", "hollow", "dashed", "striped"] = "filled"
    fault: Literal["nobody", "student", "machine", "grader"]
    kinds: tuple[FailureKind, ...] = ()
    about_answer: bool = False
    tried: bool = True
    rank: int
    urgency: int = 0
    points: Literal["share", "rules", "none", "open"]
    judged: str = ""
    open_because: str = ""
    none_judged: str = ""


ROWS = (
    VerdictRow(
        verdict="accepted", words="passed", shape="●", colour=GREEN, fault="nobody", rank=90, points="share"),
    VerdictRow(
        verdict="wrong_answer", words="wrong answer", shape="■", colour=ORANGE, fault="student",
        kinds=("wrong_values", "unwritten", "not_finite", "input_changed", "race", "undefined"), about_answer=True,
        rank=70, urgency=50, points="share"),
    VerdictRow(
        verdict="condition_not_met", words="condition not met", shape="▲", colour=ORANGE, look="hollow",
        fault="student", kinds=("condition",), rank=75, urgency=60, points="none"),
    VerdictRow(
        verdict="runtime_error", words="run-time error", shape="✕", colour=PURPLE, fault="student",
        kinds=("unreadable_source", "syntax_error", "import_error", "wrong_signature", "compile_error", "exception",
               "crash", "protocol", "over_limit", "unsupported", "out_of_bounds"),
        rank=50, urgency=20, points="share"),
    VerdictRow(
        verdict="time_limit", words="out of time", shape="▼", colour=BLUE, fault="student", kinds=("time_out",),
        rank=60, urgency=40, points="share"),
    VerdictRow(
        verdict="memory_limit", words="out of memory", shape="◆", colour=BLUE, fault="student",
        kinds=("out_of_memory",), rank=40, urgency=30, points="share"),
    VerdictRow(
        verdict="policy_violation", words="against the rules", shape="⊘", colour=YELLOW, fault="student",
        kinds=("policy",), rank=30, urgency=10, points="rules"),
    VerdictRow(
        verdict="missing", words="missing", shape="○", colour=GREY, look="hollow", fault="student",
        kinds=("missing_file", "missing_function", "not_attempted"), tried=False, rank=20, points="none"),
    VerdictRow(
        verdict="needs_gpu", words="needs a GPU", shape="◇", colour=GREY, look="dashed", fault="machine",
        kinds=("needs_gpu",), rank=80, points="open",
        judged="on a GPU alone",
        open_because="only a GPU can judge it, and these points are neither won nor lost.",
        none_judged="Nothing could be judged on this machine: all points stay open until a GPU has judged it."),
    VerdictRow(
        verdict="infrastructure_error", words="grader's fault", shape="!", colour=RED, look="striped", fault="grader",
        kinds=("infrastructure",), rank=10, points="open",
        open_because="the grader failed, through no fault of yours.",
        none_judged="The grader failed before it could judge anything: that is our fault and costs no points."),
)
"""The verdicts, in the order of the class page's legend."""

VERDICTS = {row.verdict: row for row in ROWS}
ACCEPTED = "accepted"
"""The verdict that needs positive evidence: every check was made, and passed."""
INFRASTRUCTURE_ERROR = "infrastructure_error"
"""The verdict if no check shows what went wrong."""
RANKED = tuple(sorted(ROWS, key=lambda row: row.rank))
VERDICT_OF_KIND = {kind: row for row in ROWS for kind in row.kinds}


def _where(fits: Callable[[VerdictRow], bool]) -> frozenset[str]:
    return frozenset(row.verdict for row in ROWS if fits(row))


UNJUDGED = _where(lambda row: row.points == "open")
"""Verdicts that do not show whether a submission is right: points are neither won nor lost."""
GRADERS_FAULT = _where(lambda row: row.fault == "grader")
STUDENTS_FAULT = _where(lambda row: row.fault == "student")
UNTRIED = _where(lambda row: not row.tried)


def _known(verdict: str) -> str:
    if verdict not in VERDICTS:
        raise ValueError(f"one of {', '.join(VERDICTS)} expected")
    return verdict


Verdict = Annotated[str, AfterValidator(_known)]
"""The word for a verdict, as results have it: a row's `verdict`."""
