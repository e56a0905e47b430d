"""Outputs that equal what one of the assignment's listed mistakes gives."""

from __future__ import annotations

from typing import Any

import torch

from grader.judge.explain.evidence import AGREEMENT, ENOUGH, ROUNDING, Evidence
from grader.model.assignment import Assignment, Inputs, Mistake

EXACT_AGREEMENT = 0.9999
"""Share of the wrong elements that a mistake must account for, so that two mistakes that differ in the last few
elements are told apart. Sums in float16 and bytes are exempt: float16 differs here and there with the order of a sum,
and kernels round bytes or cut them off."""


def known_mistakes(assignment: Assignment, inputs: Inputs, evidence: Evidence) -> list[Mistake]:
    """The mistakes whose answer the output equals where the right answer does not, one of each name.

    The list is empty for an output of one element, which equals anything.
    """
    if evidence.count == 0 or evidence.got.numel() == 1:
        return []
    fitting: dict[str, Mistake] = {}
    for mistake in assignment.mistakes:
        if mistake.name not in fitting and _fits(mistake, inputs, evidence):
            fitting[mistake.name] = mistake
    return list(fitting.values())


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
    exact = evidence.comparison.exact
    agreement = AGREEMENT if dtype == torch.float16 or exact else EXACT_AGREEMENT
    # Numbers that a mistake adds up are rounded, also where the right answer is copied.
    rounding = 16 * ROUNDING[dtype] if exact else None
    if not evidence.is_explained_by(stored, rounding=rounding, agreement=agreement):
        return False
    # Infinity equals infinity whatever overflowed: numbers must agree as well.
    finite = evidence.wrong & evidence.got.isfinite()
    agreeing = int((evidence.close(stored, rounding) & finite).sum())
    return int(finite.sum()) >= min(ENOUGH, evidence.count) and agreeing >= agreement * int(finite.sum())
