"""Small assignments that use what the six of the course do not: several outputs, tensors that are updated, whole
numbers, bools, narrow floats, strides, scalars of every type, and random bits by a seed."""

import math
from typing import Any

import torch
from torch import Tensor

from grader.course.assignment import Assignment, Baseline
from grader.course.cases import cases
from grader.course.parameters import Input, Inputs, Output, Scalar, Update
from grader.kit.author import assignment, mistakes, rounding
from grader.kit.inputs import Distribution, Number, Spread
from grader.kit.whole import Bools, Fixed, Indices, OneOf, Whole

MATRIX = ("M", "N")


def _made(
    name: str, parameters: tuple[Any, ...], draws: dict[str, Distribution], oracle: Any, **more: Any
) -> Assignment:
    more.setdefault("cases", cases("M N", "3x5 33x70 64x64"))
    return assignment(
        name=name, title=name, formula="", parameters=parameters, distributions=lambda case: draws, oracle=oracle,
        baseline=Baseline(name="none", compiled="none"), **more)


def _near(inputs: Inputs, expected: Tensor) -> Tensor:
    return 2.0**-18 * expected.abs() + 1e-5


ROWS = _made(
    "rows", (Input(name="x", shape=MATRIX), Output(name="total", shape=("M",)), Output(name="largest", shape=("M",)),
             Output(name="place", shape=("M",), dtype="int64")),
    {"x": Spread()}, lambda x: (x.double().sum(1), x.double().amax(1), x.argmax(1)), tolerance={"total": _near},
    mistakes=mistakes(("the first place", "Which of the elements is the largest?",
                       lambda x: torch.zeros(len(x), dtype=torch.int64)), output="place"))
"""Sum, maximum and its place, for each row."""

DECAY = _made(
    "decay", (Input(name="x", shape=MATRIX), Update(name="state", shape=MATRIX),
              Output(name="sign", shape=MATRIX, dtype="bool")),
    {"x": Spread(), "state": Spread()},
    lambda x, state: (0.5 * state.double() + x.double(), 0.5 * state.double() + x.double() > 0),
    tolerance={"state": _near})
"""A state that is halved and added to, in place, and its sign."""

APPEND = _made(
    "append", (Input(name="row", shape=("N",)), Input(name="at", shape=(1,), dtype="int32"),
               Update(name="cache", shape=MATRIX)),
    {"row": Spread(), "at": Indices("M", repeats=0.0), "cache": Spread()},
    lambda row, at, cache: cache.double().index_copy(0, at.long(), row.double()[None]))
"""One row of a cache is replaced."""

SUMS = _made(
    "sums", (Input(name="a", shape=("N",), dtype="int64"), Input(name="b", shape=("N",), dtype="int64"),
             Output(name="out", shape=("N",), dtype="int64")),
    {"a": Whole(-(2**61), 2**61), "b": Whole(-(2**61), 2**61)}, lambda a, b: a + b, cases=cases("N", "5 1000"))
"""Whole numbers that are no float64."""

