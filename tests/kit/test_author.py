"""What `assignment` makes of several outputs, of bytes that must move, and of roundings."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.course.assignment import Assignment
from grader.course.parameters import Inputs
from grader.kit.author import (
    Baseline,
    Indices,
    Input,
    Output,
    Scalar,
    Spread,
    Update,
    Whole,
    assignment,
    cases,
    mistakes,
    rounding,
    timed,
)
from tests.rows import each_row

X = Input(name="x", shape=("M", "N"))
LEAST, PLACE = Output(name="least", shape=("M",)), Output(name="place", shape=("M",), dtype="int64")


def made(**more: Any) -> Assignment:
    """The least of each row and its place."""
    return assignment(**{
        "name": "least", "title": "", "formula": "", "parameters": (X, LEAST, PLACE),
        "oracle": lambda x: tuple(x.double().min(dim=1)), "cases": cases("M N", "1x1 5x9"),
        "baseline": Baseline(name="", compiled=""), "distributions": lambda case: {"x": Spread()}, **more})


def allowed(inputs: Inputs, expected: Tensor) -> Tensor:
    return rounding(expected, torch.float32)


def test_what_is_given_by_name_holds_for_that_output_alone() -> None:
    one = made(tolerance={"least": allowed}, rows="x")
    least, place = one.views()
    assert least.tolerance is allowed and place.tolerance is None
    x = torch.arange(6.0).view(3, 2)
    for view in (least, place):
        assert view.rows is not None and view.rows({"x": x}, slice(1, 2))["x"].tolist() == [[2.0, 3.0]]
    assert one.about("place").oracle(x=x).tolist() == [0, 0, 0]


def test_of_one_output_a_name_and_none_are_the_same() -> None:
    more = {"parameters": (X, LEAST), "oracle": lambda x: x.double().amin(dim=1)}
    assert made(**more, tolerance={"least": allowed}).tolerance is made(**more, tolerance=allowed).tolerance is allowed


@pytest.mark.parametrize("key", ["tolerance", "rows", "columns", "spot_check"])
def test_a_name_that_is_no_output_is_said(key: str) -> None:
    with pytest.raises(ValueError, match=f"{key}: x is no output; name one of least, place"):
        made(**{key: {"x": allowed}})


def test_mistakes_are_about_an_output() -> None:
    about = mistakes(("zeros", "Zeros.", lambda x: x[:, 0].long() * 0), output="place")
    one = made(mistakes=(*mistakes(("zeros", "Zeros.", lambda x: x[:, 0].double() * 0)), *about))
    assert [[wrong.output for wrong in view.mistakes] for view in one.views()] == [[""], ["place"]]


def test_bytes_are_counted_by_dtype_and_twice_where_they_are_read_and_written() -> None:
    one = made(
        parameters=(X, Input(name="at", shape=("M",), dtype="int64"), Scalar(name="k", type="int"),
                    Update(name="cache", shape=(2, "N // 2 + 1"), dtype="float8_e4m3fn"), LEAST),
        oracle=lambda x, at, k, cache: (cache, x[:, 0]), tolerance=allowed,
        distributions=lambda case: {"x": Spread(), "at": Indices("M"), "k": Whole(1, 2), "cache": Spread()},
        timed=(*timed("M N", "6x10"), *timed("M N", "6x10-half", dtypes={"x": "bfloat16"})),
        flop=lambda sizes: 7 * sizes["M"])
    assert one.work is not None
    whole, half = (one.work(case) for case in one.timed)
    assert whole.bytes == 4 * 60 + 8 * 6 + 2 * 2 * 6 + 4 * 6 and whole.bytes - half.bytes == 2 * 60
    assert whole.flop == half.flop == 42


@each_row("dtype", [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2])
def test_a_rounding_is_allowed_and_four_are_not(dtype: torch.dtype) -> None:
    """Of normal numbers and of all others."""
    near = torch.cat([torch.rand(1000, dtype=torch.float64) + 1, torch.rand(1000, dtype=torch.float64) * 2**-13])
    error = (near.to(dtype).double() - near).abs() / rounding(near, dtype)
    assert float(error.max()) <= 0.5
    if dtype != torch.float64:
        assert float(error.max()) > 0.4


def test_a_mistake_about_two_outputs_has_an_answer_for_each() -> None:
    found = made(mistakes=mistakes(
        ("largest", "", lambda x: x.double().max(dim=1)), ("first", "", lambda x: (x[:, 0].double(), None)),
        output="least place"))
    x = torch.tensor([[1.0, 3.0]])
    answers = [[mistake.answer(x=x) for mistake in view.mistakes] for view in found.views()]
    assert answers == [[torch.tensor([3.0]), torch.tensor([1.0])], [torch.tensor([1]), None]]


def test_sizes_that_do_not_go_together_are_said() -> None:
    with pytest.raises(ValueError, match="case 5x9: sizes do not go together"):
        made(fits=lambda sizes: sizes["N"] <= sizes["M"])


@pytest.mark.parametrize("strides, words", [
    (("K", 1), "strides of x: 'K' is no size of the case; take one of M, N"),
    (("N // (N - 9)", 1), "an extent or a stride of x divides by 0; give other sizes"),
])
def test_strides_that_cannot_be_computed_are_said(strides: tuple[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"case 5x9: {words}")):
        made(cases=cases("M N", "5x9", strides={"x": strides}))
