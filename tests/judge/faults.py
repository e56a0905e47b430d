"""What faulty kernels write. Each fault gets the inputs, the right answer in the output's dtype, and the output."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from tests.judge.toys import EPS, NORM, ORACLES

Inputs = Mapping[str, Any]


def _random(*shape: int, seed: int = 101) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def writes_nothing(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    pass


def one_program(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.view(-1)[:256] = right.view(-1)[:256]


def only_row_0(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out[0] = right[0]


def every_second_row(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out[::2] = right[::2]


def one_block_of_columns(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out[:, :16] = right[:, :16]


def edges_missing(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    down, across = (size // 16 * 16 for size in out.shape)
    out[:down, :across] = right[:down, :across]


def one_tile(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out[:16, :16] = right[:16, :16]


def last_element_missing(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out[:-1] = right[:-1]


def stride_larger_than_block(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    for start in range(0, out.numel(), 256):
        out[start : start + 64] = right[start : start + 64]


def zeros(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.zero_()


def zero_after_first_block(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.zero_().view(-1)[:512] = right.view(-1)[:512]


def ones(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.fill_(1)


def copies_x(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(inputs["x"].reshape(out.shape))


def rows_and_columns_swapped(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right.t().reshape(out.shape))


def one_element_late(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right.view(-1).roll(1).view(out.shape))


def one_row_early(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right.roll(-1, 0))


def repeats_the_first_block(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.view(-1).copy_(right.view(-1)[torch.arange(out.numel()) % 256])


def mean_over_padded_block(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    x, padded = inputs["x"], 1 << (out.shape[1] - 1).bit_length()
    out.copy_(x / (x.pow(2).sum(-1, keepdim=True) / padded + EPS).sqrt() * inputs["weight"])


def sum_for_mean(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    x = inputs["x"]
    out.copy_(x / (x.pow(2).sum(-1, keepdim=True) + EPS).sqrt() * inputs["weight"])


def mean_of_part_of_the_row(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    x = inputs["x"]
    out.copy_(x / (x[:, :64].pow(2).mean(-1, keepdim=True) + EPS).sqrt() * inputs["weight"])


def weight_forgotten(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right / inputs["weight"])


def weight_twice(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right * inputs["weight"])


def weight_shifted(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right / inputs["weight"] * inputs["weight"].roll(3))


def eps_outside(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(NORM.mistakes[0].answer(**inputs))


def negated(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(-right)


def doubled(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(2 * right)


def far_too_large(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(4096 * (inputs["a"].double() @ inputs["b"].double()))


def first_block_twice(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right).view(-1)[:256] *= 2


def quarter_added(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right + 0.25)


def rounded_to_float16(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right.half())


def rounded_to_bfloat16(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right.bfloat16())


def computed_in_float16(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    oracle = ORACLES["norm" if "weight" in inputs else "silu"]
    out.copy_(oracle(**{**inputs, "x": inputs["x"].half().float()}).half())


def float16_on_the_way(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    oracle = ORACLES["norm" if "weight" in inputs else "silu"]
    out.copy_(oracle(**{**inputs, "x": inputs["x"].half().float()}))


def float16_accumulator(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    a, b = inputs["a"].float(), inputs["b"].float()
    total = torch.zeros_like(out)
    for k in range(0, a.shape[1], 16):
        total = total + (a[:, k : k + 16] @ b[k : k + 16]).half()
    out.copy_(total)


def shuffled(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    order = torch.randperm(out.numel(), generator=torch.Generator().manual_seed(1))
    out.view(-1).copy_(right.view(-1)[order])


def noise(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(_random(*out.shape))


def some_noise(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(torch.where(_random(*out.shape, seed=2) > 1.2, _random(*out.shape), right))


def large_relative_noise(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right * (1 + 0.5 * _random(*out.shape)))


def one_tile_wrong(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right)[16:32, 8:24] += _random(16, 16).to(out.dtype)


def last_columns_wrong(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    start = (out.shape[1] - 1) // 16 * 16
    out.copy_(right)[:, start:] = _random(*out[:, start:].shape).to(out.dtype)


def all_nan(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.fill_(math.nan)


def nan_row(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right)[3] = math.nan


def nan_at_the_end(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    out.copy_(right).view(-1)[-7:] = math.nan


def exp_of_large_x(inputs: Inputs, right: Tensor, out: Tensor) -> None:
    x = inputs["x"]
    out.copy_(x * x.exp() / (1 + x.exp()))
