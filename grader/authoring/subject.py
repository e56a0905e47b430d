"""An assignment under examination: the values that its functions return, and how close an answer is to the right
one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from grader.course import catalogue
from grader.course.assignment import Assignment
from grader.course.cases import Case, dtype_of, shape_of
from grader.course.parameters import Inputs, Output, Update
from grader.errors import UserError
from grader.judging.answers.answers import finite
from grader.judging.answers.compare import Comparison, compare, poison_
from grader.judging.running.buffers import DTYPES

SEEDS = (11, 22)
EARLIER = 33

Answers = Mapping[str, Tensor]
"""An answer for each output, by name, in the order of the parameters."""


@dataclass(frozen=True)
class CaseData:
    """Inputs of a case, and the right answers to them: float64, or whole numbers."""

    case: Case
    inputs: Inputs
    right: Answers


@dataclass(frozen=True)
class Subject:
    """An assignment under examination, and the folder that holds `assignments/`, `reference/` and `student_template/`.
    Its methods raise UserError if a function of the assignment returns a wrong kind of value, and pass on whatever
    these functions raise."""

    assignment: Assignment
    root: Path

    @property
    def cases(self) -> tuple[Case, ...]:
        return self.assignment.cases_for("cpu")

    @property
    def outputs(self) -> list[Output | Update]:
        return self.assignment.outputs

    def views(self) -> Iterator[tuple[str, Assignment]]:
        """Yield a prefix for problems and the assignment about an output, for each output. The prefix is the output's
        name if there are several, else ""."""
        for view in self.assignment.views():
            yield f"{view.output.name}: " if len(self.outputs) > 1 else "", view

    def draw(self, case: Case, seed: int) -> CaseData:
        inputs = self.inputs(case, seed)
        sample = self.baseline(case, inputs) if self.assignment.conditions else {}
        return CaseData(case, inputs, self.right(inputs, sample))

    def inputs(self, case: Case, seed: int) -> Inputs:
        return self.assignment.make_inputs(case, torch.Generator().manual_seed(seed))

    def right(self, inputs: Inputs, answered: Answers) -> Answers:
        """Return the oracle's answers. The oracle gets `answered` with finite numbers only, as in a grading."""
        given = {name: finite(answered[name]) for name in self.assignment.conditions}
        returned = self.assignment.oracle(**inputs, **given)
        names = [output.name for output in self.outputs]
        several = returned if isinstance(returned, tuple) else (returned,)
        if len(several) != len(names) or (len(names) > 1 and not isinstance(returned, tuple)):
            got = f"a tuple of {len(returned)}" if isinstance(returned, tuple) else type(returned).__name__
            wanted = f"a tuple ({', '.join(names)})" if len(names) > 1 else "a tensor"
            raise UserError(f"oracle: expected {wanted}, got {got}")
        return {output.name: self.answer("oracle", output, value)
                for output, value in zip(self.outputs, several, strict=True)}

    def answer(self, about: str, output: Output | Update, value: Any) -> Tensor:
        """Return a `value` that one of the author's functions returned as an answer: in float64, or whole for whole
        numbers."""
        if len(self.outputs) > 1:
            about = f"{about}: {output.name}"
        whole = not DTYPES[output.dtype].is_floating_point
        if isinstance(value, Tensor) and whole and not value.is_floating_point():
            return value
        return float64(about, value, f"float64 or {output.dtype}" if whole else "float64")

    def stored(self, name: str, case: Case, answer: Tensor) -> Tensor:
        """Return an answer as a kernel would store it."""
        output = next(output for output in self.outputs if output.name == name)
        return answer.to(DTYPES[dtype_of(output, case)]).contiguous()

    def ratio(self, view: Assignment, drawn: CaseData, answer: Tensor) -> float:
        """Return the largest error over the error allowed for an answer to the output that `view` is about; all other
        outputs are right. Infinity if the assignment's statistic refuses the answer."""
        name, case, whole = view.output.name, drawn.case, self.assignment.statistic or self.assignment.conditions
        answered = {output: self.stored(output, case, answer if output == name else right)
                    for output, right in drawn.right.items() if whole or output == name}
        expected = self.right(drawn.inputs, answered)[name] if self.assignment.conditions else drawn.right[name]
        comparison = self.compared(view, drawn, answered, expected)
        if self.objection(drawn.inputs, answered):
            return math.inf
        return 0.0 if comparison.passed else comparison.worst_ratio

    def compared(self, view: Assignment, drawn: CaseData, answered: Answers, expected: Tensor) -> Comparison:
        """Compare the output that `view` is about, as a kernel answered it, with the right answer. Raises
        OracleError."""
        allowed = None
        if view.tolerance is not None:
            allowed = float64("tolerance", view.tolerance(drawn.inputs, expected))
        return compare(answered[view.output.name], expected, allowed)

    def objection(self, inputs: Inputs, answered: Answers) -> str:
        """Return the objection of the assignment's statistic to these answers; "" if they fit."""
        said: Any = catalogue.objection(self.assignment, inputs, answered)
        if not isinstance(said, str):
            raise UserError(f"statistic: expected a str, got {type(said).__name__}")
        return said

    def baseline(self, case: Case, inputs: Inputs) -> Answers:
        """Return the answers of `baseline.py`, which either returns them or writes them into the outputs. The inputs
        are not changed."""
        module = catalogue.baseline(self.assignment.name, self.root)
        given = {name: value.clone() if isinstance(value, Tensor) else value for name, value in inputs.items()}
        for output in self.outputs:
            if isinstance(output, Output):
                given[output.name] = torch.empty(shape_of(output, case), dtype=DTYPES[dtype_of(output, case)])
                poison_(given[output.name])
        returned = module.eager(**given)
        several = returned if isinstance(returned, tuple) else (returned,)
        if returned is not None and len(several) != len(self.outputs):
            raise UserError(
                f"baseline.py: eager returns {len(several)} answers of {len(self.outputs)}; return or write all")
        # A baseline that returns None has written its answer into the output.
        made = several if returned is not None else (None,) * len(self.outputs)
        answers = {output.name: given[output.name] if value is None else value
                   for output, value in zip(self.outputs, made, strict=True)}
        for output in self.outputs:
            if (got := tuple(answers[output.name].shape)) != (shape := shape_of(output, case)):
                done = "changed the shape of" if returned is None else "returned"
                raise UserError(f"baseline.py: eager {done} {output.name}: expected {shape}, got {got}")
        return answers


def float64(about: str, value: object, wanted: str = "float64") -> Tensor:
    if not isinstance(value, Tensor) or value.dtype != torch.float64:
        got = str(value.dtype).removeprefix("torch.") if isinstance(value, Tensor) else type(value).__name__
        raise UserError(f"{about}: expected a tensor of {wanted}, got {got}")
    return value
