"""The spot check of long vectors: right answers pass whatever is drawn, and what is left out or wrong is found."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from grader.assignment import Case, Inputs
from grader.catalogue import assignments, right_answer

VECTOR = assignments()["rmsnorm_vector"]
N = 1 << 18
INPUTS = VECTOR.make_inputs(Case(name="spot", sizes={"N": N}), torch.Generator().manual_seed(5))


def checked(output: Tensor, seed: int = 0, inputs: Inputs = INPUTS) -> float:
    assert VECTOR.spot_check is not None
    return VECTOR.spot_check(inputs, output, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("seed", range(8))
def test_right_answers_pass(seed: int) -> None:
    assert checked(right_answer(VECTOR, INPUTS).float(), seed) <= 1
    assert checked(right_answer(VECTOR, INPUTS).double().float(), seed) > 0


def test_an_answer_at_its_tolerance_passes_and_one_beyond_does_not() -> None:
    expected = right_answer(VECTOR, INPUTS)
    assert VECTOR.tolerance is not None
    allowed = VECTOR.tolerance(INPUTS, expected)
    assert checked((expected + 0.9 * allowed).float()) <= 1 < checked((expected + 1.2 * allowed).float())


def left_out(share: float) -> Callable[[Tensor], Tensor]:
    def changed(output: Tensor) -> Tensor:
        output[: int(share * N)] = 0
        return output
    return changed


@pytest.mark.parametrize("changed", [
    left_out(0.002), lambda output: output * (1 + 1e-3), lambda output: output.flip(0), torch.zeros_like,
], ids=["a five hundredth left out", "a tenth of a per cent off", "the other way round", "zeros"])
def test_wrong_answers_fail(changed: Callable[[Tensor], Tensor]) -> None:
    assert checked(changed(right_answer(VECTOR, INPUTS).float())) > 1


def test_one_element_that_was_never_written_fails() -> None:
    output = right_answer(VECTOR, INPUTS).float()
    output[N // 3] = math.nan
    assert checked(output) == math.inf
