"""Hints as values, the evidence of a wrong output, and the thresholds by which a claim about the output counts as
true."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from grader.course.assignment import Assignment
from grader.course.parameters import Inputs
from grader.judging.answers.compare import MOST_EXACT, Comparison, bits_of_bool
from grader.judging.explain.wording import say
from grader.languages.phrases import Fact, Phrases
from grader.results.result import Detail, Place
from grader.results.verdicts import FailureKind

# Share of the wrong elements that a claim must account for.
AGREEMENT = 0.98
# Fewest wrong elements that exclude chance.
ENOUGH = 4
# A claimed value must lie this many times nearer to the wrong element than the right value does.
NEARER = 4
# Share of all written elements that a claim must account for: a few right ones are right by accident.
COVERAGE = 0.95
# Relative error that different orders of rounding explain, a few units in the last place; none in whole numbers.
ROUNDING = {
    torch.float64: 2.0**-40, torch.float32: 2.0**-20, torch.float16: 2.0**-9, torch.bfloat16: 2.0**-6,
    torch.float8_e4m3fn: 2.0**-3, torch.float8_e5m2: 2.0**-2}
# Distinct values that bytes and whole numbers need at least to distinguish answers.
LEVELS = 8
# The pattern of a hint that its own question names.
ASKED = "asked"
# The pattern of a wrong output that shows none.
UNKNOWN = "none known"
# Patterns that describe the output without naming a line to blame; a race has many causes.
WEAK = frozenset({"", UNKNOWN, "zero", "not finite", "race"})


@dataclass(frozen=True)
class Hint:
    """A hint: what was `seen`, and an `advice`, each one or two whole sentences.

    `pattern` names what a case shows, by the same name in every case, "" if none was sought; `line` is a line of the
    student's file, 0 if none is known. `fits` are the patterns among which a case does not distinguish. If not `sure`,
    the observation may have nothing to do with the wrong answer. `guess` says which part follows from no evidence,
    `advice` or all of the hint: a proved change of the file replaces it.
    """

    seen: Fact | None
    advice: Fact | None
    pattern: str = ""
    line: int = 0
    fits: tuple[str, ...] = ()
    sure: bool = True
    guess: Literal["", "advice", "all"] = ""

    def text(self, words: Phrases) -> str:
        return say(words, self.seen, self.advice)

    def guessed(self, words: Phrases) -> str:
        """Return the end of the hint's text that is a guess."""
        return self.text(words) if self.guess == "all" else say(words, self.advice) if self.guess else ""

    def detail(self, words: Phrases, kind: FailureKind, place: Place | None = None, traceback: str = "") -> Detail:
        """Return a failure whose message is what was seen."""
        return Detail(kind=kind, message=say(words, self.seen), hint=say(words, self.advice), pattern=self.pattern,
                      guess=say(words, self.advice) if self.guess else "", place=place, traceback=traceback)