PAIRS = _made(
    "pairs", (Input(name="x", shape=("2 * N",), dtype="bfloat16"), Scalar(name="shift", type="int"),
              Scalar(name="negate", type="bool"), Output(name="out", shape=("N",), dtype="bfloat16"),
              Output(name="rest", shape=("N // 2 + 1",), dtype="int32")),
    {"x": Spread(), "shift": Whole(2, 90), "negate": Fixed(True)},
    lambda x, shift, negate: (
        (x.double()[0::2] + x.double()[1::2]) * (-1 if negate else 1),
        torch.arange(len(x) // 4 + 1, dtype=torch.int32, device=x.device) + shift),
    tolerance={"out": lambda inputs, expected: 2.0**-7 * expected.abs() + 2.0**-8}, cases=cases("N", "5 100 1000"))
"""Shapes by expressions, an int, a bool, bfloat16."""

NARROW = _made(
    "narrow", (Input(name="x", shape=("N",)), Output(name="low", shape=("N",), dtype="float8_e4m3fn"),
               Output(name="level", shape=("N",), dtype="int8")),
    {"x": Spread(scale=(1.0, 20.0))},
    lambda x: (x.to(torch.float8_e4m3fn).double(), (x.double() * 2).round().clamp(-127, 127)),
    tolerance={"level": lambda inputs, expected: torch.ones_like(expected)}, cases=cases("N", "5 1000"))
"""Floats of 8 bits, each of whose bits counts, and levels that may be one off."""

STRIDED = _made(
    "strided", (Input(name="x", shape=MATRIX), Output(name="out", shape=MATRIX)), {"x": Spread()},
    lambda x: x.double().square(), tolerance=_near,
    cases=(*cases("M N", "3x5 64x64"),
           *cases("M N", "33x70", strides={"x": ("N + 3", 1), "out": (1, "M + 5")})))
"""Squares, of rows that lie apart, into columns."""


def _dropped(x: Tensor, p: float, scale: int, seed: int, out: Tensor) -> Tensor:
    kept = scale * x.double() / (1 - p)
    return torch.where(out == 0, 0.0, kept)


def _share(inputs: Inputs, out: Tensor) -> str:
    p, n = inputs["p"], out.numel()
    share = float((out == 0).double().mean())
    allowed = 5 * math.sqrt(p * (1 - p) / n)
    if abs(share - p) <= allowed:
        return ""
    return f"{share:.0%} of the elements were dropped; p is {p:.0%}, give or take {allowed:.0%}"


DROPOUT = _made(
    "dropout", (Input(name="x", shape=("N",)), Scalar(name="p"), Scalar(name="scale", type="int"),
                Scalar(name="seed", type="int"), Output(shape=("N",))),
    {"x": Spread(), "p": Number(0.1, 0.5), "scale": Whole(2, 50), "seed": Whole(0, 2**31 - 1)}, _dropped,
    tolerance=_near, statistic=_share, cases=cases("N", "5 1000 4096"))
"""Elements are scaled, and dropped by the bits that follow from a seed."""

FLAGS = _made(
    "flags", (Input(name="keep", shape=("N",), dtype="bool"), Input(name="x", shape=("N",), dtype="int16"),
              Output(name="out", shape=("N",), dtype="int16")),
    {"keep": Bools(0.5), "x": Whole(-300, 300)}, lambda keep, x: torch.where(keep, x, 0).to(torch.int16),
    cases=cases("N", "5 1000"))


def _any_largest(x: Tensor, out: Tensor) -> Tensor:
    at = out.clamp(0, x.shape[1] - 1)
    right = (at == out) & (x.gather(1, at[:, None])[:, 0] == x.amax(dim=1))
    return torch.where(right, out, x.argmax(dim=1))


LARGEST = _made(
    "largest", (Input(name="x", shape=MATRIX), Output(shape=("M",), dtype="int64")),
    {"x": OneOf((-1.0, 0.5, 2.0))}, _any_largest)
"""The place of any of the largest elements of each row."""

SQUARED = _made(
    "squared", (Input(name="x", shape=MATRIX), Output(shape=MATRIX)), {"x": Spread()}, lambda x: x.double().square(),
    tolerance=lambda inputs, expected: rounding(expected, inputs["x"].dtype),
    cases=(*cases("M N", "3x5 64x64"),
           *cases("M N", "33x70-half", dtypes={"x": "bfloat16", "out": "bfloat16"})))
"""Squares, in the dtype that a case has."""

MIXED = _made(
    "mixed", (Input(name="x", shape=MATRIX, dtype="bfloat16"), Input(name="at", shape=("M",), dtype="int64"),
              Scalar(name="shift", type="int"), Scalar(name="negate", type="bool"), Update(name="state", shape=("M",)),
              Output(name="moved", shape=MATRIX, dtype="bfloat16"), Output(name="next", shape=("M",), dtype="int64")),
    {"x": Spread(), "at": Indices("N"), "shift": Whole(2, 90), "negate": Fixed(True), "state": Spread()},
    lambda x, at, shift, negate, state: (
        0.5 * state.double() + x.double().gather(1, at[:, None])[:, 0],
        x.double() * (-1 if negate else 1) + shift, at + shift),
    tolerance={"state": _near, "moved": lambda inputs, expected: 2.0**-7 * expected.abs() + 2.0**-8},
    forms={"cuda": "mixed(x, at, shift, negate, state, moved, next, rows=M, cols=N)"}).written("mixed.cu")
"""Tensors and numbers of every kind, in CUDA C++."""
