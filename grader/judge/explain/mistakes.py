"""Outputs that equal what one of the assignment's listed mistakes gives."""

from __future__ import annotations

import inspect

import torch

from grader.judge.explain.evidence import AGREEMENT, Evidence
from grader.model.assignment import Assignment, Mistake

EXACT_AGREEMENT = 0.9999
"""Share of the wrong elements that a mistake must account for, so that two mistakes that differ in the last few
elements are told apart. Sums in float16 and bytes are exempt: float16 differs here and there with the order of a sum,
and kernels round bytes or cut them off."""


def known_mistakes(assignment: Assignment, evidence: Evidence) -> list[Mistake]:
    """The mistakes whose answer the output equals where the right answer does not, one of each name.

    The list is empty for an output of one element, which equals anything.
    """
    if evidence.count == 0 or evidence.got.numel() == 1:
        return []
    if evidence.dtype == torch.uint8 and not bool(evidence.got[evidence.wrong].any()):
        # Bytes are 0 for many reasons.
        return []
    agreement = EXACT_AGREEMENT if evidence.dtype == torch.float32 and not evidence.exact else AGREEMENT
    fitting: dict[str, Mistake] = {}
    for mistake in assignment.mistakes:
        if mistake.name in fitting:
            continue
        takes = inspect.signature(mistake.answer).parameters
        answered = {evidence.output: evidence.comparison.got} if evidence.output in takes else {}
        answer = mistake.answer(**{**evidence.inputs, **answered})
        if answer is not None and evidence.is_explained_by(answer, agreement):
            fitting[mistake.name] = mistake
    return list(fitting.values())
