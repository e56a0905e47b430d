"""The check of answers whose rows can be computed one by one: secret rows are compared, and all must be written.

A byte that was never written is wrong unless the answer happens to be near the poison: of a row some are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from grader.judge.compare import poisoned, unguarded
from grader.model.assignment import Assignment, Inputs
from grader.model.catalogue import answer_and_tolerance

ROWS, FEWEST, OF_ALL = 256, 32, 2048
"""Secret rows of an answer: as many as make OF_ALL of the answers of a replay, and at least FEWEST of each."""


def row_check(
    assignment: Assignment, inputs: Sequence[Inputs], rows: int, generator: torch.Generator
) -> Callable[[Sequence[Inputs], Sequence[Tensor]], Tensor]:
    """A check like those of `Assignment.spot_check`, of answers that have so many rows: 0 if they pass, else infinite.

    A kernel that computes a share p of all rows wrongly gets by with probability (1 − p)^n where n rows are looked at:
    with 0.1 % of the rows in one of 20 where a dozen replays have one slot each, in one of 1e10 where they have eight
    or more.
    """
    assert assignment.rows is not None
    each = min(ROWS, max(FEWEST, math.ceil(OF_ALL / len(inputs))))
    kept: list[tuple[Tensor, Inputs]] = []
    for one in inputs:
        index = torch.randint(rows, (each,), generator=generator, device=generator.device)
        if rows <= each:
            index = torch.arange(rows, device=generator.device)
        # Copies of the judge's own.
        kept.append((index, assignment.rows(one, index)))

    def check(now: Sequence[Inputs], outputs: Sequence[Tensor]) -> Tensor:
        failed = []
        for (index, some), output in zip(kept, outputs, strict=True):
            found = unguarded(output[index], *answer_and_tolerance(assignment, some))
            # An infinite tolerance would let all pass: comparing in full says what is wrong with it.
            doubtful = found.wrong | found.allowed.isfinite().logical_not()
            failed.append(doubtful.any())
            if output.dtype.is_floating_point:
                failed[-1] |= poisoned(output).any()
        every = torch.stack(failed)
        return every.to(torch.float64).masked_fill(every, math.inf)

    return check
