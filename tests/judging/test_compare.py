"""The poison, the comparison and the map of errors."""

import math
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.judging.answers.answers import finite
from grader.judging.answers.compare import (
    LEVELS,
    OracleError,
    compare,
    corner,
    error_map,
    poison_,
    poison_mask,
    printed,
    same_bits,
)
from grader.judging.running import buffers
from grader.judging.running.simulation import CallResult, run_on_both_poisons
from tests.rows import each_row

DTYPES = [torch.float32, torch.float16]
FLOATS = [*DTYPES, torch.float64, torch.bfloat16]


def _zeros(*shape: int) -> Tensor:
    return torch.zeros(shape, dtype=torch.float64)


def _allowed(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float64)


@pytest.mark.parametrize("dtype", FLOATS)
def test_poison_is_nan_and_nothing_else_is_poison(dtype: torch.dtype) -> None:
    out = torch.empty(7, 3, dtype=dtype)
    poison_(out)
    assert bool(out.isnan().all()) and bool(poison_mask(out).all())
    out[2, 1] = math.nan
    out[3, 0] = 0
    assert poison_mask(out).sum() == 19
    assert not poison_mask(out)[2, 1] and not poison_mask(out)[3, 0]


@pytest.mark.parametrize("dtype", FLOATS)
def test_poison_survives_a_copy_but_no_arithmetic_makes_it(dtype: torch.dtype) -> None:
    out = torch.empty(4, dtype=dtype)
    poison_(out)
    assert bool(poison_mask(out.clone()).all())
    tensor = torch.tensor([math.inf, -1.0, 0.0, math.nan], dtype=dtype)
    tensor = torch.stack([tensor - tensor, tensor.sqrt(), tensor / tensor, tensor * math.nan])
    assert not bool(poison_mask(tensor).any())


@each_row("dtype", buffers.DTYPES.values())
def test_every_dtype_has_a_poison_of_its_own_width_and_another_one(dtype: torch.dtype) -> None:
    out = torch.empty(6, dtype=dtype)
    for other in (True, False):
        poison_(out, other=other)
        assert bool(poison_mask(out, other=other).all()) and not bool(poison_mask(out, other=not other).any())
        assert not dtype.is_floating_point or bool(out.double().isnan().all())
    assert not bool(poison_mask(torch.tensor([0, 1, math.nan if dtype.is_floating_point else 2]).to(dtype)).any())


def test_of_bytes_a_second_call_tells_what_was_never_written() -> None:
    def call(other: bool) -> CallResult:
        """Writes the first two elements: one of them happens to be the poison."""
        out = torch.empty(4, dtype=torch.uint8)
        poison_(out, other=other)
        assert bool(poison_mask(out, other=other).all()) and not bool(poison_mask(out, other=not other).any())
        out[:2] = torch.tensor([int(poison[0]), 7], dtype=torch.uint8)
        return CallResult({"out": out})

    poison = torch.empty(4, dtype=torch.uint8)
    poison_(poison)
    ran = run_on_both_poisons(call)
    assert isinstance(ran, CallResult) and ran.unwritten
    assert ran.unwritten["out"].tolist() == [False, False, True, True]
    # Right by accident, and wrong all the same.
    expected = torch.tensor([float(poison[0]), 7, float(poison[0]), float(poison[0])], dtype=torch.float64)
    result = compare(ran.outputs["out"], expected, _allowed(1.0), ran.unwritten["out"])
    assert result.wrong.tolist() == [False, False, True, True] and result.unwritten_count == 2
    assert result.worst.got == "never written" and error_map(result).cells == ["..uu"]
    assert compare(ran.outputs["out"], expected, _allowed(1.0)).passed


def test_a_call_is_made_again_only_where_it_tells_more() -> None:
    calls: list[bool] = []

    def writing(value: float, dtype: torch.dtype, other: bool) -> CallResult | str:
        calls.append(other)
        out = torch.empty(3, dtype=dtype)
        poison_(out, other=other)
        out[0] = value
        return "lost" if other else CallResult({"out": out})

    floats = run_on_both_poisons(partial(writing, 7, torch.float16))
    assert isinstance(floats, CallResult) and not floats.unwritten and calls == [False]
    assert run_on_both_poisons(partial(writing, 7, torch.uint8)) == "lost" and calls == [False, False, True]


