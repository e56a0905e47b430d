# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
# ruff: noqa: E701 - kernels with many cases are read more easily so
"""Operations on single elements give what PyTorch gives: functions of one and two, bits, random numbers."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import libdevice

from tests.languages.triton.simulator.harness import close, right, simulate

N = 64


@triton.jit
def unary_kernel(x_ptr, out_ptr, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, FUNCTION(tl.load(x_ptr + offsets)))


UNARY: dict[str, Callable[..., Tensor]] = {
    "exp": torch.exp, "exp2": torch.exp2, "log": torch.log, "log2": torch.log2, "sqrt": torch.sqrt,
    "sqrt_rn": torch.sqrt, "rsqrt": torch.rsqrt, "sin": torch.sin, "cos": torch.cos, "erf": torch.erf,
    "abs": torch.abs, "floor": torch.floor, "ceil": torch.ceil, "sigmoid": torch.sigmoid,
    "asin": torch.asin, "erfinv": torch.erfinv,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_function_of_one_element(name: str, dtype: torch.dtype) -> None:
    if name == "sqrt_rn" and dtype == torch.float64:
        pytest.skip("Triton has it for float32 alone")
    x = (torch.randn(256, dtype=dtype) * 3).clamp(-20, 20)
    x[:4] = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0])
    out = torch.empty_like(x)
    function = getattr(tl, name, None) or getattr(libdevice, name)
    right(simulate(unary_kernel, (4,), x, out, FUNCTION=function, BLOCK=N))
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
    elif WHICH == "neg": z = -x
    tl.store(out_ptr + offsets, z)


FLOAT: dict[str, Callable[..., Tensor]] = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "mod": torch.fmod,
    "maximum": torch.maximum, "maxnum": torch.fmax, "minimum": torch.minimum, "minnum": torch.fmin,
    "where": lambda x, y: torch.where(x < y, x, y), "le": lambda x, y: (x <= y).to(x.dtype),
    "ne": lambda x, y: (x != y).to(x.dtype), "neg": lambda x, y: -x, "fma": lambda x, y: x.double() * y + x,
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
