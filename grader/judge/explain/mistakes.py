"""Outputs that equal what a known mistake gives: those listed by the assignment, and the right answer converted."""

from __future__ import annotations

from typing import Any

import torch

from grader.assignment import Assignment, Inputs, Mistake
from grader.judge.explain.evidence import AGREEMENT, ENOUGH, Evidence, Finding

EXACT_AGREEMENT = 0.9999
"""Share of the wrong elements that a mistake must account for, so that two that differ in the last few elements are
told apart. Sums in float16 are exempt: added in another order they differ here and there. So are bytes: kernels round
them and cut them off."""

MOST_LISTED = 2


def known_mistake(assignment: Assignment, inputs: Inputs, evidence: Evidence) -> Finding | None:
    """A mistake of the assignment whose answer the output equals where the right answer does not.

    None where there is a single element, which equals anything; where several fit, they are listed without a pattern.
    """
    if evidence.count == 0 or evidence.got.numel() == 1:
        return None
    fitting: dict[str, Mistake] = {}
    for mistake in assignment.mistakes:
        if mistake.name not in fitting and _fits(mistake, inputs, evidence):
            fitting[mistake.name] = mistake
    if not fitting:
        return None
    first, *others = fitting.values()
    if not others:
        return Finding("", first.hint, pattern=f"mistake: {first.name}")
    if len(fitting) > MOST_LISTED:
        return None
    return Finding("Two mistakes give this answer.", " Or: ".join(mistake.hint for mistake in fitting.values()))


def converted(evidence: Evidence) -> Finding | None:
    """The right answer, but converted to a type of 16 bits and back."""
    if evidence.count < ENOUGH or evidence.comparison.got.dtype != torch.float32:
        return None
    for dtype, name in ((torch.bfloat16, "bfloat16"), (torch.float16, "float16")):
        if evidence.is_explained_by(evidence.expected.to(dtype).to(torch.float64), rounding=0.0):
            return Finding(
                f"The output is the right answer converted to {name}.",
                "Something is stored in that type on the way: keep loads, results and buffers in float32.",
                pattern="precision",
            )
    return None


def _fits(mistake: Mistake, inputs: Inputs, evidence: Evidence) -> bool:
    answer: Any = mistake.answer(**inputs)
    if answer is None:
        return False
    dtype = evidence.comparison.got.dtype
    if not dtype.is_floating_point:
        return bool((answer >= 1).any()) and evidence.is_explained_by(answer.to(evidence.got.device))
    # As the mistaken kernel would have stored it: a float16 output holds infinity where float64 need not.
    stored = answer.to(evidence.got.device, dtype).to(torch.float64)
    # Zeros have many causes: a mistake whose answer is all zeros is only one of them.
    if not bool(stored.any()):
        return False
    agreement = AGREEMENT if dtype == torch.float16 else EXACT_AGREEMENT
    if not evidence.is_explained_by(stored, agreement=agreement):
        return False
    # Infinity equals infinity whatever overflowed: numbers must agree as well.
    finite = evidence.wrong & evidence.got.isfinite()
    count = int(finite.sum())
    return count >= min(ENOUGH, evidence.count) and int((evidence.close(stored) & finite).sum()) >= agreement * count
