"""An assignment of several outputs: an update, and dtypes, numbers and rows of every kind."""

from typing import Any

import torch
from torch import Tensor

from grader.course.assignment import Assignment, Baseline
from grader.course.cases import Case, TimedCase
from grader.course.parameters import Input, Output, Scalar, Update
from grader.kit.author import assignment
from grader.kit.inputs import Spread
from grader.kit.whole import Bools, Distinct, Fixed, Indices, Whole
from tests.rows import beside

TIMED = TimedCase(name="1000x512", sizes={"M": 1000, "N": 512})
SMALL = Case(name="7x5", sizes={"M": 7, "N": 5})

# In parameter order: of state rows are looked at, of out some, of picked all, total and kept are compared whole.
BASELINE: bytes = beside(__file__)["baseline"].encode()


def _oracle(
    x: Tensor, labels: Tensor, order: Tensor, keep: Tensor, state: Tensor, factor: int, negative: bool
) -> tuple[Tensor, ...]:
    return (state.double() + 1, -x.double() if negative else x.double(), labels * factor + order, x.double().sum(0),
            keep)


def _near(inputs: Any, expected: Tensor) -> Tensor:
    return 2.0**-8 * expected.abs() + 2.0**-8


SEVERAL: Assignment = assignment(
    name="several", title="Several", formula="out = ±x, and more",
    parameters=(
        Input(name="x", shape=("M", "N")), Input(name="labels", shape=("M",), dtype="int64"),
        Input(name="order", shape=("M",), dtype="int32"), Input(name="keep", shape=("M", "N"), dtype="bool"),
        Update(name="state", shape=("M", "N // 2 + 1"), dtype="float16"),
        Scalar(name="factor", type="int"), Scalar(name="negative", type="bool"),
        Output(name="out", shape=("M", "N"), dtype="bfloat16"), Output(name="picked", shape=("M",), dtype="int64"),
        Output(name="total", shape=("N",), dtype="float64"), Output(name="kept", shape=("M", "N"), dtype="bool")),
    oracle=_oracle,
    cases=(SMALL,), timed=(TIMED,),
    baseline=Baseline(name="PyTorch", compiled="torch.compile"),
    distributions=lambda case: {
        "x": Spread(), "labels": Indices("N"), "order": Distinct("M"), "keep": Bools(0.25), "state": Spread(),
        "factor": Whole(3, 7), "negative": Fixed(True)},
    tolerance={"state": _near, "out": _near, "total": lambda inputs, expected: torch.full_like(expected, 1e-9)},
    rows={"state": "x labels order keep state", "out": "x labels order keep state",
          "picked": "x labels order keep state"})
