"""A check for answers whose rows can be computed one by one: secret rows are compared, and all rows must be written.

A byte that was never written counts as right where the answer is near the poison; in a whole row some are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from grader.judge.compare import poisoned, unguarded
from grader.model.assignment import Assignment
from grader.model.catalogue import answer_and_tolerance
from grader.model.parameters import Inputs

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
    rows_of = assignment.rows
    assert rows_of is not None
    each = min(rows, ROWS, max(FEWEST, math.ceil(OF_ALL / len(inputs))))
    if rows == each:
        places = torch.arange(rows, device=generator.device).expand(len(inputs), -1)
    else:
        places = torch.randint(rows, (len(inputs), each), generator=generator, device=generator.device)
    # Copies of the judge's own, of all slots side by side: an oracle of many small launches runs once for them all.
    drawn = [rows_of(slot, index) for slot, index in zip(inputs, places, strict=True)]
    kept = {name: torch.stack([slot[name] for slot in drawn]) if isinstance(value, Tensor) else value
            for name, value in drawn[0].items()}

    def check(now: Sequence[Inputs], outputs: Sequence[Tensor]) -> Tensor:
        answers = torch.stack([output[index] for output, index in zip(outputs, places, strict=True)])
        compared = unguarded(answers, *answers_and_tolerances(assignment, kept))
        # An infinite tolerance would let all pass: comparing in full says what is wrong with it.
        doubtful = (compared.wrong | compared.allowed.isfinite().logical_not()).flatten(1).any(dim=1)
        if answers.dtype.is_floating_point:
            doubtful |= torch.stack([poisoned(output).any() for output in outputs])
        return doubtful.to(torch.float64).masked_fill(doubtful, math.inf)

    return check


def answers_and_tolerances(assignment: Assignment, slots: Inputs) -> tuple[Tensor, Tensor | None]:
    """The answers of many slots, and the absolute errors allowed: each tensor has a dimension for the slots in front.

    An oracle that `torch.vmap` cannot run for all of them at once, since it decides by values, runs for each by itself.
    """
    tensors = {name: value for name, value in slots.items() if isinstance(value, Tensor)}

    def slot(one: dict[str, Tensor]) -> tuple[Tensor, ...]:
        answer, allowed = answer_and_tolerance(assignment, {**slots, **one})
        return (answer,) if allowed is None else (answer, allowed)

    try:
        found = torch.vmap(slot)(tensors)
    except RuntimeError:
        count = len(next(iter(tensors.values())))
        found = tuple(map(torch.stack, zip(*(slot({name: value[number] for name, value in tensors.items()})
                                             for number in range(count)), strict=True)))
    return found[0], found[1] if len(found) > 1 else None
