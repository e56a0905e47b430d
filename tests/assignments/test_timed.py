"""Timed cases: their sizes, what drawing them costs, and answers that are compared in parts."""

import math
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from grader.course.assignment import Assignment
from grader.course.cases import Case, TimedCase, shape_of
from grader.course.catalogue import assignments, baseline, right_answer
from grader.course.parameters import Input, Inputs, Scalar
from grader.judging.answers.compare import compare, poison_
from grader.judging.running.buffers import DTYPES
from tests.assignments.tiny import tiny

ASSIGNMENTS = assignments()
SEEDS = (11, 22)
RENEWED = (33, 44, 33)

PARTS = 7
"""Rows of an output that are compared at a time: the last part is a shorter one."""

SMALL_CARD_BYTES = 2 << 30
"""What a card of 8 GB can spare for slots and the outputs of one side."""
SLOTS = 4
MOST_PASSES = 12
"""Bytes that a draw's operators write, as a multiple of the inputs: gemm's go through float32, twice their size."""
MOST_SORTED = 30_000

each = pytest.mark.parametrize("assignment", ASSIGNMENTS.values(), ids=list(ASSIGNMENTS))
every_timed = pytest.mark.parametrize(
    ("assignment", "case"), [(a, case) for a in ASSIGNMENTS.values() for case in a.timed],
    ids=[f"{a.name}-{case.name}" for a in ASSIGNMENTS.values() for case in a.timed])


def call_bytes(assignment: Assignment, case: Case) -> int:
    """What the tensors of one call take."""
    return sum(math.prod(shape_of(p, case)) * DTYPES[p.dtype].itemsize
               for p in assignment.parameters if not isinstance(p, Scalar))


def draw(assignment: Assignment, seed: int) -> Inputs:
    return assignment.make_inputs(tiny(assignment), torch.Generator().manual_seed(seed))


def tensors(inputs: Inputs) -> list[Tensor]:
    return [value for value in inputs.values() if isinstance(value, Tensor)]


class WriteCounter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Bytes written by operators, and how many elements the largest permutation or sort had."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.bytes, self.largest, self.sorted = 0, 0, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and not func.is_view:
            self.bytes += result.nbytes
            self.largest = max(self.largest, result.nbytes)
            if any(word in func.__name__ for word in ("randperm", "sort")):
                self.sorted = max(self.sorted, result.numel())
        return result


@each
def test_there_are_timed_cases_and_smaller_ones_for_small_cards(assignment: Assignment) -> None:
    assert len(assignment.timed) >= 2
    names = [case.name for timed in assignment.timed for case in timed.siblings()]
    assert len(set(names)) == len(names)
    for timed in assignment.timed:
        assert timed.name == "x".join(map(str, timed.sizes.values()))
        needed = [call_bytes(assignment, case) for case in timed.siblings()]
        assert needed == sorted(needed, reverse=True) and len(set(needed)) == len(needed), "the largest first"
        assert SLOTS * needed[-1] <= SMALL_CARD_BYTES


@every_timed
def test_work_counts_each_byte_once(assignment: Assignment, case: TimedCase) -> None:
    assert assignment.work is not None
    work = assignment.work(case)
    shapes = {p.name: shape_of(p, case) for p in assignment.parameters if not isinstance(p, Scalar)}
    once = {p.name: torch.Size(shapes[p.name]).numel() * DTYPES[p.dtype].itemsize
            for p in assignment.parameters if not isinstance(p, Scalar)}
    on_host = {p.name for p in assignment.parameters if isinstance(p, Input) and p.place == "host"}
    assert work.bytes == sum(size for name, size in once.items() if name not in on_host)
    # Of what lies on the host, the answer alone must cross.
    assert work.host_bytes == (once[assignment.output.name] if on_host else 0)
    assert work.flop == (2 * case.sizes["M"] * case.sizes["N"] * case.sizes["K"] if assignment.name == "gemm" else 0)


@each
def test_draws_are_fresh_and_not_trivial(assignment: Assignment) -> None:
    first, second = (draw(assignment, seed) for seed in SEEDS)
    again = draw(assignment, SEEDS[0])
    for tensor, other, same in zip(tensors(first), tensors(second), tensors(again), strict=True):
        assert torch.equal(tensor, same)
        assert float((tensor == other).double().mean()) < 0.01
        assert float((tensor == 0).double().mean()) < 0.01
        assert bool(tensor.isfinite().all())


