# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
# ruff: noqa: E701 - kernels with many cases are read more easily so
"""Each family of operations against PyTorch, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra import libdevice

from grader.plan.messages import Simulated
from tests.simulator.harness import Described, simulate

N = 64


def right(result: Any) -> None:
    assert isinstance(result, Simulated), result
    assert not result.findings, result.findings


def close(got: Tensor, expected: Tensor, rtol: float | None = None, atol: float | None = None) -> None:
    torch.testing.assert_close(got, expected.to(got.dtype), rtol=rtol, atol=atol, equal_nan=True)


@triton.jit
def unary_kernel(x_ptr, out_ptr, WHICH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if WHICH == "exp": y = tl.exp(x)
    elif WHICH == "exp2": y = tl.exp2(x)
    elif WHICH == "log": y = tl.log(x)
    elif WHICH == "log2": y = tl.log2(x)
    elif WHICH == "sqrt": y = tl.sqrt(x)
    elif WHICH == "sqrt_rn": y = tl.sqrt_rn(x)
    elif WHICH == "rsqrt": y = tl.rsqrt(x)
    elif WHICH == "sin": y = tl.sin(x)
    elif WHICH == "cos": y = tl.cos(x)
    elif WHICH == "erf": y = tl.erf(x)
    elif WHICH == "abs": y = tl.abs(x)
    elif WHICH == "floor": y = tl.floor(x)
    elif WHICH == "ceil": y = tl.ceil(x)
    elif WHICH == "sigmoid": y = tl.sigmoid(x)
    elif WHICH == "neg": y = -x
    elif WHICH == "asin": y = libdevice.asin(x)
    elif WHICH == "tanh": y = libdevice.tanh(x)
    elif WHICH == "lgamma": y = libdevice.lgamma(x)
    elif WHICH == "tgamma": y = libdevice.tgamma(x)
    elif WHICH == "erfinv": y = libdevice.erfinv(x)
    elif WHICH == "round": y = libdevice.round(x)
    elif WHICH == "rint": y = libdevice.rint(x)
    elif WHICH == "trunc": y = libdevice.trunc(x)
    elif WHICH == "cbrt": y = libdevice.cbrt(x)
    elif WHICH == "expm1": y = libdevice.expm1(x)
    elif WHICH == "log1p": y = libdevice.log1p(x)
    tl.store(out_ptr + offsets, y)


UNARY: dict[str, Callable[..., Tensor]] = {
    "exp": torch.exp, "exp2": torch.exp2, "log": torch.log, "log2": torch.log2, "sqrt": torch.sqrt,
    "sqrt_rn": torch.sqrt, "rsqrt": torch.rsqrt, "sin": torch.sin, "cos": torch.cos, "erf": torch.erf,
    "abs": torch.abs, "floor": torch.floor, "ceil": torch.ceil, "sigmoid": torch.sigmoid, "neg": torch.neg,
    "asin": torch.asin, "tanh": torch.tanh, "lgamma": torch.lgamma,
    "tgamma": lambda x: torch.exp(torch.lgamma(x)) * torch.where((x < 0) & (x.floor() % 2 == 1), -1.0, 1.0),
    "erfinv": torch.erfinv, "round": lambda x: torch.trunc(x + torch.sign(x) / 2), "rint": torch.round,
    "trunc": torch.trunc, "cbrt": lambda x: torch.sign(x) * x.abs() ** (1 / 3), "expm1": torch.expm1,
    "log1p": torch.log1p,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_function_of_one_element(name: str, dtype: torch.dtype) -> None:
    if name == "sqrt_rn" and dtype == torch.float64:
        pytest.skip("Triton has it for float32 alone")
    x = (torch.randn(256, dtype=dtype) * 3).clamp(-20, 20)
    x[:4] = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0])
    out = torch.empty_like(x)
    right(simulate(unary_kernel, (4,), x, out, WHICH=name, BLOCK=N))
    close(out, UNARY[name](x), rtol=2e-6, atol=2e-6)


@triton.jit
def float_kernel(x_ptr, y_ptr, out_ptr, WHICH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    if WHICH == "add": z = x + y
    elif WHICH == "sub": z = x - y
    elif WHICH == "mul": z = x * y
    elif WHICH == "div": z = x / y
    elif WHICH == "mod": z = x % y
    elif WHICH == "maximum": z = tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)
    elif WHICH == "maxnum": z = tl.maximum(x, y)
    elif WHICH == "minimum": z = tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)
    elif WHICH == "minnum": z = tl.minimum(x, y)
    elif WHICH == "where": z = tl.where(x < y, x, y)
    elif WHICH == "le": z = (x <= y).to(x.dtype)
    elif WHICH == "ne": z = (x != y).to(x.dtype)
    elif WHICH == "fma": z = tl.fma(x, y, x)
    elif WHICH == "clamp": z = tl.clamp(x, -1.0, 1.0)
    tl.store(out_ptr + offsets, z)


FLOAT: dict[str, Callable[..., Tensor]] = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "mod": torch.fmod,
    "maximum": torch.maximum, "maxnum": torch.fmax, "minimum": torch.minimum, "minnum": torch.fmin,
    "where": lambda x, y: torch.where(x < y, x, y), "le": lambda x, y: (x <= y).to(x.dtype),
    "ne": lambda x, y: (x != y).to(x.dtype), "fma": lambda x, y: x.double() * y + x,
    "clamp": lambda x, y: torch.fmin(torch.fmax(x, torch.tensor(-1.0).to(x)), torch.tensor(1.0).to(x)),
}  # fmt: skip


@pytest.mark.parametrize("name", FLOAT)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_function_of_two_floats(name: str, dtype: torch.dtype) -> None:
    x, y = torch.randn(256).to(dtype), torch.randn(256).to(dtype)
    x[:5] = torch.tensor([float("nan"), 1.0, float("nan"), float("inf"), -0.0])
    y[:5] = torch.tensor([1.0, float("nan"), float("nan"), float("inf"), 0.0])
    out = torch.empty_like(x)
    right(simulate(float_kernel, (4,), x, y, out, WHICH=name, BLOCK=N))
    expected = FLOAT[name](x.float(), y.float()).to(dtype)
    # One rounding more or less: PyTorch's own clamp and fma do not say which they make.
    close(out, expected, rtol=2 * torch.finfo(dtype).eps if name in ("fma", "div", "mod") else 0, atol=0)


@triton.jit
def integer_kernel(x_ptr, y_ptr, out_ptr, WHICH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    if WHICH == "add": z = x + y
    elif WHICH == "mul": z = x * y
    elif WHICH == "div": z = x // y
    elif WHICH == "rem": z = x % y
    elif WHICH == "and": z = x & y
    elif WHICH == "or": z = x | y
    elif WHICH == "xor": z = x ^ y
    elif WHICH == "shl": z = x << (y & 7)
    elif WHICH == "shr": z = x >> (y & 7)
    elif WHICH == "max": z = tl.maximum(x, y)
    elif WHICH == "less": z = (x < y).to(x.dtype)
    tl.store(out_ptr + offsets, z)


INTEGER: dict[str, Callable[..., Tensor]] = {
    "add": lambda x, y: x + y, "mul": lambda x, y: x * y,
    "div": lambda x, y: torch.div(x, y, rounding_mode="trunc"), "rem": torch.fmod,
    "and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y,
    "shl": lambda x, y: x << (y & 7), "shr": lambda x, y: x >> (y & 7), "max": torch.maximum,
    "less": lambda x, y: (x < y).to(x.dtype),
}  # fmt: skip


@pytest.mark.parametrize("name", INTEGER)
@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64, torch.uint8])
def test_a_function_of_two_integers_wraps_and_divides_as_c_does(name: str, dtype: torch.dtype) -> None:
    limits = torch.iinfo(dtype)
    x = torch.randint(max(limits.min, -(2**62)), min(limits.max, 2**62), (256,)).to(dtype)
    y = torch.randint(max(limits.min, -100), 100, (256,)).to(dtype)
    y[y == 0] = 3
    out = torch.empty_like(x)
    right(simulate(integer_kernel, (4,), x, y, out, debug=False, WHICH=name, BLOCK=N))
    assert torch.equal(out, INTEGER[name](x, y))


@triton.jit
def cast_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets).to(out_ptr.dtype.element_ty))


FLOATS = [torch.float32, torch.float16, torch.bfloat16, torch.float64]


@pytest.mark.parametrize("source", [*FLOATS, torch.int32, torch.int8, torch.uint8, torch.int64])
@pytest.mark.parametrize("target", [*FLOATS, torch.int32, torch.int64, torch.float8_e5m2, torch.float8_e4m3fn])
def test_a_cast(source: torch.dtype, target: torch.dtype) -> None:
    x = (torch.randn(N) * 20).to(source) if source.is_floating_point else torch.randint(0, 100, (N,)).to(source)
    out = torch.empty(N, dtype=torch.float32).to(target)
    if target.itemsize == 1 and not source.is_floating_point:
        pytest.skip("Triton has no such cast")
    right(simulate(cast_kernel, (1,), x, out, BLOCK=N))
    assert torch.equal(out.float(), x.to(target).float())


@triton.jit
def bits_kernel(x_ptr, out_ptr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, (x.to(KIND, bitcast=True) ^ 1).to(x.dtype, bitcast=True))


@pytest.mark.parametrize(("dtype", "kind", "integer"), [
    (torch.float32, tl.int32, torch.int32), (torch.float16, tl.int16, torch.int16),
    (torch.bfloat16, tl.int16, torch.int16), (torch.float64, tl.int64, torch.int64)])  # fmt: skip
def test_a_bitcast(dtype: torch.dtype, kind: Any, integer: torch.dtype) -> None:
    x, out = torch.randn(N).to(dtype), torch.empty(N, dtype=dtype)
    right(simulate(bits_kernel, (1,), x, out, KIND=kind, BLOCK=N))
    assert torch.equal(out.view(integer), x.view(integer) ^ 1)


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


@triton.jit(noinline=True)
def scaled(a, b):
    if a > 3:
        return a * b
    return a + b


@triton.jit
def clipped(x, n):
    if n > 3:
        return x + 1.0
    return x * 2.0


@triton.jit
def control_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + pid * BLOCK + offsets)
    x = clipped(x, pid)
    count = 0
    left = pid * 7 + 1
    while left > 1:
        left = left // 2
        count += 1
    for step in range(pid % 3):
        if step == 1:
            x += pid
        else:
            x -= step + 1
    tl.store(out_ptr + pid * BLOCK + offsets, x + count * 100 + scaled(pid, n))


def test_programs_that_part_and_meet_again() -> None:
    programs = 9
    x, out = torch.randn(programs, N), torch.empty(programs, N)
    right(simulate(control_kernel, (programs,), x, out, 5, BLOCK=N))
    rows = []
    for pid in range(programs):
        row = x[pid] + 1 if pid > 3 else x[pid] * 2
        for step in range(pid % 3):
            row = row + pid if step == 1 else row - (step + 1)
        rows.append(row + (pid * 7 + 1).bit_length() * 100 - 100 + (pid * 5 if pid > 3 else pid + 5))
    close(out, torch.stack(rows))


@triton.jit
def three_kernel(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    at = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    tl.store(out_ptr + at, x + 10 * y + 100 * z)


def test_a_grid_of_three_axes() -> None:
    out = torch.empty(4, 3, 5, dtype=torch.int32)
    right(simulate(three_kernel, (5, 3, 4), out))
    expected = torch.arange(5) + 10 * torch.arange(3)[:, None] + 100 * torch.arange(4)[:, None, None]
    assert torch.equal(out, expected.int())


@triton.jit
def random_kernel(out_ptr, seed, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.rand(seed, offsets))


def test_random_numbers_are_tritons_own() -> None:
    out = torch.empty(1024)
    right(simulate(random_kernel, (1,), out, 7, BLOCK=1024))
    assert 0.45 < out.mean() < 0.55
    assert out.unique().numel() > 1000
    # Philox 4x32 with ten rounds, of key 7 and counter 0: the first of what Triton's documentation calls `randint4x`.
    counter, key = [0, 0, 0, 0], [7, 0]
    for _ in range(10):
        high = [counter[0] * 0xD2511F53 >> 32, counter[2] * 0xCD9E8D57 >> 32]
        low = [counter[0] * 0xD2511F53 % 2**32, counter[2] * 0xCD9E8D57 % 2**32]
        counter = [high[1] ^ counter[1] ^ key[0], low[1], high[0] ^ counter[3] ^ key[1], low[0]]
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    signed = counter[0] - 2**32 if counter[0] >= 2**31 else counter[0]
    assert float(out[0]) == pytest.approx((-signed - 1 if signed < 0 else signed) * 4.6566127342e-10)
