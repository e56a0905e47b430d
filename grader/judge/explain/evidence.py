"""One wrong output, and the thresholds by which a claim about it counts as true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.frontends.phrases import Phrases
from grader.judge.compare import Comparison
from grader.model.assignment import Inputs

AGREEMENT = 0.98
"""Share of the wrong elements that a claim must account for."""

SAMPLE = 4096
SAMPLE_AGREEMENT = 0.9

ENOUGH = 4
"""Fewest wrong elements for a claim with one free figure, such as a factor."""

NEARER = 4
"""A claimed value must lie this many times nearer to the wrong element than the right value does."""

COVERAGE = 0.95
"""Share of a region that must be bad for wrong values: a few wrong elements are right by accident."""

ROUNDING = {torch.float32: 2.0**-20, torch.float16: 2.0**-9, torch.uint8: 0.0}
"""Relative error that different orders of rounding explain, a few units in the last place."""


UNKNOWN = "none known"
"""The pattern of a wrong output that shows none."""

WRITTEN = "written region"
"""The pattern of an output whose written elements form one region."""

WEAK = frozenset({"", UNKNOWN, "factor", "row factors", "offset", "zero", "not finite", "wrong region", WRITTEN})
"""Patterns that describe the output without naming a line to blame."""


@dataclass(frozen=True)
class Finding:
    """What was seen and where to look, each one or two whole sentences.

    `whole` when it accounts for right and wrong elements alike, so that where the wrong ones lie adds nothing.
    `pattern` is a name that is the same in every case that shows the same, "" where none was looked for; `line` is that
    of the student's file, 0 where none is known.
    `fits` are the patterns that a case does not tell apart.
    """

    seen: str
    look: str
    whole: bool = False
    pattern: str = ""
    line: int = 0
    fits: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        return f"{self.seen} {self.look}".strip()


class Evidence:
    """One wrong output, with the tests that candidates are held against."""

    def __init__(self, comparison: Comparison, inputs: Inputs, sizes: Mapping[str, int], words: Phrases) -> None:
        self.comparison = comparison
        self.words = words.answers
        self.sizes = sizes
        self.got = comparison.got.to(torch.float64)
        self.expected = comparison.expected
        self.written = ~comparison.unwritten
        self.wrong = comparison.wrong & self.written
        self.count = int(self.wrong.sum())
        positions = self.wrong.flatten().nonzero().flatten()
        self.sample = positions[:: max(1, self.count // SAMPLE)]
        """Row-major positions of some of the wrong elements, evenly spread."""
        self._at = torch.unravel_index(self.sample, self.got.shape)
        self._sample_got = self.got[self._at]
        self._sample_allowed = comparison.allowed[self._at]
        self.rounding = 0.0 if comparison.exact else ROUNDING[comparison.got.dtype]
        self.step = 0.0 if comparison.got.dtype.is_floating_point else 1.0
        """How far a number comes to lie from where it was when it is stored, rounded or cut off."""
        self.tensors = {
            name: value.detach().to(self.got.device, torch.float64)
            for name, value in inputs.items() if isinstance(value, Tensor)
        }
        self.scalars = {name: float(value) for name, value in inputs.items() if not isinstance(value, Tensor)}

    @property
    def is_matrix(self) -> bool:
        return self.got.ndim == 2 and min(self.got.shape) > 1

    @property
    def subject(self) -> str:
        return "Every element" if self.count == self.got.numel() else "Every wrong element"

    def close(self, candidate: Tensor, rounding: float | None = None) -> Tensor:
        """Where the output equals a candidate (float64, of its shape) within rounding; NaN equals NaN."""
        return self._close(self.got, self.comparison.allowed, candidate, rounding)

    def sample_close(self, candidate: Tensor, rounding: float | None = None) -> Tensor:
        """As `close`, at the positions `sample` only: the candidate has one value for each."""
        return self._close(self._sample_got, self._sample_allowed, candidate, rounding)

    def is_explained_by(
        self, candidate: Tensor, where: Tensor | None = None, rounding: float | None = None,
        agreement: float = AGREEMENT,
    ) -> bool:
        """Whether a candidate accounts for the wrong elements, and for the written ones in general."""
        candidate = candidate.reshape(self.got.shape)
        if not self._sample_agrees(candidate, where, rounding):
            return False
        known = self.written if where is None else self.written & where
        wrong = self.wrong & known
        known_count, wrong_count = int(known.sum()), int(wrong.sum())
        if wrong_count == 0 or 4 * wrong_count < self.count:
            return False
        close = self.close(candidate, rounding)
        return (
            int((close & self._nearer(candidate) & wrong).sum()) >= agreement * wrong_count
            and int((close & known).sum()) >= COVERAGE * known_count
        )

    def wrong_is(self, candidate: Tensor, rounding: float) -> bool:
        """Whether a candidate accounts for the wrong elements alone."""
        if not self._sample_agrees(candidate, None, rounding):
            return False
        close = self.close(candidate, rounding) & self._nearer(candidate)
        return int((close & self.wrong).sum()) >= AGREEMENT * self.count

    def _nearer(self, candidate: Tensor) -> Tensor:
        """Where the output is much nearer to a candidate than to the right answer: a mistake that is hardly one here
        must not be claimed."""
        apart = (self.got - candidate).abs()
        near = (NEARER * apart <= self.comparison.error) | (apart <= self.step)
        return near | (self.got == candidate) | (self.got.isnan() & candidate.isnan())

    def _sample_agrees(self, candidate: Tensor, where: Tensor | None, rounding: float | None) -> bool:
        """False when a few thousand wrong elements show that a look at all of them is not worth while."""
        close = self.sample_close(candidate[self._at], rounding)
        if where is not None:
            close |= ~where[self._at]
        return float(close.double().mean()) >= SAMPLE_AGREEMENT

    def _close(self, got: Tensor, allowed: Tensor, candidate: Tensor, rounding: float | None) -> Tensor:
        slack = 2 * allowed + (self.rounding if rounding is None else rounding) * candidate.abs()
        return ((got - candidate).abs() <= slack) | (got == candidate) | (got.isnan() & candidate.isnan())


def plural(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"

