"""Hints as values, one wrong output, and the thresholds by which a claim about it counts as true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from grader.judge.compare import Comparison
from grader.model.assignment import Inputs

AGREEMENT = 0.98
"""Share of the wrong elements that a claim must account for."""

SAMPLE = 4096
SAMPLE_AGREEMENT = 0.9

ENOUGH = 4
"""Fewest wrong elements that exclude chance."""

NEARER = 4
"""A claimed value must lie this many times nearer to the wrong element than the right value does."""

COVERAGE = 0.95
"""Share of all written elements that a claim must account for: a few right ones are right by accident."""

ROUNDING = {torch.float32: 2.0**-20, torch.float16: 2.0**-9, torch.uint8: 0.0}
"""Relative error that different orders of rounding explain, a few units in the last place."""

UNKNOWN = "none known"
"""The pattern of a wrong output that shows none."""

WEAK = frozenset({"", UNKNOWN, "zero", "not finite"})
"""Patterns that describe the output without naming a line to blame."""


@dataclass(frozen=True)
class Hint:
    """What was `seen` and where to `look`, each one or two whole sentences or "".

    `pattern` is a name that is the same in every case that shows the same, "" where none was looked for; `line` is that
    of the student's file, 0 where none is known. `fits` are the patterns that a case does not tell apart. What is not
    `sure` may have nothing to do with a wrong answer beside which it was seen.
    """

    seen: str
    look: str
    pattern: str = ""
    line: int = 0
    fits: tuple[str, ...] = ()
    sure: bool = True

    @property
    def text(self) -> str:
        return f"{self.seen} {self.look}".strip()


class Evidence:
    """One wrong output, with the tests that candidates are held against."""

    def __init__(self, comparison: Comparison, inputs: Inputs) -> None:
        self.comparison = comparison
        self.got = comparison.got.to(torch.float64)
        self.expected = comparison.expected
        self.written = ~comparison.unwritten
        self.wrong = comparison.wrong & self.written
        self.count = int(self.wrong.sum())
        self.tensors = {
            name: value.detach().to(self.got.device, torch.float64)
            for name, value in inputs.items() if isinstance(value, Tensor)
        }
        positions = self.wrong.flatten().nonzero().flatten()[:: max(1, self.count // SAMPLE)]
        self._sample = torch.unravel_index(positions, self.got.shape)
        self._rounding = 0.0 if comparison.exact else ROUNDING[comparison.got.dtype]
        # How far a number comes to lie from where it was when it is stored, rounded or cut off.
        self._step = 0.0 if comparison.got.dtype.is_floating_point else 1.0

    def close(self, candidate: Tensor, rounding: float | None = None) -> Tensor:
        """Where the output equals a candidate (float64, of its shape) within rounding; NaN equals NaN."""
        return self._close(..., candidate, rounding)

    def is_explained_by(
        self, candidate: Tensor, rounding: float | None = None, agreement: float = AGREEMENT
    ) -> bool:
        """Whether a candidate accounts for the wrong elements, and for the written ones in general."""
        candidate = candidate.reshape(self.got.shape)
        # A few thousand wrong elements show whether a look at all of them is worth while.
        if not self.count or self._close(self._sample, candidate, rounding).double().mean() < SAMPLE_AGREEMENT:
            return False
        close = self.close(candidate, rounding)
        return (
            int((close & self._nearer(candidate) & self.wrong).sum()) >= agreement * self.count
            and int((close & self.written).sum()) >= COVERAGE * int(self.written.sum())
        )

    def _nearer(self, candidate: Tensor) -> Tensor:
        """Where the output is much nearer to a candidate than to the right answer: a mistake that is hardly one here
        must not be claimed."""
        apart = (self.got - candidate).abs()
        near = (NEARER * apart <= self.comparison.error) | (apart <= self._step)
        return near | (self.got == candidate) | (self.got.isnan() & candidate.isnan())

    def _close(self, at: Any, candidate: Tensor, rounding: float | None) -> Tensor:
        got, candidate = self.got[at], candidate[at]
        rounding = self._rounding if rounding is None else rounding
        slack = 2 * self.comparison.allowed[at] + rounding * candidate.abs()
        return ((got - candidate).abs() <= slack) | (got == candidate) | (got.isnan() & candidate.isnan())


def plural(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"
