"""Checks of the answers of many calls: secret rows are compared if rows can be computed one by one, else the whole
answers of some calls; and every element must be written.

An unwritten whole number counts as right if the answer is near the poison; in a row that is unwritten as a whole some
elements are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from grader.course.assignment import Assignment
from grader.course.catalogue import answer_and_tolerance, answers
from grader.course.parameters import Inputs
from grader.judging.answers.answers import finite
from grader.judging.answers.compare import POISON, Comparison, compare_unchecked, poison_mask

ROWS, FEWEST, OF_ALL, ELEMENTS = 256, 32, 2048, 1 << 26
"""Secret rows that are compared: in all answers of a replay together OF_ALL, or as many as take ELEMENTS elements of
the inputs, if these are fewer; in each answer at least FEWEST and at most ROWS."""
WHOLE_BYTES, SOME_BYTES = 1 << 30, 1 << 28
"""Bytes of inputs of the calls whose answers are compared whole, at least one call: if nothing else is compared, and
beside secret rows. Secret rows hardly ever hit an update of a few rows. So a kernel that leaves out the update in a
tenth of the calls passes with probability 0.9^n, where n answers are compared whole: one of each replay if they are
large."""
# float64 elements of an answer that are compared at a time: comparing takes some ten times their memory.
CHUNK = 1 << 24
Answered = Mapping[str, Tensor]
"""The outputs of a call, by name."""
SlotCheck = Callable[[Sequence[Inputs], Sequence[Answered]], Tensor]
"""A check of many calls' answers, in the form of `Assignment.spot_check`: float64, for each call 0 if it passes, else
infinite."""


def row_check(
    assignment: Assignment, names: Sequence[str], inputs: Sequence[Inputs], rows: int, generator: torch.Generator
) -> SlotCheck | None:
    """Return a check of the outputs `names`, each of `rows` rows, which are computed from the same inputs; None if the
    inputs of rows differ in shape between calls.

    A kernel that computes a share p of all rows wrongly passes with probability (1 − p)^n if n rows are compared. A
    share of 0.1 % passes a dozen replays with one slot each once in 20 times, with eight slots or more once in 1e10. If
    rows are so wide that only FEWEST are compared, a share of 1 % passes four slots once in 5e6.
    """
    views, conditions = [assignment.about(name) for name in names], assignment.conditions
    rows_of = views[0].rows
    assert rows_of is not None
    together = min(OF_ALL, ELEMENTS // _width(rows_of, inputs[0]))
    count = min(rows, ROWS, max(FEWEST, math.ceil(together / len(inputs))))
    if rows == count:
        places = torch.arange(rows, device=generator.device).expand(len(inputs), -1)
    else:
        places = torch.randint(rows, (len(inputs), count), generator=generator, device=generator.device)
    drawn = [rows_of(slot, index) for slot, index in zip(inputs, places, strict=True)]
    if any(isinstance(value, Tensor) and value.shape != drawn[0][name].shape
           for slot in drawn for name, value in slot.items()):
        return None
    # Copies of the judge's own, of all slots side by side: so an oracle of many small launches runs once for all slots.
    kept = {name: torch.stack([slot[name] for slot in drawn]) if isinstance(value, Tensor) else value
            for name, value in drawn[0].items()}

    def check(now: Sequence[Inputs], answered: Sequence[Answered]) -> Tensor:
        parts = {name: _pick([slot[name] for slot in answered], places) for name in {*names, *conditions}}
        given = {condition: finite(parts[condition]) for condition in conditions}
        doubts = [_doubtful(compare_unchecked(parts[name], *right)).flatten(1).any(dim=1)
                  | _holds_poison([slot[name] for slot in answered])
                  for name, right in answers_and_tolerances(assignment, names, kept, given).items()]
        return _infinite(torch.stack(doubts).any(dim=0))

    return check


def _width(rows_of: Callable[[Inputs, slice], Inputs], inputs: Inputs) -> int:
    """Return the number of elements of the inputs from which a row of the answer is computed."""
    one, two = (sum(value.numel() for value in rows_of(inputs, slice(0, count)).values() if isinstance(value, Tensor))
                for count in (1, 2))
    return max(1, two - one)


def whole_check(
    assignment: Assignment, inputs: Sequence[Inputs], generator: torch.Generator, most: int = WHOLE_BYTES
) -> SlotCheck:
    """Return a check that compares whole answers of `assignment.output`, of secret calls up to `most` bytes
    of inputs, at least one."""
    size = sum(value.nbytes for value in inputs[0].values() if isinstance(value, Tensor))
    kept, name = copied(inputs, max(1, most // max(1, size)), generator), assignment.output.name

    def check(now: Sequence[Inputs], answered: Sequence[Answered]) -> Tensor:
        doubtful = _holds_poison([slot[name] for slot in answered])
        for slot, given in kept.items():
            for _, output, part in in_parts(assignment, given, answered[slot]):
                doubtful[slot] |= _doubtful(compare_unchecked(output, *answer_and_tolerance(assignment, part))).any()
        return _infinite(doubtful)

    return check


def in_parts(assignment: Assignment, inputs: Inputs, answered: Answered) -> Iterator[tuple[int, Tensor, Inputs]]:
    """Yield a call's answer in parts of about CHUNK elements, or in one where rows cannot be computed one by one: for
    each part the number of its first row, its elements, and the oracle's inputs for them."""
    output, rows_of = answered[assignment.output.name], assignment.rows
    rows = output.shape[0] if rows_of is not None else 1
    step = max(1, CHUNK * rows // output.numel())
    for first in range(0, rows, step):
        part = ... if rows_of is None else slice(first, min(rows, first + step))
        given = {**(inputs if rows_of is None else rows_of(inputs, part))}
        given.update({name: finite(answered[name][part]) for name in assignment.conditions})
        yield first, output[part], given


def copied(inputs: Sequence[Inputs], most: int, generator: torch.Generator) -> dict[int, Inputs]:
    """Return copies of the inputs of at most `most` secret slots, by the slot's number."""
    chosen = torch.randperm(len(inputs), generator=generator, device=generator.device)[:most].tolist()
    return {slot: {name: value.clone() if isinstance(value, Tensor) else value for name, value in inputs[slot].items()}
            for slot in chosen}


def answers_and_tolerances(
    assignment: Assignment, names: Sequence[str], slots: Inputs, answered: Answered
) -> dict[str, tuple[Tensor, Tensor | None]]:
    """Return the answers of many slots for the outputs `names`, and the absolute errors allowed: each tensor has a
    dimension for the slots in front. `answered` are those of the outputs that the oracle takes.

    `torch.vmap` runs the oracle for all slots at once. An oracle that branches on values fails there, and runs for each
    slot by itself.
    """
    views = {name: assignment.about(name) for name in names}
    tensors = {name: value for name, value in {**slots, **answered}.items() if isinstance(value, Tensor)}

    def slot(slot_tensors: dict[str, Tensor]) -> dict[str, tuple[Tensor, ...]]:
        given = {**slots, **{name: slot_tensors[name] for name in slot_tensors if name not in answered}}
        right = answers(assignment, given, {name: slot_tensors[name] for name in answered})
        allowed = {name: view.tolerance and view.tolerance({**given, **slot_tensors}, right[name])
                   for name, view in views.items()}
        return {name: (right[name],) if by is None else (right[name], by.expand(right[name].shape))
                for name, by in allowed.items()}

    try:
        parts = torch.vmap(slot)(tensors)
    except RuntimeError:
        count = len(next(iter(tensors.values())))
        every = [slot({name: value[number] for name, value in tensors.items()}) for number in range(count)]
        parts = {name: tuple(map(torch.stack, zip(*(answer[name] for answer in every), strict=True))) for name in names}
    return {name: (tensors[0], tensors[1] if len(tensors) > 1 else None) for name, tensors in parts.items()}


def _pick(outputs: Sequence[Tensor], places: Sequence[Tensor] | Tensor) -> Tensor:
    """Return the rows of each output at its places, side by side; as whole numbers on the way, since torch cannot index
    every dtype."""
    as_integer, _ = POISON[outputs[0].dtype]
    rows = [output.view(as_integer)[index] for output, index in zip(outputs, places, strict=True)]
    return torch.stack(rows).view(outputs[0].dtype)


def _doubtful(compared: Comparison) -> Tensor:
    """Return a bool tensor of the elements that look wrong."""
    # An infinite tolerance would let all pass: comparing in full says what is wrong with it.
    return compared.wrong | compared.allowed.isfinite().logical_not()


def _holds_poison(outputs: Sequence[Tensor]) -> Tensor:
    """Return a bool tensor of the outputs that hold the poison; false for dtypes in which the poison is a likely
    answer."""
    # Small whole numbers equal the poison by chance: then nearly every answer would be compared in full.
    if outputs[0].dtype in (torch.uint8, torch.int8, torch.int16):
        return torch.zeros(len(outputs), dtype=torch.bool, device=outputs[0].device)
    if all(output.is_cuda and output.is_contiguous() for output in outputs):
        # Late: a module of kernels, slow to import.
        from grader.kit.holds import holds

        as_integer, bits = POISON[outputs[0].dtype]
        return holds([output.view(as_integer) for output in outputs], bits)
    return torch.stack([poison_mask(output).any() for output in outputs])


def _infinite(doubtful: Tensor) -> Tensor:
    return doubtful.to(torch.float64).masked_fill(doubtful, math.inf)
