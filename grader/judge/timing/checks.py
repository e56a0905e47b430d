"""Answers of many slots, checked at secret places: what they must be is kept from before the calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.judge.rows import row_check
from grader.model.assignment import Assignment, Inputs

# Of one input, secret places that must not have changed.
INPUT_SAMPLES = 4096


@dataclass(frozen=True)
class Laid:
    """One input of all slots: where it begins in flat `memory` for each of them, and how many elements it has."""

    memory: Tensor
    starts: Tensor
    elements: int

    def places(self, count: int, each: int, generator: torch.Generator) -> Tensor:
        """Secret places in `memory`, `each` in the tensor of each of the first `count` slots."""
        found = torch.randint(self.elements, (count, each), generator=generator, device=self.starts.device)
        return found.add_(self.starts[:count, None])


class Checks:
    """Made of slots with these inputs before the calls; `doubtful` after them. `laid` are the same inputs."""

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
        for one in laid:
            places = one.places(len(inputs), min(INPUT_SAMPLES, one.elements), generator)
            self._looks.append((one.memory, places, one.memory[places]))

    def doubtful(self, outputs: Sequence[Tensor]) -> list[int]:
        """The slots whose answer is not right, or whose inputs are not as they were."""
        # Written so that NaN fails.
        found = (self._check(self._inputs, outputs) <= 1).logical_not()
        for memory, places, kept in self._looks:
            found |= (_bits(memory[places]) != _bits(kept)).any(dim=1)
        return [slot for slot, doubt in enumerate(found.tolist()) if doubt]


def _bits(x: Tensor) -> Tensor:
    return x.view({4: torch.int32, 2: torch.int16, 1: torch.uint8}[x.itemsize])
