"""Trivial answers and statistics of assignments whose right answer depends on what was answered, of tensors that are
updated in place, and of strides."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.authoring.answers import right_answers
from grader.authoring.nulls import wrong_answers
from grader.authoring.subject import Subject
from grader.course.assignment import Assignment
from grader.errors import UserError
from grader.kit.author import (
    Baseline,
    Input,
    Inputs,
    Number,
    OneOf,
    Output,
    Scalar,
    Spread,
    Update,
    Whole,
    assignment,
    cases,
    rounding,
)

SIZES = cases("M N", "37x53 64x128")
BASELINES = {
    "dropout": "def eager(x, p, seed, out):\n    torch.manual_seed(seed)\n"
               "    return torch.nn.functional.dropout(x, p)\n",
    "any_largest": "def eager(x, out):\n    return x.argmax(dim=1)\n",
    "add_rows": "def eager(cache, x):\n    cache.add_(x)\n",
    "rolled": "def eager(x, out):\n    out.copy_(x.roll(1, dims=1))\n",
}


def within(inputs: Inputs, expected: Tensor) -> Tensor:
    return 2 * rounding(expected, torch.float32)


def dropped(x: Tensor, p: float, seed: int, out: Tensor) -> Tensor:
    """x / (1 − p), or 0 where that is nearer to what was answered."""
    kept = x.double() / (1 - p)
    return torch.where(out.double().abs() > kept.abs() / 2, kept, 0.0)


def share(inputs: Inputs, answer: Tensor) -> str:
    got, p = float((answer == 0).double().mean()), inputs["p"]
    # Six standard deviations.
    return "" if abs(got - p) < 6 * (p * (1 - p) / answer.numel()) ** 0.5 else f"{got:.0%} were dropped, p is {p:.0%}"


def largest(x: Tensor, out: Tensor) -> Tensor:
    """Where a row is largest: what was answered, if that is right, else the first."""
    at = out.clamp(0, x.shape[1] - 1)
    right = (at == out) & (x.gather(1, at[:, None])[:, 0] == x.amax(dim=1))
    return torch.where(right, out, x.argmax(dim=1))


def made(name: str, **more: Any) -> Assignment:
    x = Input(name="x", shape=("M", "N"))
    of_its_own = {
        "dropout": {"parameters": (x, Scalar(name="p"), Scalar(name="seed", type="int"), Output(shape=("M", "N"))),
                    "oracle": dropped, "statistic": share,
                    "distributions": lambda case: {"x": Spread(), "p": Number(0.1, 0.5), "seed": Whole(0, 2**31)}},
        "any_largest": {"parameters": (x, Output(shape=("M",), dtype="int64")), "oracle": largest, "tolerance": None,
                        "right_by_nature": {"numbers of 8 bits": "there are 128 columns"},
                        "distributions": lambda case: {"x": OneOf((-1.0, 0.5, 1.0, 1.0001))}},
        "add_rows": {"parameters": (Update(name="cache", shape=("M", "N")), x),
                     "oracle": lambda cache, x: cache.double() + x.double(),
                     "distributions": lambda case: {"cache": Spread(), "x": Spread()}},
        "rolled": {"parameters": (x, Output(shape=("M", "N"))), "oracle": lambda x: x.double().roll(1, dims=1),
                   "distributions": lambda case: {"x": Spread()}},
    }[name]
    return assignment(**{"name": name, "title": "", "formula": "", "cases": SIZES, "tolerance": within,
                         "baseline": Baseline(name="", compiled=""), **of_its_own, **more})


@pytest.fixture
def root(course: Path) -> Path:
    for name, text in BASELINES.items():
        folder = course / "assignments" / name
        folder.mkdir(parents=True)
        (folder / "baseline.py").write_text(f"import torch\n\n\n{text}")
    return course


@pytest.mark.parametrize("name", BASELINES)
def test_a_right_one_lacks_nothing(root: Path, name: str) -> None:
    subject = Subject(made(name), root)
    assert [*right_answers(subject), *wrong_answers(subject)] == []


TOLD: dict[str, tuple[str, dict[str, Any], str]] = {
    "no statistic": ("dropout", {"statistic": None},
        "37x53: zeros would pass"),
    "a statistic that refuses all": (
        "dropout", {"statistic": lambda inputs, answer: "No."},
        "37x53: the statistic refuses the oracle's own answer: No."),
    "a statistic without words": (
        "dropout", {"statistic": lambda inputs, answer: True}, "statistic: expected a str, got bool"),
    "an oracle that agrees with all": (
        "dropout", {"oracle": lambda x, p, seed, out: out.double(), "statistic": None},
        "37x53: zeros, ones, the input, the mean, an earlier answer, half precision would pass"),
    "an update that changes little": (
        "add_rows", {"oracle": lambda cache, x: cache.double() + 1e-14 * x.double(), "tolerance": within},
        "37x53: the input, as it was would pass"),
    "strides that need not be followed": (
        "rolled", {"cases": cases("M N", "64x64", strides={"x": (1, "M")}),
                   "oracle": lambda x: x.double().mean().expand(x.shape)},
        "64x64: the mean, x as if contiguous would pass"),
}


@pytest.mark.parametrize("what", TOLD)
def test_what_would_pass_is_said(root: Path, what: str) -> None:
    name, more, words = TOLD[what]
    subject = Subject(made(name, **more), root)
    said = []
    try:
        said += [*wrong_answers(subject), *right_answers(subject)]
    except UserError as error:
        said.append(str(error))
    assert any(words in line for line in said), said


@pytest.mark.parametrize("oracle, value, error", [
    pytest.param(lambda x, out: torch.where(
        x.gather(1, out[:, None])[:, 0] == x.amax(dim=1), out, x.argmax(dim=1)), -(2**63), "RuntimeError: index",
        id="looks where an answer points"),
    pytest.param(lambda x, out: torch.where(out > x.shape[1], out.double() + 2.0**12, x.argmax(dim=1).double()),
                 2**63 - 1, "OracleError: the oracle's answer is out of the range", id="counts on from an answer"),
])
def test_an_oracle_takes_any_answer(root: Path, oracle: Any, value: int, error: str) -> None:
    said = [*right_answers(Subject(made("any_largest", oracle=oracle), root))]
    assert len(said) == 1 and said[0].startswith(
        f"37x53: the oracle is given {value} everywhere in out, as a student may answer, and fails: {error}"), said


def test_strides_are_followed_by_a_right_kernel_alone(root: Path) -> None:
    rolled = made("rolled", cases=cases("M N", "64x64 37x53", strides={"x": (1, "M")}))
    assert [*wrong_answers(Subject(rolled, root))] == []