def test_a_byte_is_right_within_levels_or_exactly() -> None:
    got, expected = torch.tensor([0, 9, 255], dtype=torch.uint8), torch.tensor([1, 7, 254], dtype=torch.float64)
    result = compare(got, expected, _allowed(1.0))
    assert result.wrong.tolist() == [False, True, False] and result.worst_index == (1,)
    assert result.worst.error == "2"
    assert compare(got, got.double(), None).passed
    assert compare(got, expected, None).wrong.all()


def test_within_tolerance_passes_and_reports_how_near_it_was() -> None:
    result = compare(torch.tensor([1.0, 2.5]), torch.tensor([1.25, 2.5], dtype=torch.float64), _allowed(0.5))
    assert result.passed and result.count == 0
    assert result.worst_ratio == 0.5


def test_beyond_tolerance_names_the_worst_element() -> None:
    got = torch.zeros(3, 5)
    got[1, 2], got[2, 4] = 1.0, -3.0
    result = compare(got, _zeros(3, 5), torch.tensor([[0.1], [0.1], [1.0]], dtype=torch.float64))
    assert not result.passed and result.count == 2
    assert result.worst_index == (1, 2)
    assert result.worst_ratio == pytest.approx(10)
    assert result.worst.model_dump() == {
        "index": [1, 2], "got": "1", "expected": "0", "error": "1", "allowed": "0.1"}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_lose_whatever_is_allowed(value: float) -> None:
    result = compare(torch.tensor([0.0, value]), _zeros(2), _allowed(1e30))
    assert result.wrong.tolist() == [False, True]
    assert result.worst_ratio == math.inf and result.worst_index == (1,)


def test_an_element_never_written_is_wrong_but_a_written_one_is_the_worst() -> None:
    got = torch.zeros(4)
    poison_(got[:2])
    got[3] = 1
    result = compare(got, _zeros(4), _allowed(0.5))
    assert result.count == 3 and result.unwritten_count == 2
    assert result.worst_index == (3,)
    poison_(got)
    assert compare(got, _zeros(4), _allowed(0.5)).worst.got == "never written"


def test_a_bool_never_written_is_wrong_though_the_oracle_takes_what_was_answered() -> None:
    mask = torch.empty(3, dtype=torch.bool)
    poison_(mask)
    mask[0] = False
    assert finite(mask).view(torch.uint8).tolist() == [0, 1, 1]
    for allowed in (None, _allowed(200.0)):
        assert compare(mask, mask.clone(), allowed).wrong.tolist() == [False, True, True]


def test_nothing_allowed_and_nothing_wrong() -> None:
    result = compare(torch.zeros(3), _zeros(3), _allowed(0.0))
    assert result.passed and result.worst_ratio == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_exact_means_equal_bits(dtype: torch.dtype) -> None:
    expected = torch.tensor([1.5, -0.0, 0.0, 2.0], dtype=torch.float64)
    assert compare(expected.to(dtype), expected, None).passed
    got = torch.tensor([1.5, 0.0, 0.0, 2.0], dtype=dtype)
    got[3] = torch.nextafter(got[3], torch.tensor(9.0, dtype=dtype)) if dtype == torch.float32 else 2.002
    result = compare(got, expected, None)
    assert result.wrong.tolist() == [False, True, False, True]
    assert result.worst_ratio == math.inf and result.exact


# The answer, the oracle's, and the tolerance.
OURS: list[tuple[Tensor, list[Any], float | None, str]] = [
    *((torch.zeros(1, dtype=torch.uint8), [answer], 1.0, r"out of the range of torch\.uint8")
      for answer in (-1.0, 256.0, math.nan)),
    *((torch.tensor([2**53 + 1]), [answer], None, r"no exact whole number beyond 2\^53; return whole numbers")
      for answer in (2.0**53, 2.0**63)),
    *((torch.zeros(1, dtype=torch.float16), [answer], 1.0, "not finite") for answer in (math.nan, math.inf, 70_000.0)),
    *((torch.zeros(1), [0.0], allowed, "tolerance") for allowed in (math.nan, math.inf, -1.0)),
    (torch.zeros(2, 3), [[0.0] * 2] * 3, 1.0, "shape"), (torch.zeros(1), [0.1], None, "representable"),
]


@each_row(("got", "answer", "allowed", "says"), OURS)
def test_an_oracle_or_a_tolerance_that_is_none_is_our_fault(
    got: Tensor, answer: list[Any], allowed: float | None, says: str
) -> None:
    with pytest.raises(OracleError, match=says):
        compare(got, torch.tensor(answer, dtype=torch.float64), None if allowed is None else _allowed(allowed))


