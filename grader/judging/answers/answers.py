"""Comparison of a call's outputs with the right answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import torch

from grader.course.assignment import Assignment
from grader.course.catalogue import answers, objection
from grader.course.parameters import Inputs, Update
from grader.judging.answers.compare import Comparison, bits_of_bool, compare, unchanged_mask
from grader.judging.running.simulation import CallResult


@dataclass(frozen=True)
class AnswerComparisons:
    """Comparisons of a call's outputs with the right answers, by the output's name, in the order of the parameters."""

    outputs: Mapping[str, Comparison]
    objection: str = ""
    """A sentence if the answer as a whole misses the assignment's statistic though each element may be right; "" if
    not."""

    @property
    def passed(self) -> bool:
        return not self.objection and all(output.passed for output in self.outputs.values())

    @property
    def worst_ratio(self) -> float:
        return max(output.worst_ratio for output in self.outputs.values())

    @property
    def about(self) -> str:
        """Return the name of the output to explain: the first that is wrong, or the first of all."""
        return next((name for name, output in self.outputs.items() if not output.passed), next(iter(self.outputs)))

    @property
    def chosen(self) -> Comparison:
        """Return the comparison of the output to explain."""
        return self.outputs[self.about]


def compared(assignment: Assignment, result: CallResult, inputs: Inputs) -> AnswerComparisons:
    """Compare what a call left in its outputs with the oracle's answers. Raises OracleError."""
    right = answers(assignment, inputs, _answered(assignment, result, inputs))
    comparisons = {}
    for view in assignment.views():
        name = view.output.name
        allowed = None if view.tolerance is None else view.tolerance(inputs, right[name])
        comparison = compare(result.outputs[name], right[name], allowed, result.unwritten.get(name))
        if isinstance(view.output, Update) and not comparison.passed:
            left = unchanged_mask(comparison.got, inputs[name])
            # Only if all wrong elements are unchanged: a few may be unchanged by chance.
            if bool(left[comparison.wrong].all()):
                comparison = replace(comparison, unwritten=comparison.wrong, kept=True)
        comparisons[name] = comparison
    said = ""
    if assignment.statistic is not None and all(comparison.passed for comparison in comparisons.values()):
        said = objection(assignment, inputs,
                         {name: comparison.got.to(device_of(inputs)) for name, comparison in comparisons.items()})
    return AnswerComparisons(comparisons, said)


def given_answer(assignment: Assignment, result: CallResult, inputs: Inputs) -> Assignment:
    """Return the assignment with an oracle that already holds the answered outputs that it takes (`conditions`)."""
    known = _answered(assignment, result, inputs)
    return assignment.model_copy(update={"oracle": partial(assignment.oracle, **known)}) if known else assignment


def finite(answer: torch.Tensor) -> torch.Tensor:
    """Return an answer as an oracle gets it: NaN and infinity become 0, and every byte of a bool but 0 becomes True. So
    no oracle needs a guard against them."""
    if answer.dtype == torch.bool:
        return bits_of_bool(answer) != 0
    if not answer.dtype.is_floating_point:
        return answer
    wide = answer.to(torch.float64)
    return torch.where(wide.isfinite(), wide, 0.0).to(answer.dtype)


def _answered(assignment: Assignment, result: CallResult, inputs: Inputs) -> dict[str, torch.Tensor]:
    """Return the outputs that the oracle takes (`conditions`), on the device of its inputs."""
    return {name: finite(result.outputs[name].to(device_of(inputs))) for name in assignment.conditions}


def device_of(inputs: Inputs) -> torch.device:
    """Return the device of the tensors among a call's inputs."""
    return next((value.device for value in inputs.values() if isinstance(value, torch.Tensor)), torch.device("cpu"))
