"""Checks of the answers of many calls: secret rows are compared where rows can be computed one by one, else the whole
answers of some calls; and everything must be written.

A number that was never written counts as right where the answer is near the poison; in a whole row some are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from grader.judge.answers import finite
from grader.judge.compare import POISON, Comparison, poisoned, unguarded
from grader.model.assignment import Assignment
from grader.model.catalogue import answer_and_tolerance
from grader.model.parameters import Inputs

ROWS, FEWEST, OF_ALL = 256, 32, 2048
"""Secret rows of an answer: as many as make OF_ALL of the answers of a replay, and at least FEWEST of each."""
WHOLE_BYTES = 1 << 30
"""Inputs of the calls whose answers are compared whole, at least those of one."""
# float64 elements of an answer that are compared at a time: comparing takes some ten times their memory.
CHUNK = 1 << 24
Answered = Mapping[str, Tensor]
"""The outputs of a call, by name."""
SlotCheck = Callable[[Sequence[Inputs], Sequence[Answered]], Tensor]
"""A check like those of `Assignment.spot_check`, of calls' answers: 0 if they pass, else infinite."""


def row_check(assignment: Assignment, inputs: Sequence[Inputs], rows: int, generator: torch.Generator) -> SlotCheck:
    """A check of answers that have so many rows.

    A kernel that computes a share p of all rows wrongly gets by with probability (1 − p)^n where n rows are looked at:
    with 0.1 % of the rows in one of 20 where a dozen replays have one slot each, in one of 1e10 where they have eight
    or more.
    """
    rows_of, name, conditions = assignment.rows, assignment.output.name, assignment.conditions
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

    def check(now: Sequence[Inputs], answered: Sequence[Answered]) -> Tensor:
        found = {one: _picked([slot[one] for slot in answered], places) for one in {name, *conditions}}
        given = {**kept, **{one: finite(found[one]) for one in conditions}}
        doubtful = _doubtful(unguarded(found[name], *answers_and_tolerances(assignment, given))).flatten(1).any(dim=1)
        return _infinite(doubtful | _unwritten([slot[name] for slot in answered]))

    return check


def whole_check(assignment: Assignment, inputs: Sequence[Inputs], generator: torch.Generator) -> SlotCheck:
    """A check that compares whole answers: of secret calls, as many as WHOLE_BYTES allow."""
    size = sum(value.nbytes for value in inputs[0].values() if isinstance(value, Tensor))
    kept, name = copied(inputs, max(1, WHOLE_BYTES // max(1, size)), generator), assignment.output.name

    def check(now: Sequence[Inputs], answered: Sequence[Answered]) -> Tensor:
        doubtful = _unwritten([slot[name] for slot in answered])
        for slot, given in kept.items():
            for _, output, part in in_parts(assignment, given, answered[slot]):
                doubtful[slot] |= _doubtful(unguarded(output, *answer_and_tolerance(assignment, part))).any()
        return _infinite(doubtful)

    return check


def in_parts(assignment: Assignment, inputs: Inputs, answered: Answered) -> Iterator[tuple[int, Tensor, Inputs]]:
    """A call's answer in parts of about CHUNK elements, or in one where rows cannot be computed one by one: for each
    the number of its first row, its elements, and what the oracle is given for them."""
    output, rows_of = answered[assignment.output.name], assignment.rows
    rows = output.shape[0] if rows_of is not None else 1
    step = max(1, CHUNK * rows // output.numel())
    for first in range(0, rows, step):
        part = ... if rows_of is None else slice(first, min(rows, first + step))
        given = {**(inputs if rows_of is None else rows_of(inputs, part))}
        given.update({name: finite(answered[name][part]) for name in assignment.conditions})
        yield first, output[part], given


def copied(inputs: Sequence[Inputs], most: int, generator: torch.Generator) -> dict[int, Inputs]:
    """Copies of the inputs of at most so many secret slots, by the slot."""
    chosen = torch.randperm(len(inputs), generator=generator, device=generator.device)[:most].tolist()
    return {slot: {name: value.clone() if isinstance(value, Tensor) else value for name, value in inputs[slot].items()}
            for slot in chosen}


def answers_and_tolerances(assignment: Assignment, slots: Inputs) -> tuple[Tensor, Tensor | None]:
    """The answers of many slots, and the absolute errors allowed: each tensor has a dimension for the slots in front.

    An oracle that `torch.vmap` cannot run for all of them at once, since it decides by values, runs for each by itself.
    """
    tensors = {name: value for name, value in slots.items() if isinstance(value, Tensor)}

    def slot(one: dict[str, Tensor]) -> tuple[Tensor, ...]:
        answer, allowed = answer_and_tolerance(assignment, {**slots, **one})
        return (answer,) if allowed is None else (answer, allowed.expand(answer.shape))

    try:
        found = torch.vmap(slot)(tensors)
    except RuntimeError:
        count = len(next(iter(tensors.values())))
        found = tuple(map(torch.stack, zip(*(slot({name: value[number] for name, value in tensors.items()})
                                             for number in range(count)), strict=True)))
    return found[0], found[1] if len(found) > 1 else None


def _picked(outputs: Sequence[Tensor], places: Sequence[Tensor] | Tensor) -> Tensor:
    """The rows of each output at its places, side by side; as bits on the way, since not every dtype has an index."""
    as_integer, _ = POISON[outputs[0].dtype]
    rows = [output.view(as_integer)[index] for output, index in zip(outputs, places, strict=True)]
    return torch.stack(rows).view(outputs[0].dtype)


def _doubtful(compared: Comparison) -> Tensor:
    """A bool tensor: the elements that look wrong."""
    # An infinite tolerance would let all pass: comparing in full says what is wrong with it.
    return compared.wrong | compared.allowed.isfinite().logical_not()


def _unwritten(outputs: Sequence[Tensor]) -> Tensor:
    """The outputs that hold the poison, where that is hardly an answer."""
    # One of some 10,000 small whole numbers is the poison: that would have all of them compared in full.
    if outputs[0].dtype in (torch.uint8, torch.int8, torch.int16):
        return torch.zeros(len(outputs), dtype=torch.bool, device=outputs[0].device)
    return torch.stack([poisoned(output).any() for output in outputs])


def _infinite(doubtful: Tensor) -> Tensor:
    return doubtful.to(torch.float64).masked_fill(doubtful, math.inf)
