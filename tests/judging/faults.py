"""What faulty kernels write. Each fault gets the inputs, the right answer in the output's dtype, and the output."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from tests.judging.toys import EPS, NORM, ORACLES

Inputs = Mapping[str, Any]


def _random(*shape: int, seed: int = 101) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def writes_nothing(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    pass


def one_program(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.view(-1)[:256] = right.view(-1)[:256]


def zeros(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.zero_()


def zero_after_first_block(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.zero_().view(-1)[:512] = right.view(-1)[:512]


def copies_x(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(inputs["x"].reshape(out.shape))


def one_element_late(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right.view(-1).roll(1).view(out.shape))


def mean_over_padded_block(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    x, padded = inputs["x"], 1 << (out.shape[1] - 1).bit_length()
    out.copy_(x / (x.pow(2).sum(-1, keepdim=True) / padded + EPS).sqrt() * inputs["weight"])


def eps_outside(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(NORM.mistakes[0].answer(**inputs))


def doubled(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(2 * right)


def far_too_large(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(4096 * (inputs["a"].double() @ inputs["b"].double()))


def rounded_to_float16(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right.half())


def computed_in_float16(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    oracle = ORACLES["norm" if "weight" in inputs else "silu"]
    out.copy_(oracle(**{**inputs, "x": inputs["x"].half().float()}).half())


def noise(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(_random(*out.shape))


def some_noise(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(torch.where(_random(*out.shape, seed=2) > 1.2, _random(*out.shape), right))


def large_relative_noise(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right * (1 + 0.5 * _random(*out.shape)))


def all_nan(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.fill_(math.nan)


def nan_row(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right)[3] = math.nan


def exp_of_large_x(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    x = inputs["x"]
    out.copy_(x * x.exp() / (1 + x.exp()))
