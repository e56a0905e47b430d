"""Rows, columns and elements that hold others' right answers are named, those that are merely near others are not; and
the part of a tensor in which all marked elements lie."""

from collections.abc import Callable

import torch
from torch import Tensor

from grader.judging.answers.other_rows import answers_of_others
from grader.judging.explain.wording import part, say
from grader.languages.phrases import Fact
from grader.languages.triton.phrases import PHRASES
from tests.rows import each_row

RIGHT = torch.rand(64, 100, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def words(got: Tensor, right: Tensor = RIGHT) -> list[str]:
    return [_said(fact) for fact, _ in answers_of_others(got, right)]


def _said(found: Fact) -> str:
    return say(PHRASES, found).removeprefix("Every wrong value is ").removesuffix(".")


def test_the_first_row_that_holds_anothers_is_named() -> None:
    moved = RIGHT.clone()
    moved[3:] = 0
    moved[2] = RIGHT[7]
    ((fact, answer),) = answers_of_others(moved, RIGHT)
    assert _said(fact) == "that of another row, or 0: row 2 holds what belongs to row 7"
    assert bool((answer == moved).all())
    assert words(RIGHT.roll(1, 1)) == ["that of another column: column 0 holds what belongs to column 99"]


def test_rows_that_hold_no_others_are_not_told() -> None:
    few = RIGHT.clone()
    few[32:], few[3, 5] = 0, few[3, 5] + 0.2
    assert words(few) == words(RIGHT) == words(few[:3], RIGHT[:3]) == []
    # Of two rows that are the same neither is the other's.
    twice = RIGHT.clone()
    twice[1] = twice[2]
    zero = twice.clone()
    zero[5] = 0
    assert words(zero, twice) == []


def test_elements_that_hold_others_are_told_where_no_two_are_alike() -> None:
    right = torch.arange(24.0, dtype=torch.float64)
    turned = right.view(6, 4).mT.flatten()
    assert words(turned.float(), right) == ["that of another element: element [1] holds what belongs to [4]"]
    assert words(turned.view(2, 12), right.view(2, 12)) == [
        "that of another element: element [0, 1] holds what belongs to [0, 4]"]
    # Whole numbers that come often are any other's.
    assert words(turned.remainder(5), right.remainder(5)) == []
    # Others are wrong in their own way.
    assert words(torch.where(right < 12, turned, right + 0.5), right) == []


@each_row(("shape", "marked", "says"), [
    ((3, 8), lambda at: at % 8 >= 5, "in columns 5 to 7"),
    ((3, 8), lambda at: at % 8 == 2, "in column 2"),
    ((3, 8), lambda at: at >= 13, "from out[1, 5] on"),
    ((2, 2, 4), lambda at: at >= 8, "from out[1, 0, 0] on"),
    ((2, 2, 4), lambda at: at % 4 < 2, "in columns 0 to 1"),
    ((9,), lambda at: (at > 2) & (at < 6), ""),
    ((9,), lambda at: at == 4, ""),
    ((9,), lambda at: at > 5, "from out[6] on"),
    ((3, 8), lambda at: at >= 0, ""),
    ((3, 8), lambda at: at % 3 == 0, ""),
    ((3, 8), lambda at: (at % 8 >= 5) & (at != 6), ""),
    ((3, 8), lambda at: (at < 9) & (at > 2), ""),
    ((), lambda at: at == 0, ""),
])  # fmt: skip
def test_a_part_holds_all_marked_elements_and_no_other(
    shape: tuple[int, ...], marked: Callable[[Tensor], Tensor], says: str
) -> None:
    numbers = torch.arange(torch.Size(shape).numel())
    assert say(PHRASES, part("out", marked(numbers).reshape(shape))) == says
