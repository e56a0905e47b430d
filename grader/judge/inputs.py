"""The inputs of a call, from a seed: on the device for a GPU, but for those that an assignment keeps on the host."""

from __future__ import annotations

import torch

from grader.model.assignment import Assignment, Case, Input, Inputs


def draw(assignment: Assignment, case: Case, seed: int, *, cuda: bool) -> Inputs:
    """A tensor or number for every input and scalar; the same ones for the same seed, below 2^63, and device."""
    device = "cuda" if cuda else "cpu"
    generator = torch.Generator(device).manual_seed(seed)
    with torch.device(device):
        drawn = dict(assignment.make_inputs(case, generator))
    for parameter in assignment.parameters:
        if isinstance(parameter, Input) and parameter.place == "host":
            drawn[parameter.name] = drawn[parameter.name].cpu()
    return drawn