@each
def test_drawing_costs_a_few_passes_and_little_memory(assignment: Assignment) -> None:
    with WriteCounter() as written:
        inputs = draw(assignment, SEEDS[0])
    whole = sum(x.nbytes for x in tensors(inputs))
    assert written.bytes <= MOST_PASSES * whole
    assert written.largest <= 2 * max(x.nbytes for x in tensors(inputs))
    assert written.sorted <= min(MOST_SORTED, max(x.shape[-1] for x in tensors(inputs)) // 2)


def test_of_the_first_column_every_element_is_renewed_and_nothing_else() -> None:
    assignment = ASSIGNMENTS["copy_first_column"]
    assert assignment.renew is not None
    matrix = draw(assignment, SEEDS[0])["matrix"].contiguous()
    before = matrix.clone()
    columns = []
    for seed in RENEWED:
        name, elements, values, small = assignment.renew({"matrix": matrix}, numpy.random.default_rng(seed))
        assert name == "matrix" and torch.equal(matrix, before) and not bool((values == before[:, 0]).any())
        assert values.shape == matrix.shape[:1]
        assert elements.data_ptr() == matrix.data_ptr() and elements.stride() == (matrix.stride(0),)
        changed = before.clone()
        changed[:, 0] = values
        columns.append(right_answer(assignment, {"matrix": changed}))
        assert torch.equal(columns[-1], right_answer(assignment, small))
    assert torch.equal(columns[0], columns[2]) and not bool((columns[0] == columns[1]).any())


@each
def test_answers_in_parts_are_the_answer(assignment: Assignment) -> None:
    inputs = draw(assignment, SEEDS[0])
    whole = right_answer(assignment, inputs)
    if assignment.rows is None:
        assert assignment.spot_check is not None
        return
    for first in range(0, whole.shape[0], PARTS):
        index = slice(first, min(first + PARTS, whole.shape[0]))
        for chosen in (index, torch.arange(whole.shape[0])[index].flip(0)):
            some = assignment.rows(inputs, chosen)
            torch.testing.assert_close(right_answer(assignment, some), whole[chosen], rtol=1e-12, atol=1e-15)
        some = assignment.rows(inputs, index)
        part = right_answer(assignment, some)
        if assignment.tolerance is not None:
            allowed = assignment.tolerance(inputs, whole)[index]
            torch.testing.assert_close(assignment.tolerance(some, part), allowed, rtol=1e-6, atol=0)


@each
def test_the_baseline_is_right(assignment: Assignment) -> None:
    inputs = draw(assignment, SEEDS[0])
    expected = right_answer(assignment, inputs)
    out = torch.empty_like(expected, dtype=DTYPES[assignment.output.dtype])
    poison_(out)
    returned = baseline(assignment.name).eager(**inputs, out=out)
    allowed = None if assignment.tolerance is None else assignment.tolerance(inputs, expected)
    assert compare(out if returned is None else returned, expected, allowed).passed


@pytest.mark.gpu
@every_timed
def test_on_a_gpu_the_baseline_is_right(assignment: Assignment, case: TimedCase) -> None:
    with torch.device("cuda"):
        inputs = assignment.make_inputs(case, torch.Generator("cuda").manual_seed(SEEDS[0]))
    shape, dtype = shape_of(assignment.output, case), DTYPES[assignment.output.dtype]
    out = torch.empty(shape, dtype=dtype, device="cuda")
    poison_(out)
    returned = baseline(assignment.name).eager(**inputs, out=out)
    out = out if returned is None else returned
    if assignment.spot_check is not None:
        check = assignment.spot_check([inputs], torch.Generator("cuda").manual_seed(SEEDS[0]))
        assert float(check([inputs], [out])) <= 1
        return
    expected = right_answer(assignment, inputs)
    allowed = None if assignment.tolerance is None else assignment.tolerance(inputs, expected)
    assert compare(out, expected, allowed).passed


def test_what_is_renewed_in_place_lies_on_the_host_and_what_is_timed_there_is_renewed() -> None:
    # On the device inputs come into sight all at once, which needs all of them to be written anew.
    silu = {name: getattr(ASSIGNMENTS["silu"], name) for name in Assignment.model_fields}
    Assignment(**silu)
    with pytest.raises(ValueError, match="renew: x is on the device"):
        Assignment(**{**silu, "renew": lambda inputs, generator: None})
    column = {name: getattr(ASSIGNMENTS["copy_first_column"], name) for name in Assignment.model_fields} | {"forms": {}}
    Assignment(**column)
    with pytest.raises(ValueError, match="renew: missing; timed cases with inputs on the host need it"):
        Assignment(**{**column, "renew": None})
    Assignment(**{**column, "renew": None, "timed": ()})
    with pytest.raises(ValueError, match="timed: matrix is on the host"):
        Assignment(**{**column, "parameters": (*column["parameters"], Input(name="x", shape=("rows",)))})
    with pytest.raises(ValueError, match="renew: eps is a number"):
        Assignment(**{**column, "parameters": (*column["parameters"], Scalar(name="eps"))})
