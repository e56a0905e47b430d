"""Wrong answers that cost no work must fail on every case, and honest rounding must pass on every case.

A null answer is one that a kernel gives which does not solve the assignment: zeros, the input, an answer to other
inputs. Where one is right by nature, EXCEPTIONS says why; an exception that no longer holds fails too.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from grader.assignment import Assignment, Case, Inputs, shape_of
from grader.catalogue import assignments, baseline, right_answer

SEEDS = (11, 22, 33)
HALF_PRECISION_RATIO = 3.0
"""Half precision errs by at least this many times what is allowed: a margin, so that chance decides nothing."""

ONE_ELEMENT = "one element: its mean and its transpose are itself"
ONE_LINE = "a single row or column has the same order in memory once transposed"
ONE_COLUMN = "a matrix of one column is its first column"
EXCEPTIONS = {
    ("transpose", "1x1", "the input"): ONE_ELEMENT,
    ("transpose", "1x1", "the mean"): ONE_ELEMENT,
    ("transpose", "1x37", "the input"): ONE_LINE,
    ("transpose", "41x1-bits", "the input"): ONE_LINE,
    ("copy_first_column", "1x1", "the input"): ONE_ELEMENT,
    ("copy_first_column", "1x1", "the mean"): ONE_ELEMENT,
    ("copy_first_column", "1x7", "the input"): "one row: the first element in memory is the whole answer",
    ("copy_first_column", "7x1-bits", "the input"): ONE_COLUMN,
    ("gemm", "1x1x1", "half precision"): "one product is rounded once, whatever the accumulator",
}

ASSIGNMENTS = assignments()
CASES = [(a, case) for a in ASSIGNMENTS.values() for case in a.cases_for("cpu")]
every_case = pytest.mark.parametrize(("assignment", "case"), CASES, ids=[f"{a.name}-{c.name}" for a, c in CASES])

Null = Callable[[Assignment, Inputs, Tensor], Tensor | None]
"""Assignment, inputs and right answer to a null answer in the output's dtype, or None where there is none."""


def draw(assignment: Assignment, case: Case, seed: int) -> Inputs:
    return assignment.make_inputs(case, torch.Generator().manual_seed(seed))


def as_output(assignment: Assignment, answer: Tensor) -> Tensor:
    return answer.to(getattr(torch, assignment.output.dtype))


def worst_ratio(assignment: Assignment, inputs: Inputs, got: Tensor, expected: Tensor) -> float:
    """The largest error as a share of the error allowed; infinite for NaN, and where a bit that must match does not."""
    assert got.shape == expected.shape
    if assignment.tolerance is None:
        same = torch.equal(got.view(torch.int32), as_output(assignment, expected).contiguous().view(torch.int32))
        return 0.0 if same else float("inf")
    ratio = (got.double() - expected).abs() / assignment.tolerance(inputs, expected)
    return float(ratio.nan_to_num(nan=float("inf")).max())


def passes(assignment: Assignment, inputs: Inputs, got: Tensor, expected: Tensor) -> bool:
    return worst_ratio(assignment, inputs, got, expected) <= 1


def first_input(assignment: Assignment, inputs: Inputs) -> Tensor:
    return next(v for v in inputs.values() if isinstance(v, Tensor))


