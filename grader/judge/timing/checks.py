"""Checks of many slots' answers at secret places; the right values there are kept from before the calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.judge.rows import row_check
from grader.model.assignment import Assignment
from grader.model.parameters import Inputs

# Secret places of each input, which must not have changed.
INPUT_SAMPLES = 4096


@dataclass(frozen=True)
class Laid:
    """An input in all slots: its `starts` in flat `memory`, one for each slot, and its number of elements."""

    memory: Tensor
    starts: Tensor
    elements: int

    def places(self, count: int, each: int, generator: torch.Generator) -> Tensor:
        """Secret places in `memory`, shape (`count`, `each`): `each` in the tensor of each of the first `count` slots.
        """
        places = torch.randint(self.elements, (count, each), generator=generator, device=self.starts.device)
        return places.add_(self.starts[:count, None])


class Checks:
    """Made before the calls, from the slots' `inputs`, which `laid` describes as flat memory; `doubtful` comes after.
    """

    def __init__(
        self, assignment: Assignment, inputs: Sequence[Inputs], laid: Sequence[Laid], rows: int,
        generator: torch.Generator,
    ) -> None:
        self._inputs = inputs
        if assignment.spot_check is not None:
            self._check = assignment.spot_check(inputs, generator)
        else:
            self._check = row_check(assignment, inputs, rows, generator)
        self._looks = []
        for tensor in laid:
            places = tensor.places(len(inputs), min(INPUT_SAMPLES, tensor.elements), generator)
            self._looks.append((tensor.memory, places, tensor.memory[places]))

    def doubtful(self, outputs: Sequence[Tensor]) -> list[int]:
        """The slots whose answer looks wrong, or whose inputs have changed."""
        # Written so that NaN fails.
        doubts = (self._check(self._inputs, outputs) <= 1).logical_not()
        for memory, places, kept in self._looks:
            doubts |= (_bits(memory[places]) != _bits(kept)).any(dim=1)
        return [slot for slot, doubt in enumerate(doubts.tolist()) if doubt]


def _bits(x: Tensor) -> Tensor:
    return x.view({4: torch.int32, 2: torch.int16, 1: torch.uint8}[x.itemsize])
