# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
# ruff: noqa: E701 - kernels with many cases are read more easily so
"""Operations on whole blocks give what PyTorch gives: reductions, scans, changes of shape, products, loads at edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.frontends.triton.simulator.harness import Described, close, right, simulate


@triton.jit
def reduce_kernel(x_ptr, out_ptr, WHICH: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, K)
    x = tl.load(x_ptr + (tl.program_id(0) * M + i[:, None]) * K + j[None, :])
    if WHICH == "sum": y = tl.sum(x, 1)
    elif WHICH == "max": y = tl.max(x, 1)
    elif WHICH == "min": y = tl.min(x, 1)
    elif WHICH == "argmax": y = tl.argmax(x, 1).to(tl.float32)
    elif WHICH == "argmin": y = tl.argmin(x, 1).to(tl.float32)
    elif WHICH == "softmax": y = tl.sum(tl.softmax(x, 1, keep_dims=True) * j[None, :], 1)
    tl.store(out_ptr + tl.program_id(0) * M + i, y)


REDUCE: dict[str, Callable[..., Tensor]] = {
    "sum": lambda x: x.sum(1), "max": lambda x: x.max(1).values, "min": lambda x: x.min(1).values,
    "argmax": lambda x: x.argmax(1), "argmin": lambda x: x.argmin(1),
    "softmax": lambda x: (torch.softmax(x, 1) * torch.arange(32)).sum(1),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCE)
def test_a_reduction(name: str) -> None:
    x, out = torch.randn(24, 32), torch.empty(24)
    # Equal elements: the first one counts.
    x[:, 7] = x[:, 9] = x.max() + 1
    x[:, 3] = x[:, 20] = x.min() - 1
    right(simulate(reduce_kernel, (3,), x, out, WHICH=name, M=8, K=32))
    close(out, REDUCE[name](x), rtol=1e-5, atol=1e-5)


@triton.jit
def first_wins(a, i, b, j):
    take = (a > b) | ((a == b) & (i < j))
    return tl.where(take, a, b), tl.where(take, i, j)


@triton.jit
def decayed(a, x, b, y):
    return a * b, b * x + y


@triton.jit
def scan_kernel(x_ptr, y_ptr, out_ptr, best_ptr, REVERSE: tl.constexpr, K: tl.constexpr):
    j = tl.program_id(0) * K + tl.arange(0, K)
    x, y = tl.load(x_ptr + j), tl.load(y_ptr + j)
    _, state = tl.associative_scan((x, y), 0, decayed, reverse=REVERSE)
    tl.store(out_ptr + j, state + tl.cumsum(x, 0, reverse=REVERSE))
    value, index = tl.reduce((x, tl.arange(0, K)), 0, first_wins)
    tl.store(best_ptr + tl.program_id(0), index + value)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_that_does_not_commute(reverse: bool) -> None:
    x, y = torch.rand(3, 32), torch.rand(3, 32)
    out, best = torch.empty(3, 32), torch.empty(3)
    right(simulate(scan_kernel, (3,), x, y, out, best, REVERSE=reverse, K=32))
    a, b = (x.flip(1), y.flip(1)) if reverse else (x, y)
    state, states = torch.zeros(3), []
    for k in range(32):
        state = a[:, k] * state + b[:, k]
        states.append(state)
    expected = torch.stack(states, 1) + a.cumsum(1)
    close(out, expected.flip(1) if reverse else expected, rtol=1e-5, atol=1e-5)
    close(best, x.argmax(1) + x.max(1).values)


@triton.jit
def shape_kernel(x_ptr, out_ptr, WHICH: tl.constexpr):
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    x = tl.load(x_ptr + i[:, None] * 16 + j[None, :])
    k = tl.arange(0, 128)
    if WHICH == "trans": y = tl.reshape(tl.trans(x), (128,))
    elif WHICH == "sort": y = tl.reshape(tl.sort(x, 1), (128,))
    elif WHICH == "descending": y = tl.reshape(tl.sort(x, 1, descending=True), (128,))
    elif WHICH == "flip": y = tl.reshape(tl.flip(x, 1), (128,))
    elif WHICH == "gather":
        index = tl.broadcast_to((i[:, None] * 3 + 1) % 16, (8, 16))
        y = tl.reshape(tl.gather(x, index, 1), (128,))
    elif WHICH == "join":
        a, b = tl.split(tl.reshape(x, (64, 2)))
        y = tl.reshape(tl.join(b, a), (128,))
    elif WHICH == "interleave":
        a, b = tl.split(tl.reshape(x, (64, 2)))
        y = tl.interleave(a * 2, b)
    elif WHICH == "permute": y = tl.reshape(tl.permute(tl.reshape(x, (8, 4, 4)), (2, 0, 1)), (128,))
    elif WHICH == "histogram": y = tl.histogram((tl.reshape(tl.abs(x), (128,)) * 8).to(tl.int32), 128).to(tl.float32)
    tl.store(out_ptr + k, y)


SHAPE: dict[str, Callable[..., Tensor]] = {
    "trans": lambda x: x.t(), "sort": lambda x: x.sort(1).values, "flip": lambda x: x.flip(1),
    "descending": lambda x: x.sort(1, descending=True).values,
    "gather": lambda x: x.gather(1, ((torch.arange(8)[:, None] * 3 + 1) % 16).expand(8, 16)),
    "join": lambda x: x.reshape(64, 2).flip(1),
    "interleave": lambda x: x.reshape(64, 2) * torch.tensor([2.0, 1.0]),
    "permute": lambda x: x.reshape(8, 4, 4).permute(2, 0, 1),
    "histogram": lambda x: torch.bincount((x.abs() * 8).int().reshape(-1), minlength=128).float(),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPE)
def test_a_change_of_shape(name: str) -> None:
    x, out = torch.randn(8, 16), torch.empty(128)
    right(simulate(shape_kernel, (1,), x, out, WHICH=name))
    assert torch.equal(out, SHAPE[name](x).reshape(-1))


@triton.jit
def dot_kernel(a_ptr, b_ptr, out_ptr, PRECISION: tl.constexpr, OUT: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    i, k = tl.arange(0, M), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * M + i[None, :])
    tl.store(out_ptr + i[:, None] * M + i[None, :], tl.dot(a, b, input_precision=PRECISION, out_dtype=OUT))


def dot(
    a: Tensor, b: Tensor, precision: str = "ieee", out: Any = tl.float32, dtype: torch.dtype = torch.float32
) -> Tensor:
    result = torch.empty(a.shape[0], b.shape[1], dtype=dtype)
    right(simulate(dot_kernel, (1,), a, b, result, PRECISION=precision, OUT=out, M=a.shape[0], K=a.shape[1]))
    return result


def test_a_product_is_as_precise_as_it_was_asked_to_be() -> None:
    a, b = torch.randn(16, 128), torch.randn(128, 16)
    exact = a.double() @ b.double()
    single, tf32 = (float((dot(a, b, each).double() - exact).abs().max()) for each in ("ieee", "tf32"))
    assert single < 1e-4 < 1e-3 < tf32 < 0.1


def test_a_half_accumulator_rounds_more_than_one_of_float32() -> None:
    a, b = torch.rand(16, 1024).half(), torch.rand(1024, 16).half()
    exact = a.double() @ b.double()
    single = float((dot(a, b).double() - exact).abs().max())
    half = float((dot(a, b, out=tl.float16, dtype=torch.float16).double() - exact).abs().max())
    assert single < 0.01 < 0.2 < half


def test_a_product_of_integers_is_exact() -> None:
    a, b = torch.randint(-128, 128, (16, 64)).to(torch.int8), torch.randint(-128, 128, (64, 16)).to(torch.int8)
    assert torch.equal(dot(a, b, out=tl.int32, dtype=torch.int32), (a.int() @ b.int()))


@triton.jit
def block_kernel(x_ptr, out_ptr, M, K, B: tl.constexpr):
    row = tl.program_id(0) * B
    source = tl.make_block_ptr(x_ptr, (M, K), (K, 1), (row, 0), (B, B), (1, 0))
    target = tl.make_block_ptr(out_ptr, (M, K), (K, 1), (row, 0), (B, B), (1, 0))
    for _ in range(0, K, B):
        x = tl.load(source, boundary_check=(0, 1), padding_option="zero")
        tl.store(target, x + tl.sum(x, 1)[:, None], boundary_check=(0, 1))
        source = tl.advance(source, (0, B))
        target = tl.advance(target, (0, B))


@triton.jit
def made_kernel(x_ptr, out_ptr, M, K, B: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [M, K], [K, 1], [B, B])
    target = tl.make_tensor_descriptor(out_ptr, [M, K], [K, 1], [B, B])
    for column in range(0, K, B):
        x = source.load([tl.program_id(0) * B, column])
        target.store([tl.program_id(0) * B, column], x + tl.sum(x, 1)[:, None])


@triton.jit
def given_kernel(source, target, M, K, B: tl.constexpr):
    for column in range(0, K, B):
        x = source.load([tl.program_id(0) * B, column])
        target.store([tl.program_id(0) * B, column], x + tl.sum(x, 1)[:, None])


@pytest.mark.parametrize("kernel", [block_kernel, made_kernel, given_kernel])
@pytest.mark.parametrize(("m", "k"), [(16, 16), (33, 44), (7, 20)])
def test_blocks_by_pointer_and_descriptor_stop_at_the_edges(kernel: Any, m: int, k: int) -> None:
    x, out = torch.randn(m, k), torch.empty(m, k)
    tensors: list[Any] = [x, out]
    if kernel is given_kernel:
        tensors = [Described(x, [16, 16]), Described(out, [16, 16])]
    right(simulate(kernel, (triton.cdiv(m, 16),), *tensors, m, k, B=16))
    expected = torch.cat([part + part.sum(1, keepdim=True) for part in x.split(16, 1)], 1)
    close(out, expected)
