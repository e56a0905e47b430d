"""Spot checks, of matrix products and of long vectors: right answers pass whatever is drawn, and what kernels get wrong
is found."""

import math
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
import torch
from torch import Tensor

from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.course.catalogue import assignments, right_answer
from grader.course.parameters import Inputs
from grader.judging.answers.compare import poison_
from tests.rows import each_row

GEMM = assignments()["gemm"]
GROUP = 32
"""As in the assignment: columns that are checked by one sum."""
SIZES = ((200, 170, 300), (1, 1, 1), (96, 130, 1024))
"""(M, N, K): no multiples of anything, the smallest there is, and a long K."""
SEEDS = tuple(range(3))


@dataclass(frozen=True)
class DrawnCase:
    inputs: Inputs
    expected: Tensor
    allowed: Tensor

    @property
    def half(self) -> Tensor:
        return self.expected.half()


@cache
def drawn(m: int, n: int, k: int, values: str = "mixed") -> DrawnCase:
    case = Case(name="spot", sizes={"M": m, "N": n, "K": k}, values=values)
    inputs = GEMM.make_inputs(case, torch.Generator().manual_seed(3))
    expected = right_answer(GEMM, inputs)
    assert GEMM.tolerance is not None
    return DrawnCase(inputs, expected, GEMM.tolerance(inputs, expected))


def checked(inputs: Inputs, output: Tensor, seed: int = 0, of: Assignment = GEMM) -> float:
    assert of.spot_check is not None
    return float(of.spot_check([inputs], torch.Generator().manual_seed(seed))([inputs], [output]))


