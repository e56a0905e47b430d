"""Checks of many slots' answers at secret places, against copies of inputs that are made before the calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from grader.course.assignment import Assignment
from grader.course.cases import Case, shape_of
from grader.course.catalogue import objection
from grader.course.parameters import Inputs, Update
from grader.judging.answers.rows import SOME_BYTES, WHOLE_BYTES, Answered, SlotCheck, copied, row_check, whole_check

# Secret places of each input, which must not have changed.
INPUT_SAMPLES = 4096
# Secret slots whose answers have to fit the assignment's statistic.
STATISTICS = 4


@dataclass(frozen=True)
class FlatInput:
    """An input in all slots, as bits: its `starts` in flat `memory` of whole numbers, one for each slot, and its number
    of elements."""

    memory: Tensor
    starts: Tensor
    elements: int

    def places(self, count: int, each: int, generator: torch.Generator) -> Tensor:
        """Return secret places in `memory`, shape (`count`, `each`): `each` in the tensor of each of the first `count`
        slots."""
        places = torch.randint(self.elements, (count, each), generator=generator, device=self.starts.device)
        return places.add_(self.starts[:count, None])


class SlotChecks:
    """Checks of slots' answers. They are made before the calls, from the slots' `inputs`; `flat_inputs` are the inputs
    as flat memory, which must not change. `doubtful` is for after the calls."""

    def __init__(
        self, assignment: Assignment, case: Case, inputs: Sequence[Inputs], flat_inputs: Sequence[FlatInput],
        generator: torch.Generator,
    ) -> None:
        self._assignment = assignment
        self._inputs = inputs
        self._checks = list(_checks_of(assignment, case, inputs, generator))
        self._whole = {} if assignment.statistic is None else copied(inputs, STATISTICS, generator)
        self._places = []
        for tensor in flat_inputs:
            places = tensor.places(len(inputs), min(INPUT_SAMPLES, tensor.elements), generator)
            self._places.append((tensor.memory, places, tensor.memory[places]))

    def doubtful(self, answered: Sequence[Answered]) -> list[int]:
        """Return the slots whose answers look wrong, or whose inputs have changed."""
        # Written so that NaN fails.
        doubts = torch.stack([(check(self._inputs, answered) <= 1).logical_not() for check in self._checks]).any(dim=0)
        for memory, places, kept in self._places:
            doubts |= (memory[places] != kept).any(dim=1)
        strange = {slot for slot, given in self._whole.items() if objection(self._assignment, given, answered[slot])}
        return [slot for slot, doubt in enumerate(doubts.tolist()) if doubt or slot in strange]


def _checks_of(
    assignment: Assignment, case: Case, inputs: Sequence[Inputs], generator: torch.Generator
) -> Iterator[SlotCheck]:
    """Yield checks of all outputs."""
    sharing: dict[tuple[Any, int], list[Assignment]] = {}
    for view in assignment.views():
        if view.spot_check is not None:
            yield _spots(view.spot_check(inputs, generator), view.output.name)
        elif view.rows is not None:
            sharing.setdefault((view.rows, shape_of(view.output, case)[0]), []).append(view)
        else:
            yield whole_check(view, inputs, generator)
    for (_, rows), views in sharing.items():
        check = row_check(assignment, [view.output.name for view in views], inputs, rows, generator)
        if check is not None:
            yield check
        for view in views:
            # A call may update few rows of a cache, and a row that is left as it was holds no poison.
            if check is None or isinstance(view.output, Update):
                yield whole_check(view, inputs, generator, WHOLE_BYTES if check is None else SOME_BYTES)


def _spots(check: Callable[[Sequence[Inputs], Sequence[Tensor]], Tensor], name: str) -> SlotCheck:
    return lambda now, answered: check(now, [answers[name] for answers in answered])