class Evidence:
    """One wrong output of an assignment, with tests whether a candidate answer explains it. `inputs` are the judge's
    own, as they were before the call."""

    def __init__(self, comparison: Comparison, inputs: Inputs, assignment: Assignment) -> None:
        self.comparison = comparison
        self.inputs = inputs
        self.right = assignment.oracle
        self.output = assignment.output.name
        # The formula has an exponential, which overflows.
        self.exponential = any(name in assignment.formula for name in ("exp", "tanh", "σ"))
        self.got = bits_of_bool(comparison.got).to(torch.float64)
        self.expected = comparison.expected.to(torch.float64)
        self.written = ~comparison.unwritten
        self.finite = self.written & self.got.isfinite()
        self._take(comparison.wrong & self.written)
        self.dtype = comparison.got.dtype
        self.exact = comparison.exact
        # The right answers are whole numbers, which nothing rounds.
        self.whole = not comparison.expected.dtype.is_floating_point
        # Some are so large that float64 does not distinguish neighbours.
        self.large = self.whole and bool((self.expected.abs() >= MOST_EXACT).any())
        self.tensors = {name: value.detach().to(self.got.device, torch.float64)
                        for name, value in inputs.items() if isinstance(value, Tensor)}
        # Largest change of a number that is stored, rounded or cut off.
        self._step = 0.0 if self.dtype.is_floating_point or self.whole else 1.0
        # A mistake's sums are rounded, even if the right answer is copied exactly.
        self._rounding = ROUNDING.get(self.dtype, 0.0) * (16 if self.exact else 1)

    @property
    def broken(self) -> bool:
        """Return whether most wrong elements are NaN or infinite."""
        return 2 * int((self.wrong & self.finite).sum()) < self.count

    def of_numbers(self) -> Evidence:
        """Return the same evidence without the elements that are NaN or infinite."""
        part = copy(self)
        part.written = self.finite
        part._take(self.wrong & self.finite)
        return part

    def _take(self, wrong: Tensor) -> None:
        self.wrong, self.count = wrong, int(wrong.sum())
        self._only_nan = bool(self.got[wrong].isnan().all())
        # A sample of wrong elements: mostly it suffices to reject a candidate.
        self._few = wrong.nonzero()[:: 1 + self.count // 4096].unbind(1)

    def is_explained_by(self, answer: Tensor, agreement: float = AGREEMENT) -> bool:
        """Return whether a candidate answer (of the output's shape), stored as a kernel would store it, accounts for
        the share `agreement` of the wrong elements, and for COVERAGE of the written ones."""
        answer = answer.to(self.got.device).reshape(self.got.shape)
        wrong, written, count = self.wrong, self.written, self.count
        if self.large:
            return count > 0 and not answer.is_floating_point() and bool((self.comparison.got == answer)[written].all())
        numbers = wrong
        if self.dtype.is_floating_point:
            # Zeros have many causes, and infinity equals infinity whatever overflowed: finite numbers must agree as
            # well, or NaN must stand in exactly the wrong elements.
            if self._only_nan:
                nan = self._stored(answer).isnan() & written
                return ENOUGH <= count < int(written.sum()) and bool(torch.equal(nan, wrong))
            few = self._fits(self._stored(answer[self._few]), self._few)[1]
            if 2 * int(few.sum()) < agreement * few.numel():
                return False
            answer, numbers = self._stored(answer), wrong & self.finite
            if not bool(((answer != 0) & wrong).any()) or int(numbers.sum()) < min(ENOUGH, count):
                return False
        elif self.whole:
            # Few distinct numbers often agree by chance: then every written element must agree.
            few = self.expected.flatten().sort().values.diff().count_nonzero() < LEVELS - 1
            if few and (count < ENOUGH or not bool((self.got == answer)[written].all())):
                return False
        elif not bool((answer >= 1).any()) or (
            # Among few levels any number is near: they must agree, rounded or cut off.
            float(answer.max()) < LEVELS
            and int((((self.got - answer).abs() < 1) & wrong).sum()) < agreement * count
        ):
            return False
        close, nearer = self._fits(answer)
        return (
            count > 0
            and int((nearer & wrong).sum()) >= agreement * count
            and int((close & numbers).sum()) >= agreement * int(numbers.sum())
            and int((close & written).sum()) >= COVERAGE * int(written.sum())
        )

    def _stored(self, answer: Tensor) -> Tensor:
        """Return a candidate as the output holds it: infinity in float16 where float64 is finite."""
        return answer.to(self.dtype).to(torch.float64)

    def _fits(self, answer: Tensor, at: Any = ...) -> tuple[Tensor, Tensor]:
        """Return two bool tensors: where the output, at the elements `at`, equals a candidate answer for them within
        rounding, and where it is also much nearer to the candidate than to the right answer."""
        got = self.got[at]
        apart, same = (got - answer).abs(), (got == answer) | (got.isnan() & answer.isnan())
        close = (apart <= 2 * self.comparison.allowed[at] + self._rounding * answer.abs()) | same
        return close, close & ((NEARER * apart <= self.comparison.error[at]) | (apart <= self._step) | same)
