"""The spot check of large answers whose rows can be had one by one: secret rows are compared, and all is written."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from grader.assignment import Assignment, Inputs
from grader.catalogue import right_answer
from grader.judge.compare import POISON, unwritten

ROWS = 256


def row_check(
    assignment: Assignment, rows: int, inputs: Inputs, generator: torch.Generator
) -> Callable[[Inputs, Tensor], Tensor]:
    """A check like those of `Assignment.spot_check`, of answers that have so many rows: 0 if they pass, else infinite.

    Who leaves out a share p of all rows of n outputs gets by with probability (1 − p)^(n·ROWS): with 0.1 % of the
    rows in one of 20 where a dozen batches have one slot each, in one of 1e30 where they have thirty.
    """
    assert assignment.rows is not None
    index = torch.randint(rows, (ROWS,), generator=generator, device=generator.device)
    # Copies of the judge's own.
    some = assignment.rows(inputs, index)

    def check(given: Inputs, output: Tensor) -> Tensor:
        expected, got = right_answer(assignment, some), output[index]
        if assignment.tolerance is None:
            as_integer, _ = POISON[got.dtype]
            wrong = got.view(as_integer) != expected.to(got.dtype).view(as_integer)
        else:
            allowed = assignment.tolerance(some, expected)
            # An infinite tolerance would let all pass: comparing in full says what is wrong with it.
            wrong = ((got.to(torch.float64) - expected).abs() <= allowed).logical_and(allowed.isfinite()).logical_not()
        failed: Tensor = wrong.any() | unwritten(output).any()
        return failed.to(torch.float64).masked_fill(failed, math.inf)

    return check