@pytest.mark.parametrize("values", ["mixed", "large", "tiny"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_right_answers_pass(sizes: tuple[int, int, int], values: str) -> None:
    case = drawn(*sizes, values)
    a, b = case.inputs["a"], case.inputs["b"]
    for output in (case.half, torch.mm(a, b), torch.mm(a.float(), b.float()).half()):
        before = output.clone()
        assert all(checked(case.inputs, output, seed) <= 0.9 for seed in SEEDS)
        assert torch.equal(before, output)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_answers_at_their_tolerance_never_raise_an_alarm(sizes: tuple[int, int, int]) -> None:
    case = drawn(*sizes)
    signs = 2 * torch.randint(2, case.expected.shape, generator=torch.Generator().manual_seed(4)) - 1
    for sign in (torch.tensor(1), torch.tensor(-1), signs):
        for seed in SEEDS:
            assert checked(case.inputs, case.expected + 0.999 * sign * case.allowed, seed) <= 1
        assert checked(case.inputs, case.expected + 1.5 * sign * case.allowed) > 1


def sums_in_half(one: DrawnCase) -> Tensor:
    """A running sum in fp16 over blocks of 64 of K, the kindest way to keep one."""
    a, b = one.inputs["a"].float(), one.inputs["b"].float()
    total = torch.zeros(one.expected.shape)
    for first in range(0, a.shape[1], 64):
        total = (total + a[:, first : first + 64] @ b[first : first + 64]).half().float()
    result: Tensor = total.half()
    return result


def without_a_block_of_k(one: DrawnCase) -> Tensor:
    a, b = one.inputs["a"].double(), one.inputs["b"].double()
    without: Tensor = one.expected - a[:, 64:80] @ b[64:80]
    return without.half()


def changed(change: Callable[[Tensor], object]) -> Callable[[DrawnCase], Tensor]:
    def output(one: DrawnCase) -> Tensor:
        half: Tensor = one.expected.half()
        change(half)
        return half

    return output


def mistaken(name: str) -> Callable[[DrawnCase], Tensor]:
    def output(one: DrawnCase) -> Tensor:
        answers = (mistake.answer(**one.inputs) for mistake in GEMM.mistakes if mistake.name == name)
        tensor: Tensor = next(answer for answer in answers if answer is not None).half()
        return tensor

    return output


WRONG: dict[str, Callable[[DrawnCase], Tensor]] = {
    "zeros": changed(lambda out: out.zero_()),
    "sums in half precision": sums_in_half,
    "a block of K dropped": without_a_block_of_k,
    "a transposed": mistaken("a transposed"),
    "b transposed": mistaken("b transposed"),
    "out transposed": mistaken("out transposed"),
    "half of K overwritten": mistaken("half of K overwritten"),
    "a tile of zeros": changed(lambda out: out[16:32, 40:56].zero_()),
    "a tile of its neighbour's": changed(lambda out: out[16:32, 40:56].copy_(out[16:32, 56:72].clone())),
    "two rows exchanged": changed(lambda out: out[4:6].copy_(out[4:6].flip(0))),
    "one NaN": changed(lambda out: out[-1, -1].fill_(float("nan"))),
    "one infinity": changed(lambda out: out[7, 0].fill_(float("-inf"))),
    "a row never written": changed(lambda out: poison_(out[11])),
    "the last column never written": changed(lambda out: out[:, -1].fill_(float("nan"))),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_answers_fail(what: str) -> None:
    for sizes, seeds in ((SIZES[0], SEEDS), (SIZES[2], SEEDS[:1])):
        case = drawn(*sizes)
        output = WRONG[what](case)
        for seed in seeds:
            found = checked(case.inputs, output, seed)
            assert found > 1
            if not bool(output.isfinite().all()):
                assert found == math.inf


def test_one_wrong_element_fails_as_promised() -> None:
    """Too many elements for the singles to find one; at 66 times the largest tolerance of its group the sums must."""
    case = drawn(1024, 1024, 64)
    i, j = 700, 333
    its_group = case.allowed[i, j // GROUP * GROUP :][:GROUP]
    output = case.expected.clone()
    output[i, j] += 2.1 * its_group.sum()
    assert all(checked(case.inputs, output, seed) > 1 for seed in SEEDS[:6])
    output[i, j] = case.expected[i, j] + 1.1 * its_group.sum()
    assert sum(checked(case.inputs, output, seed) > 1 for seed in SEEDS[:6]) >= 3


HUGE = 1000.0
"""Of a column of a, beside which the rest of a sum is less than what the rounding of the whole to fp16 may err."""
CHANGES: dict[str, Callable[[Inputs], object]] = {
    "one column of a": lambda inputs: inputs["a"][:, 7].fill_(HUGE),
    "one row of b": lambda inputs: inputs["b"][7].fill_(HUGE),
    "one column in a fifth of a's rows": lambda inputs: inputs["a"][:40, 7].fill_(HUGE),
}


@pytest.mark.parametrize("what", CHANGES)
def test_right_answers_for_inputs_that_were_changed_fail(what: str) -> None:
    given = drawn(*SIZES[0]).inputs
    changed_to = {name: value.clone() for name, value in given.items()}
    CHANGES[what](changed_to)
    output = right_answer(GEMM, changed_to).half()
    assert checked(changed_to, output) <= 0.9
    assert GEMM.spot_check is not None
    for seed in SEEDS:
        check = GEMM.spot_check([given], torch.Generator().manual_seed(seed))
        # Also if they are put back after the call.
        assert min(float(check([inputs], [output])) for inputs in (changed_to, given)) > 1


def test_large_products_are_checked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    case = drawn(*SIZES[0])
    assert GEMM.spot_check is not None
    monkeypatch.setitem(GEMM.spot_check.__globals__["PART"], "cpu", 4096)
    assert all(checked(case.inputs, case.half, seed) <= 0.9 for seed in SEEDS)
    for what in ("a row never written", "a tile of zeros", "a block of K dropped"):
        assert checked(case.inputs, WRONG[what](case)) > 1


VECTOR = assignments()["rmsnorm_vector"]
LONG = 1 << 18
INPUTS = VECTOR.make_inputs(Case(name="spot", sizes={"N": LONG}), torch.Generator().manual_seed(5))


@each_row("seed", range(8))
def test_right_vectors_pass(seed: int) -> None:
    assert 0 < checked(INPUTS, right_answer(VECTOR, INPUTS).float(), seed, VECTOR) <= 1


def test_an_answer_at_its_tolerance_passes_and_one_beyond_does_not() -> None:
    expected = right_answer(VECTOR, INPUTS)
    assert VECTOR.tolerance is not None
    allowed = VECTOR.tolerance(INPUTS, expected)
    near, beyond = (checked(INPUTS, (expected + share * allowed).float(), of=VECTOR) for share in (0.9, 1.2))
    assert near <= 1 < beyond


def left_out(share: float) -> Callable[[Tensor], Tensor]:
    def changed(output: Tensor) -> Tensor:
        output[: int(share * LONG)] = 0
        return output
    return changed


@pytest.mark.parametrize("changed", [
    left_out(0.002), lambda output: output * (1 + 1e-3), lambda output: output.flip(0), torch.zeros_like,
], ids=["a five hundredth left out", "a tenth of a per cent off", "the other way round", "zeros"])
def test_wrong_vectors_fail(changed: Callable[[Tensor], Tensor]) -> None:
    assert checked(INPUTS, changed(right_answer(VECTOR, INPUTS).float()), of=VECTOR) > 1


def test_one_element_that_was_never_written_fails() -> None:
    output = right_answer(VECTOR, INPUTS).float()
    output[LONG // 3] = math.nan
    assert checked(INPUTS, output, of=VECTOR) == math.inf


@pytest.mark.parametrize("put_back", [False, True])
def test_a_right_answer_for_an_input_that_was_changed_fails(put_back: bool) -> None:
    """One huge element is the mean of the squares: who puts it in place need not add anything up."""
    changed_to = {**INPUTS, "x": INPUTS["x"].clone()}
    changed_to["x"][0] = 1e12
    output = right_answer(VECTOR, changed_to).float()
    assert checked(changed_to, output, of=VECTOR) <= 1
    assert VECTOR.spot_check is not None
    check = VECTOR.spot_check([INPUTS], torch.Generator().manual_seed(1))
    assert float(check([INPUTS if put_back else changed_to], [output])) > 1


@pytest.mark.parametrize(("of", "given"), [(GEMM, drawn(*SIZES[0]).inputs), (VECTOR, INPUTS)], ids=["gemm", "vector"])
def test_the_inputs_themselves_are_not_kept(of: Assignment, given: Inputs) -> None:
    inputs = {name: value.clone() if isinstance(value, Tensor) else value for name, value in given.items()}
    there = [weakref.ref(value) for value in inputs.values() if isinstance(value, Tensor)]
    assert of.spot_check is not None
    check = of.spot_check([inputs], torch.Generator().manual_seed(1))
    del inputs
    assert callable(check) and not any(one() for one in there)
