"""Distributions of whole numbers, bools and given values: what they hold, and what they cannot."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from grader.course.cases import Case
from grader.course.parameters import Input, Output, Parameter, Scalar, Value
from grader.errors import UserError
from grader.kit.inputs import Bits, Bytes, Distribution, Number, Spread, draw, maker, middle, numbers
from grader.kit.whole import Bools, Distinct, Fixed, Indices, Offsets, OneOf, Whole
from tests.rows import each_row

SIZES = {"V": 1000, "N": 64}
SEEDS = range(20)


def drawn(distribution: Distribution, shape: Sequence[int], dtype: torch.dtype, seed: int = 1) -> Tensor:
    return draw(distribution, shape, dtype, SIZES, None, torch.Generator().manual_seed(seed))


# What each promises of every draw.
HOLDS: dict[str, tuple[Distribution, tuple[int, ...], torch.dtype, Callable[[Tensor], bool]]] = {
    "both bounds": (Whole(-128, 127), (5, 9), torch.int8, lambda x: (int(x.min()), int(x.max())) == (-128, 127)),
    "both bounds of two elements": (Whole(3, "V"), (2,), torch.int16, lambda x: {*x.tolist()} == {3, 1000}),
    "the least and the largest int64": (
        Whole(-(2**63), 2**63 - 1), (4,), torch.int64, lambda x: {-(2**63), 2**63 - 1} <= {*x.tolist()}),
    "whole numbers as floats": (Whole(0, 3), (99,), torch.float16, lambda x: {*x.tolist()} == {0.0, 1.0, 2.0, 3.0}),
    "labels": (Indices("V"), (400,), torch.int64, lambda x: int(x.min()) == 0 and int(x.max()) == 999),
    "labels that repeat": (Indices("V"), (400,), torch.int32, lambda x: int(torch.bincount(x).max()) > 15),
    "labels of one class": (Indices(1), (30,), torch.int32, lambda x: not x.any()),
    "a permutation": (Distinct("N"), (64,), torch.int64, lambda x: sorted(x.tolist()) == [*range(64)]),
    "pages": (Distinct("V"), (128,), torch.int32, lambda x: len({*x.tolist()}) == 128 and int(x.max()) < 1000),
    "permutations of rows": (
        Distinct("N", each_row=True), (50, 64), torch.int16, lambda x: all(len({*row}) == 64 for row in x.tolist())),
    "offsets": (Offsets("V"), (33,), torch.int64,
                lambda x: int(x[0]) == 0 and int(x[-1]) == 1000 and not bool((x.diff() < 0).any())),
    "empty and long rows": (Offsets("V"), (33,), torch.int32,
                            lambda x: int((x.diff() == 0).sum()) > 1 and int(x.diff().max()) > 400),
    "offsets beyond what is float32": (Offsets(33_554_435), (9,), torch.int64, lambda x: int(x[-1]) == 33_554_435),
    "offsets of one row": (Offsets("V"), (3, 2), torch.int64, lambda x: x.tolist() == [[0, 1000]] * 3),
    "bools": (Bools(0.1), (100, 100), torch.bool, lambda x: 850 < int(x.sum()) < 1150),
    "both zeros": (OneOf((-0.0, 0.0, 2.0)), (99,), torch.bfloat16,
                   lambda x: {*x.tolist()} == {0.0, 2.0} and 10 < int((x.signbit() & (x == 0)).sum()) < 60),
    "a value that is given": (Fixed(-3), (2, 3), torch.int8, lambda x: x.tolist() == [[-3] * 3] * 2),
}


@each_row("what", HOLDS)
def test_every_draw_holds_what_is_promised(what: str) -> None:
    distribution, shape, dtype, holds = HOLDS[what]
    for seed in SEEDS:
        x = drawn(distribution, shape, dtype, seed)
        assert x.shape == shape and x.dtype == dtype and x.is_contiguous() and holds(x), x
        assert torch.equal(x, drawn(distribution, shape, dtype, seed))


@each_row("dtype", [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2])
@each_row("distribution", [Bits(), Spread(scale=(0.1, 10.0), offset=2.0), Spread(scale=(300.0, 300.0))])
def test_floats_of_every_dtype_are_finite(dtype: torch.dtype, distribution: Distribution) -> None:
    x = drawn(distribution, (64, 257), dtype)
    assert x.dtype == dtype and bool(x.double().isfinite().all()) and len({*x.double().view(-1).tolist()}) > 100
    if isinstance(distribution, Bits):
        assert float(x.double().abs().max()) == torch.finfo(dtype).max and bool((x.double().signbit()).any())


REFUSED: dict[str, tuple[Distribution, tuple[int, ...], torch.dtype, str]] = {
    "beyond the dtype": (Whole(0, 300), (5,), torch.uint8, "uint8 cannot hold whole numbers from 0 to 300"),
    "below the dtype": (Whole(-1, 3), (5,), torch.uint8, "take a wider dtype"),
    "no numbers": (Indices("N - 64"), (5,), torch.int64, "no whole number lies between 0 and -1"),
    "too few numbers": (Distinct("N"), (65,), torch.int64, "65 numbers of 64 cannot be distinct; raise high"),
    "no rows": (Offsets("N"), (1,), torch.int64, r"N \+ 1 elements are offsets of N rows"),
    "a value that does not fit": (Fixed(1.5), (2,), torch.int32, "int32 cannot hold 1.5"),
    "floats for whole numbers": (Spread(), (2,), torch.int32, "Spread draws no tensor of int32; take"),
    "bits for whole numbers": (Bits(), (2,), torch.bool, "Bits draws no tensor of bool"),
    "bytes for others": (Bytes(), (2,), torch.int8, "Bytes draws no tensor of int8"),
    "a number for a tensor": (Number(1, 2), (2,), torch.float32, "Number draws no tensor of float32"),
}


@each_row("what", REFUSED)
def test_what_cannot_be_drawn_is_said(what: str) -> None:
    distribution, shape, dtype, words = REFUSED[what]
    with pytest.raises(ValueError, match=words):
        drawn(distribution, shape, dtype)


SCALARS: dict[str, tuple[Scalar, Distribution, Callable[[Value], bool], Value]] = {
    "an int": (Scalar(name="k", type="int"), Whole(1, "N"), lambda k: type(k) is int and 1 <= k <= 64, 32),
    "a bool": (Scalar(name="k", type="bool"), Bools(0.5), lambda k: type(k) is bool, True),
    "a bool that is given": (Scalar(name="k", type="bool"), Fixed(True), lambda k: k is True, True),
    "a float that is given": (Scalar(name="k"), Fixed(2.5), lambda k: k == 2.5 and type(k) is float, 2.5),
    "an int of a few": (Scalar(name="k", type="int"), OneOf((2, 4, 8)), lambda k: k in (2, 4, 8), 4),
}


@pytest.mark.parametrize("what", SCALARS)
def test_numbers_are_of_their_type_and_need_no_tensors(what: str) -> None:
    scalar, distribution, holds, typical = SCALARS[what]
    parameters: tuple[Parameter, ...] = (
        Input(name="x", shape=("V", "V")), Input(name="rows", shape=("N + 1",), dtype="int64"), scalar,
        Output(shape=("V",)))
    case = Case(name="case", sizes=SIZES)

    def named(case: Case) -> dict[str, Distribution]:
        return {"x": Spread(), "rows": Offsets("V"), "k": distribution}

    for seed in SEEDS:
        value = maker(parameters, named)(case, torch.Generator().manual_seed(seed))["k"]
        alone = numbers(parameters, named, case, torch.Generator().manual_seed(seed))
        assert holds(value) and [*alone] == ["k"] and holds(alone["k"])
    assert middle(distribution, SIZES) == typical


@pytest.mark.parametrize(("distribution", "words"), [
    (None, "case: distributions: k is missing"), (Spread(), "k: Spread draws no int; take"),
    (Number(1, 2), "k: Number draws no int"), (Fixed(0.5), "k: int64 cannot hold 0.5"),
])
def test_a_number_without_its_distribution_is_said(distribution: Distribution | None, words: str) -> None:
    made = maker((Scalar(name="k", type="int"),), lambda case: {} if distribution is None else {"k": distribution})
    with pytest.raises(UserError, match=words):
        made(Case(name="case", sizes={}), torch.Generator())