def the_input(assignment: Assignment, inputs: Inputs, expected: Tensor) -> Tensor:
    """The first input's elements in memory order, repeated or cut to fill the output."""
    flat = as_output(assignment, first_input(assignment, inputs)).reshape(-1)
    return flat.repeat(-(-expected.numel() // flat.numel()))[: expected.numel()].view(expected.shape)


def the_mean(assignment: Assignment, inputs: Inputs, expected: Tensor) -> Tensor:
    mean = first_input(assignment, inputs).double().mean()
    return as_output(assignment, mean.expand(expected.shape).contiguous())


def half_precision(assignment: Assignment, inputs: Inputs, expected: Tensor) -> Tensor | None:
    """The kindest half precision there is: only inputs and answer are rounded, or for gemm only the running sum."""
    if assignment.name == "gemm":
        a, b = inputs["a"].float(), inputs["b"].float()
        total = torch.zeros(expected.shape, dtype=torch.float16)
        for k in range(a.shape[1]):
            total = (total.float() + a[:, k : k + 1] * b[k : k + 1]).half()
        return total
    if assignment.output.dtype != "float32":
        return None
    rounded = {name: v.half().float() if isinstance(v, Tensor) else v for name, v in inputs.items()}
    return as_output(assignment, right_answer(assignment, rounded).half())


NULLS: dict[str, Null] = {
    "zeros": lambda assignment, inputs, expected: as_output(assignment, torch.zeros_like(expected)),
    "ones": lambda assignment, inputs, expected: as_output(assignment, torch.ones_like(expected)),
    "the input": the_input,
    "the mean": the_mean,
    "half precision": half_precision,
}


@pytest.mark.parametrize("null", NULLS)
@every_case
def test_null_answer_fails(assignment: Assignment, case: Case, null: str) -> None:
    exception = EXCEPTIONS.get((assignment.name, case.name, null))
    for seed in SEEDS:
        inputs = draw(assignment, case, seed)
        expected = right_answer(assignment, inputs)
        answer = NULLS[null](assignment, inputs, expected)
        if answer is None:
            continue
        ratio = worst_ratio(assignment, inputs, answer, expected)
        if exception:
            assert ratio <= 1, f"no longer an exception: {exception}"
        else:
            assert ratio > (HALF_PRECISION_RATIO if null == "half precision" else 1)


@every_case
def test_answer_to_other_inputs_fails(assignment: Assignment, case: Case) -> None:
    """A kernel that hands out the answer of an earlier call."""
    for seed in SEEDS:
        inputs = draw(assignment, case, seed)
        stale = right_answer(assignment, draw(assignment, case, seed + 1))
        assert not passes(assignment, inputs, as_output(assignment, stale), right_answer(assignment, inputs))


@every_case
def test_right_answer_passes_and_nan_fails(assignment: Assignment, case: Case) -> None:
    for seed in SEEDS:
        inputs = draw(assignment, case, seed)
        expected = right_answer(assignment, inputs)
        assert expected.shape == shape_of(assignment.output, case)
        assert expected.dtype == torch.float64
        answer = as_output(assignment, expected).contiguous()
        assert bool(answer.isfinite().all())
        assert passes(assignment, inputs, answer, expected)
        answer.view(-1)[-1] = float("nan")
        assert not passes(assignment, inputs, answer, expected)


@every_case
def test_inputs_are_as_declared_and_drawn_from_the_generator(assignment: Assignment, case: Case) -> None:
    inputs, same, other = (draw(assignment, case, seed) for seed in (SEEDS[0], SEEDS[0], SEEDS[1]))
    declared = [p for p in assignment.parameters if p.kind != "output"]
    assert list(inputs) == [p.name for p in declared]
    for p in declared:
        value = inputs[p.name]
        if p.kind == "scalar":
            assert isinstance(value, float)
            assert value == same[p.name] != other[p.name]
            continue
        assert value.shape == shape_of(p, case)
        assert value.dtype == getattr(torch, p.dtype)
        assert value.is_contiguous()
        assert bool(value.isfinite().all())
        assert torch.equal(value, same[p.name])
        assert not torch.equal(value, other[p.name])


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_baseline_passes(name: str) -> None:
    assignment = ASSIGNMENTS[name]
    for case in assignment.cases_for("cpu"):
        inputs = draw(assignment, case, SEEDS[0])
        out = torch.full(shape_of(assignment.output, case), float("nan"), dtype=getattr(torch, assignment.output.dtype))
        returned = baseline(name).eager(**inputs, out=out)
        answer = out if returned is None else returned
        assert passes(assignment, inputs, answer, right_answer(assignment, inputs)), case.name


MISTAKES = [(a, mistake.name) for a in ASSIGNMENTS.values() for mistake in a.mistakes]


@pytest.mark.parametrize(("assignment", "name"), MISTAKES, ids=[f"{a.name}-{name}" for a, name in MISTAKES])
def test_mistake_fails(assignment: Assignment, name: str) -> None:
    mistake = next(m for m in assignment.mistakes if m.name == name)
    failed = 0
    for case in assignment.cases_for("cpu"):
        inputs = draw(assignment, case, SEEDS[0])
        expected = right_answer(assignment, inputs)
        answer = mistake.answer(**inputs)
        if answer is not None:
            assert answer.dtype == torch.float64
            failed += not passes(assignment, inputs, as_output(assignment, answer), expected)
    assert failed, "seen on no case"


def test_exceptions_name_cases_that_exist() -> None:
    known = {(a.name, case.name, null) for a, case in CASES for null in NULLS}
    assert set(EXCEPTIONS) <= known