def test_a_whole_number_beyond_float64_is_compared_exactly() -> None:
    got = torch.tensor([2**53 + 1])
    assert compare(got, got, None).passed and compare(got, got - 1, None).wrong.all()


def test_map_shows_each_element_of_a_small_output() -> None:
    got = torch.zeros(3, 4)
    got[0, 1], got[1, 2], got[2, 0] = 5.0, 50.0, math.nan
    poison_(got[2, 3:])
    found = error_map(compare(got, _zeros(3, 4), _allowed(1.0)))
    assert found.cells == [".1..", "..2.", "9..u"]
    assert found.output_shape == [3, 4] and found.cell_shape == [1, 1]


def test_a_cell_shows_its_worst() -> None:
    got = torch.zeros(300, 1000)
    got[299, 999], got[298, 998], got[0, 8] = 5.0, 500.0, 2.0
    found = error_map(compare(got, _zeros(300, 1000), _allowed(1.0)))
    assert found.cell_shape == [4, 8]
    assert len(found.cells) == 75 and {len(row) for row in found.cells} == {125}
    assert found.cells[74][124] == "3" and found.cells[0][1] == "1"
    assert sum(row.count(".") for row in found.cells) == 75 * 125 - 2


@each_row("length", [1, 5, 33, 1000, 16384, 16385, 1_000_003])
def test_a_vector_is_folded_into_rows_in_order(length: int) -> None:
    got = torch.zeros(length)
    got[length - 1] = 5
    found = error_map(compare(got, _zeros(length), _allowed(1.0)))
    line = "".join(found.cells)
    assert len(found.cells) <= 128 and max(map(len, found.cells)) <= 128
    assert len({len(row) for row in found.cells[:-1]}) <= 1
    assert len(line) == math.ceil(length / found.cell_shape[1])
    assert line == "." * (len(line) - 1) + "1"


def test_every_mark_of_the_map_is_known() -> None:
    got = torch.logspace(0, 11, 64)
    poison_(got[:1])
    found = error_map(compare(got, _zeros(64), _allowed(1.0)))
    assert set("".join(found.cells)) == set(LEVELS) - {"."}


@each_row(("value", "dtype", "said"), [
    (0.1, torch.float32, "0.1"), (-0.0, torch.float32, "-0"), (37, torch.float32, "37"), (1 / 3, torch.float32,
                                                                                         "0.33333334"),
    (1 / 3, torch.float16, "0.3333"), (1e-10, torch.float32, "1e-10"), (math.nan, torch.float32, "nan"),
    (-math.inf, torch.float32, "-inf"), (255, torch.uint8, "255")])
def test_a_number_is_printed_as_its_dtype_prints_it(value: float, dtype: torch.dtype, said: str) -> None:
    assert printed(value, dtype) == said
    # As what a kernel left is read back.
    assert printed(float(torch.tensor(value, dtype=dtype)), dtype) == said


def test_corner_shows_the_first_wrong_element_with_digits_that_tell() -> None:
    expected = torch.arange(60, dtype=torch.float64).reshape(6, 10)
    got = expected.float()
    got[3, 7], got[5, 9] = 37.0001, float("nan")
    shown = corner(compare(got, expected, torch.tensor(1e-9, dtype=torch.float64)))
    assert shown.index == [2, 6]
    assert shown.got[1] == ["36", "37.0001", "38", "39"] and shown.expected[1] == ["", "37", "", ""]
    assert shown.got[3][3] == "nan" and shown.expected[3] == ["", "", "", "59"]
    poison_(got[5:])
    assert corner(compare(got, expected, torch.tensor(1e-9, dtype=torch.float64))).got[3] == ["unwritten"] * 4


def test_corner_of_a_vector_stands_upright_and_one_of_an_element_is_it() -> None:
    shown = corner(compare(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1.0, 2.0, 3.0]).double(), None))
    assert (shown.index, shown.got, shown.expected) == ([0], [["1"], ["2"], ["4"]], [[""], [""], ["3"]])
    assert corner(compare(torch.tensor([[1.0]]), torch.tensor([[2.0]]).double(), None)).index == [0, 0]


@each_row("dtype", buffers.DTYPES.values())
def test_what_is_compared_stays_as_it_is(dtype: torch.dtype) -> None:
    got = torch.tensor([1, 0, 1]).to(dtype)
    before = got.clone()
    assert compare(got, _zeros(3), _allowed(2.0)).passed and same_bits(got, before)
