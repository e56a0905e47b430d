"""Facts about wrong answers: each is told of the answers that show it, and none of answers at random."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.judging.explain.evidence import UNKNOWN
from tests.judging.toys import BLEND, GEMM, LINE, NORM, ORACLES, SILU, TURN, Fault, explain
from tests.rows import each_row

Answer = Callable[[Mapping[str, Any], Tensor], Tensor]
"""A wrong answer, of the inputs and the right one in float64."""


def _to(**changed: Callable[[Tensor], Tensor]) -> Callable[[Assignment], Answer]:
    """The right answer to other inputs."""
    def of(assignment: Assignment) -> Answer:
        return lambda given, right: ORACLES[assignment.name](
            **{**given, **{name: change(given[name].double()) for name, change in changed.items()}})
    return of


def _of(answer: Answer) -> Callable[[Assignment], Answer]:
    return lambda assignment: answer


def _where(mask: Callable[[Mapping[str, Any], Tensor], Tensor], answer: float) -> Callable[[Assignment], Answer]:
    return _of(lambda given, right: torch.where(mask(given, right), answer, right))


def _every(each: int, at: int) -> Callable[[Assignment], Answer]:
    return _where(lambda given, right: (torch.arange(right.numel()) % each == at).view(right.shape), 5.5)


def _index(right: Tensor, dim: int) -> Tensor:
    shape = [1] * right.ndim
    shape[dim] = -1
    return torch.arange(right.shape[dim]).view(shape).expand(right.shape)


FACTS: list[tuple[str, Assignment, Callable[[Assignment], Answer]]] = [
    ("Every wrong value is 0.5 times the right one", SILU, _of(lambda given, right: right / 2)),
    ("Every wrong value is 3", GEMM, _of(lambda given, right: 3 * right)),
    ("Every wrong value is the right one with the other sign", TURN, _of(lambda given, right: -right)),
    ("Every wrong value is 2.5 too small", SILU, _of(lambda given, right: right - 2.5)),
    ("the right one of the element after it", SILU, _of(lambda given, right: right.flatten().roll(-1).view_as(right))),
    ("the right one of the row before it", BLEND, _of(lambda given, right: right.roll(1, 0))),
    ("row 1 holds what belongs to row 2", BLEND, _of(lambda given, right: right[torch.arange(len(right)) * 2 % 3])),
    ("column 1 holds what belongs to column 2", BLEND, _of(
        lambda given, right: right[:, torch.arange(right.shape[1]) * 2 % 3])),
    ("the right one times x", SILU, _of(lambda given, right: right * given["x"])),
    ("off by a constant factor of its own", NORM, _of(lambda given, right: right * (2 + _index(right, 0)))),
    ("without its fraction. Is something converted to an integer", TURN, _of(lambda given, right: right.trunc())),
    ("Every wrong value is x itself", SILU, _of(lambda given, right: given["x"])),
    ("would be right if x had no sign", SILU, _to(x=torch.abs)),
    ("the right one rounded to float16", NORM, _of(lambda given, right: right.half())),
    ("right to the digits that float16 or TF32 has", NORM, _of(
        lambda given, right: right * (1 + (right * 1e5).sin() / 1024))),
    ("right to the digits that bfloat16 has", NORM, _of(lambda given, right: right * (1 + (right * 1e5).sin() / 200))),
    ("Every wrong element is the second of a group of 2", SILU, _every(2, 1)),
    ("Every wrong element is the third of a group of 4", SILU, _every(4, 2)),
    ("Every wrong element is the first of a group of 8", SILU, _every(8, 0)),
    ("elements are exactly those where x is negative", SILU, _where(lambda given, right: given["x"] < 0, 5.5)),
    ("elements are exactly those where x is positive", LINE, _where(lambda given, right: given["x"] > 0, -1.5)),
    ("exactly those where the right answer is negative. Every wrong element is 0", GEMM,
     _where(lambda given, right: right < 0, 0)),
]
EACH = [pytest.param(*fact, case, id=f"{number}-{case.name}")
        for number, fact in enumerate(FACTS) for case in fact[1].cases]
SEEDS = range(6)


def _left(answer: Answer) -> Fault:
    def fault(given: Mapping[str, Any], right: Tensor, out: Tensor) -> None:
        out.copy_(answer(given, right.double()))
    return fault




@each_row(("words", "assignment", "answer", "case"), EACH)
def test_a_fact_is_told(
    words: str, assignment: Assignment, answer: Callable[[Assignment], Answer], case: Case
) -> None:
    bare = assignment.model_copy(update={"mistakes": ()})
    hint = explain(bare, case, _left(answer(assignment))).hint
    assert words in hint
    # A fact leaves the cause open.
    assert "?" in hint


RANDOM: dict[str, Callable[[Tensor, torch.Generator], Tensor]] = {
    "numbers": lambda right, dice: torch.randn(right.shape, generator=dice, dtype=torch.float64) * 40,
    "of the right size": lambda right, dice: right * (1 + torch.randn(right.shape, generator=dice)),
    "in some places": lambda right, dice: torch.where(
        torch.rand(right.shape, generator=dice) < 0.3, torch.randn(right.shape, generator=dice), right),
    "in nearly all places": lambda right, dice: torch.where(
        torch.rand(right.shape, generator=dice) < 0.97, torch.randn(right.shape, generator=dice) * 30, right),
    "in one place": lambda right, dice: right.flatten().index_fill(
        0, torch.randint(1, right.numel() - 1, (1,), generator=dice), 77).view(right.shape),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("wrong", RANDOM)
@pytest.mark.parametrize("assignment", [SILU, LINE, NORM, GEMM, TURN, BLEND], ids=lambda one: one.name)
def test_no_fact_is_told_of_an_answer_at_random(assignment: Assignment, wrong: str, seed: int) -> None:
    dice = torch.Generator().manual_seed(seed)
    for case in assignment.cases:
        def fault(given: Mapping[str, Any], right: Tensor, out: Tensor) -> None:
            tensor = RANDOM[wrong](right.double(), dice)
            out.copy_(tensor.abs().clamp(max=255) if out.dtype == torch.uint8 else tensor)

        assert explain(assignment, case, fault).pattern == UNKNOWN
