"""Inputs of a call, drawn from a seed: on the device for a GPU, except for inputs that an assignment keeps on the
host."""

from __future__ import annotations

import hashlib
import random
from contextlib import AbstractContextManager, nullcontext

import torch

from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.course.parameters import Input, Inputs, Scalar, Value
from grader.kit.inputs import numbers


def draw(assignment: Assignment, case: Case, seed: int, *, cuda: bool) -> Inputs:
    """Draw a tensor or number for every input and scalar. The same `seed`, which is below 2^63, gives the same values
    on the same device."""
    generator = torch.Generator("cuda" if cuda else "cpu").manual_seed(seed)
    with _on(generator.device):
        drawn = dict(assignment.make_inputs(case, generator))
    for parameter in assignment.parameters:
        if isinstance(parameter, Input) and parameter.place == "host":
            drawn[parameter.name] = drawn[parameter.name].cpu()
    return drawn


def _on(device: torch.device) -> AbstractContextManager[object]:
    """Return a context in which tensors are made on the device. For the CPU, where tensors are made anyhow, the context
    is empty: a real one takes time."""
    return nullcontext() if device.type == "cpu" else device


class Draws:
    """The contents of one task's calls, from a seed that no submission can know."""

    def __init__(self, assignment: Assignment, seed: bytes, *, cuda: bool) -> None:
        self._assignment = assignment
        self._seed = seed
        self._cuda = cuda

    def scalars(self, case: Case) -> dict[str, Value]:
        """Return the scalars of a case, the same for all its calls. Host code sees them, so they stand in the plan."""
        assignment, key = self._assignment, self._key(case, "scalars")
        if not (names := [p.name for p in assignment.parameters if isinstance(p, Scalar)]):
            return {}
        if assignment.distributions is not None:
            generator = torch.Generator("cuda" if self._cuda else "cpu").manual_seed(key)
            with _on(generator.device):
                return numbers(assignment.parameters, assignment.distributions, case, generator)
        # Sizes of 1, because the tensors that are drawn along with the numbers are thrown away.
        small = case.model_copy(update={"sizes": dict.fromkeys(case.sizes, 1)})
        drawn = draw(assignment, small, key, cuda=self._cuda)
        return {name: drawn[name] for name in names}

    def inputs(self, case: Case, *which: int) -> Inputs:
        """Return the contents of a call, with the scalars that stand in the plan. The same numbers `which` give the
        same contents."""
        return {**self.like(case, *which), **self.scalars(case)}

    def like(self, case: Case, *which: object) -> Inputs:
        """Return the contents of a call on a case of other sizes, with scalars of its own."""
        return draw(self._assignment, case, self._key(case, *which), cuda=self._cuda)

    def random(self, case: Case, *which: object) -> random.Random:
        """Return a random generator for choices in a case. The same `which` give the same one."""
        return random.Random(self._key(case, *which))

    def _key(self, case: Case, *which: object) -> int:
        text = "/".join(map(str, (self._assignment.name, case.name, *which))).encode()
        return int.from_bytes(hashlib.blake2b(text, key=self._seed, digest_size=8).digest(), "big") >> 1
