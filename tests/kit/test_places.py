"""The spot check of long vectors: right answers pass whatever is drawn, and what is left out or wrong is found."""

import math
import weakref
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from grader.course.cases import Case
from grader.course.catalogue import assignments, right_answer
from grader.course.parameters import Inputs
from tests.rows import each_row

VECTOR = assignments()["rmsnorm_vector"]
N = 1 << 18
INPUTS = VECTOR.make_inputs(Case(name="spot", sizes={"N": N}), torch.Generator().manual_seed(5))


def checked(output: Tensor, seed: int = 0, inputs: Inputs = INPUTS) -> float:
    assert VECTOR.spot_check is not None
    return float(VECTOR.spot_check([inputs], torch.Generator().manual_seed(seed))([inputs], [output]))


@each_row("seed", range(8))
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


@pytest.mark.parametrize("put_back", [False, True])
def test_a_right_answer_for_an_input_that_was_changed_fails(put_back: bool) -> None:
    """One huge element is the mean of the squares: who puts it in place need not add anything up."""
    changed_to = {**INPUTS, "x": INPUTS["x"].clone()}
    changed_to["x"][0] = 1e12
    output = right_answer(VECTOR, changed_to).float()
    assert checked(output, inputs=changed_to) <= 1
    assert VECTOR.spot_check is not None
    check = VECTOR.spot_check([INPUTS], torch.Generator().manual_seed(1))
    assert float(check([INPUTS if put_back else changed_to], [output])) > 1


def test_the_inputs_themselves_are_not_kept() -> None:
    inputs = {name: value.clone() if isinstance(value, Tensor) else value for name, value in INPUTS.items()}
    there = [weakref.ref(value) for value in inputs.values() if isinstance(value, Tensor)]
    assert VECTOR.spot_check is not None
    check = VECTOR.spot_check([inputs], torch.Generator().manual_seed(1))
    del inputs
    assert callable(check) and not any(one() for one in there)
