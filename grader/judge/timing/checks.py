"""Answers of many slots, checked at secret places: what they must be is kept from before the calls.

On a device all of it is one launch before the calls and one after them, recorded as CUDA graphs: so nothing that an
assignment's oracle, tolerance, rows or spot check do there may wait for the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from grader.assignment import Assignment, Inputs
from grader.judge.rows import row_check

# Of one input, secret places that must not have changed.
INPUT_SAMPLES = 4096


class Recorded:
    """Work done on a device as one launch, once it has been done by itself a first time; elsewhere just as it stands.

    It draws from `generator`, differently each time.
    """

    def __init__(self, work: Callable[[], None], generator: torch.Generator) -> None:
        self._work = work
        self._generator = generator
        self._calls = 0
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        self._calls += 1
        if self._calls == 1 or self._generator.device.type != "cuda":
            # What is loaded when first needed cannot be recorded.
            self._work()
            return
        if self._graph is None:
            torch.cuda.synchronize()
            self._graph = torch.cuda.CUDAGraph()
            self._graph.register_generator_state(self._generator)
            with torch.cuda.graph(self._graph):
                self._work()
        self._graph.replay()


class Checks:
    """Of slots with these inputs and outputs. `expect` before the calls, `doubtful` after them."""

    def __init__(
        self, assignment: Assignment, inputs: Sequence[Inputs], outputs: Sequence[Tensor], generator: torch.Generator
    ) -> None:
        self._inputs = inputs
        self._outputs = outputs
        self._generator = generator
        rows = outputs[0].shape[0]
        self._make = assignment.spot_check or partial(row_check, assignment, rows)
        self._checks: list[Callable[[Inputs, Tensor], Tensor]] = []
        self._looks: list[tuple[Tensor, Tensor, Tensor]] = []
        self._doubtful = torch.zeros(len(outputs), dtype=torch.bool, device=generator.device)
        self._expect = Recorded(self._note, generator)
        self._compare = Recorded(self._look, generator)

    def expect(self) -> None:
        """Draws what will be looked at, and keeps what must be seen there."""
        self._expect()

    def doubtful(self) -> Tensor:
        """For each slot, a bool on the device: its answer is not right, or its inputs are not as they were."""
        self._compare()
        return self._doubtful

    def _note(self) -> None:
        self._checks = [self._make(inputs, self._generator) for inputs in self._inputs]
        self._looks = []
        for inputs in self._inputs:
            for value in inputs.values():
                if isinstance(value, Tensor):
                    flat = value.view(-1)
                    places = torch.randint(
                        flat.numel(), (min(INPUT_SAMPLES, flat.numel()),), generator=self._generator,
                        device=flat.device)
                    self._looks.append((flat, places, flat[places]))

    def _look(self) -> None:
        ratios = [
            check(inputs, output)
            for check, inputs, output in zip(self._checks, self._inputs, self._outputs, strict=True)]
        # Written so that NaN fails.
        wrong = (torch.stack(ratios) <= 1).logical_not()
        changed = torch.stack([(_bits(flat[places]) != _bits(kept)).any() for flat, places, kept in self._looks])
        self._doubtful.copy_(wrong | changed.view(len(self._outputs), -1).any(dim=1))


def _bits(x: Tensor) -> Tensor:
    return x.view({4: torch.int32, 2: torch.int16, 1: torch.int8, 8: torch.int64}[x.element_size()])

