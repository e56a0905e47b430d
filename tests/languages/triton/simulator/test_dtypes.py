# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Every dtype of a given tensor: loads, stores, casts, reductions, comparisons, atomics, descriptors, and what is told
of memory that nobody wrote."""

from fractions import Fraction
from math import floor, inf, isinf, isnan, log2, nan
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.compiler import CompilationError

from grader.languages.triton.confined.simulator.main import run
from grader.plan.findings import UnwrittenAccess
from grader.plan.messages import Simulated
from tests.languages.triton.simulator.harness import HostDescriptor, planned, right, simulate
from tests.rows import each_row

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]
DTYPES = [*FLOATS, *INTEGERS]
BYTES = FLOATS[-2:]
# Bits of the mantissa, the exponent of the smallest normal number, the largest number.
FORMS = {
    torch.float64: (52, -1022, Fraction(2) ** 1024 - Fraction(2) ** 971),
    torch.float32: (23, -126, Fraction(2**128 - 2**104)), torch.float16: (10, -14, Fraction(65504)),
    torch.bfloat16: (7, -126, Fraction(2**128 - 2**120)), torch.float8_e4m3fn: (3, -6, Fraction(448)),
    torch.float8_e5m2: (2, -14, Fraction(57344)),
}  # fmt: skip

NAMES = {dtype: str(dtype)[6:] for dtype in DTYPES}
by_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.values())


def numbers(dtype: torch.dtype, count: int = 64) -> Tensor:
    """Numbers of a type: its ends, zeros, what rounds or overflows in other types, and random ones."""
    if dtype == torch.bool:
        return torch.arange(count) % 3 == 0
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        whole = [info.min, info.max, info.max - 1, 0, 1, *(each for each in (
            127, 128, 255, 256, 2**15, 2**16 + 129, 2**24 + 2**16 + 1, 2**53 + 2**45 + 1, 2**60 + 2**52 + 1, -129)
            if info.min <= each <= info.max)]
        spread = torch.randint(info.min // 2, info.max // 2, (count - len(whole),))
        return torch.cat([torch.tensor(whole), spread]).to(dtype)
    edges = [nan, inf, -inf, 0.0, -0.0, 1.0625, 1.1875, 0.4375, 2.0**-9, 2.0**-10, 3 * 2.0**-11, 447.0, 448.0, 464.0,
             464.5, -500.0, 57344.0, 61440.0, 65504.0, 65519.0, 65520.0, 1e38, -3.4e38, 1.0 + 2.0**-8 + 2.0**-30,
             1.0 + 2.0**-9, 255.5, 256.5, -0.75, -129.0, 3e4, 4e9, -9e18, 1e19]  # fmt: skip
    spread = torch.randn(count - len(edges)) * 10.0 ** torch.randint(-3, 4, (count - len(edges),))
    return torch.cat([torch.tensor(edges, dtype=torch.float64), spread.double()]).to(dtype)


def rounded(value: float, dtype: torch.dtype, toward_zero: bool = False) -> float:
    """A number as a GPU rounds it to a type, once."""
    mantissa, least, largest = FORMS[dtype]
    saturates = dtype in BYTES and not toward_zero
    if value == 0 or isnan(value) or isinf(value):
        return float(largest) * (1 if value > 0 else -1) if isinf(value) and saturates else value
    exact = abs(Fraction(value))
    exponent = max(least, floor(log2(exact)) if exact < 2**1000 else 1000)
    exponent += (exact >= Fraction(2) ** (exponent + 1)) - (exponent > least and exact < Fraction(2) ** exponent)
    unit = Fraction(2) ** (exponent - mantissa)
    result = (floor(exact / unit) if toward_zero else round(exact / unit)) * unit
    if result > largest:
        result = largest if saturates or toward_zero else inf  # type: ignore[assignment]
    return float(result) * (-1 if value < 0 else 1)


def converted(x: Tensor, dtype: torch.dtype) -> Tensor:
    """The elements as a GPU converts them."""
    if x.dtype == dtype:
        return x
    if dtype == torch.bool:
        return x.double() != 0 if x.dtype != torch.int64 else x != 0
    if dtype.is_floating_point:
        return torch.tensor([rounded(float(each) if x.dtype == torch.bool else each, dtype) for each in x.tolist()],
                            dtype=torch.float64).to(dtype)
    if not x.dtype.is_floating_point:
        return x.to(dtype)
    # `cvt` saturates to 16 bits at least.
    info = torch.iinfo(torch.uint16 if dtype == torch.uint8 else torch.int16 if dtype.itemsize < 2 else dtype)
    unknown = info.min if torch.float64 == x.dtype or dtype == torch.int64 else 0
    whole = [unknown if isnan(each) else max(info.min, min(info.max, each if isinf(each) else int(each)))
             for each in x.tolist()]
    return torch.tensor([int(each) for each in whole], dtype=torch.int64).to(dtype)


def same(got: Tensor, expected: Tensor) -> None:
    assert got.dtype == expected.dtype
    if got.dtype.is_floating_point:
        torch.testing.assert_close(got.double(), expected.double(), rtol=0, atol=0, equal_nan=True)
    else:
        assert torch.equal(got, expected)


@triton.jit
def cast_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets).to(out_ptr.dtype.element_ty))


@by_dtype
def test_a_cast_to_every_dtype(dtype: torch.dtype) -> None:
    x = numbers(dtype)
    for target in DTYPES:
        out = torch.zeros(64, dtype=target)
        if (target in BYTES and dtype in INTEGERS) or (dtype in BYTES and target in INTEGERS):
            # Triton has no such cast.
            with pytest.raises(CompilationError):
                simulate(cast_kernel, (1,), x, out, BLOCK=64)
            continue
        right(simulate(cast_kernel, (1,), x, out, BLOCK=64))
        same(out, converted(x, target))


@triton.jit
def toward_zero_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x.to(out_ptr.dtype.element_ty, fp_downcast_rounding="rtz"))


@pytest.mark.parametrize("target", FLOATS[2:], ids=str)
def test_a_cast_that_rounds_toward_zero(target: torch.dtype) -> None:
    x, out = numbers(torch.float32), torch.zeros(64, dtype=target)
    right(simulate(toward_zero_kernel, (1,), x, out, BLOCK=64))
    same(out, torch.tensor([rounded(each, target, True) for each in x.tolist()], dtype=torch.float64).to(target))


@triton.jit
def masked_kernel(x_ptr, out_ptr, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=inside, other=OTHER), mask=offsets < n + 4)


# Triton casts no number to the types of one byte.
@each_row(("dtype", "other"), [(dtype, other) for dtype in DTYPES for other in (None, 1)
                                              if dtype not in BYTES or other is None])
def test_a_masked_load_and_store(dtype: torch.dtype, other: int | None) -> None:
    x, out = numbers(dtype), torch.zeros(72, dtype=dtype)
    right(simulate(masked_kernel, (2,), x, out, 50, OTHER=other, BLOCK=32))
    same(out[:54].double(), torch.cat([x[:50].double(), torch.full((4,), other or 0, dtype=torch.float64)]))
    assert not out[54:].view(torch.uint8).any()


@triton.jit
def reduce_kernel(x_ptr, out_ptr, FUNCTION: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    tl.store(out_ptr + i, FUNCTION(x, 1).to(out_ptr.dtype.element_ty))


@triton.jit
def highest_sum(x, axis: tl.constexpr):
    return tl.max(tl.cumsum(x, axis), axis)


@triton.jit
def fourth(x, axis: tl.constexpr):
    return tl.sum(tl.sort(x, axis) * (tl.arange(0, 16)[None, :] == 3).to(x.dtype), axis)


def _bitwise(function: Any) -> Any:
    def reduce(x: Tensor) -> Tensor:
        total = x[:, 0]
        for column in x.unbind(1)[1:]:
            total = function(total, column)
        return total

    return reduce


REDUCE: dict[str, tuple[Any, Any]] = {
    "sum": (tl.sum, lambda x: x.sum(1)), "max": (tl.max, lambda x: x.max(1).values),
    "min": (tl.min, lambda x: x.min(1).values), "argmax": (tl.argmax, lambda x: x.max(1).indices),
    "argmin": (tl.argmin, lambda x: x.min(1).indices), "cumsum": (highest_sum, lambda x: x.cumsum(1).max(1).values),
    "sort": (fourth, lambda x: x.sort(1).values[:, 3]), "xor": (tl.xor_sum, _bitwise(torch.bitwise_xor)),
    "or": (tl.reduce_or, _bitwise(torch.bitwise_or)),
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "which"), [
    (dtype, name) for dtype in DTYPES if dtype not in BYTES for name in REDUCE
    if dtype in INTEGERS or name not in ("xor", "or")])
def test_a_reduction(dtype: torch.dtype, which: str) -> None:
    x = torch.stack([torch.randperm(16) for _ in range(8)]) - (0 if dtype in (torch.uint8, torch.bool) else 9)
    # Equal elements: the first one counts.
    x = x % 2 == 0 if dtype == torch.bool else x.to(dtype)
    out, (function, right_one) = torch.zeros(8, dtype=torch.int64), REDUCE[which]
    right(simulate(reduce_kernel, (1,), x, out, FUNCTION=function, M=8, N=16))
    exact = x if which in ("xor", "or") else x.long()
    if dtype == torch.bool and which in ("argmax", "argmin"):
        exact = x.int()
    same(out, right_one(exact).long())


@triton.jit
def compare_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, x < y)
    tl.store(out_ptr + BLOCK + i, x <= y)
    tl.store(out_ptr + 2 * BLOCK + i, x == y)
    tl.store(out_ptr + 3 * BLOCK + i, x != y)
    tl.store(out_ptr + 4 * BLOCK + i, tl.where(x > y, x, y) == x)


@by_dtype
def test_a_comparison(dtype: torch.dtype) -> None:
    x = numbers(dtype)
    y = x.view(torch.uint8).view(64, -1).roll(1, 0).clone().view(dtype).view(64)
    y.view(torch.uint8).view(64, -1)[:8] = x.view(torch.uint8).view(64, -1)[:8]
    out = torch.zeros(5, 64, dtype=torch.bool)
    right(simulate(compare_kernel, (1,), x, y, out, BLOCK=64))
    a, b = (tensor if tensor.dtype == torch.int64 else tensor.double() for tensor in (x, y))
    assert torch.equal(out, torch.stack([a < b, a <= b, a == b, a != b, torch.where(a > b, a, b) == a]))


@triton.jit
def atomic_kernel(x_ptr, out_ptr, WHICH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, target = tl.load(x_ptr + i), out_ptr + i % 8
    if WHICH == "add":
        tl.atomic_add(target, x)
    elif WHICH == "max":
        tl.atomic_max(target, x, mask=i < 30)
    elif WHICH == "min":
        tl.atomic_min(target, x, mask=i < 30, sem="relaxed")
    elif WHICH == "and":
        tl.atomic_and(target, x)
    elif WHICH == "or":
        tl.atomic_or(target, x)
    elif WHICH == "xor":
        tl.atomic_xor(target, x)
    elif WHICH == "xchg":
        tl.atomic_xchg(target, x, mask=i < 8)
    elif WHICH == "cas":
        tl.atomic_cas(out_ptr + i, x, x + 1)


ATOMIC: dict[str, tuple[list[torch.dtype], Any]] = {
    "add": ([*FLOATS[:4], *INTEGERS[:2]], lambda x, out: out + x.view(4, 8).sum(0).to(x)),
    "max": ([*FLOATS[:2], *INTEGERS[:2]], lambda x, out: torch.maximum(out, _first(x, -99).max(0).values)),
    "min": ([*FLOATS[:2], *INTEGERS[:2]], lambda x, out: torch.minimum(out, _first(x, 99).min(0).values)),
    "and": (INTEGERS[:2], lambda x, out: out & _bitwise(torch.bitwise_and)(x.view(4, 8).t())),
    "or": (INTEGERS[:2], lambda x, out: out | _bitwise(torch.bitwise_or)(x.view(4, 8).t())),
    "xor": (INTEGERS[:2], lambda x, out: out ^ _bitwise(torch.bitwise_xor)(x.view(4, 8).t())),
    "xchg": ([*FLOATS[:2], *INTEGERS[:2]], lambda x, out: x[:8]),
    "cas": ([*FLOATS[:2], *INTEGERS[:2]], lambda x, out: torch.where(out == x[:8], x[:8] + 1, out)),
}  # fmt: skip


def _first(x: Tensor, other: int) -> Tensor:
    """The 30 elements that the mask leaves on, as rows."""
    return torch.where(torch.arange(32) < 30, x, torch.tensor(other, dtype=x.dtype)).view(4, 8)


@each_row(("which", "dtype"), [(name, dtype) for name, (types, _) in ATOMIC.items() for dtype in types])
def test_an_atomic(which: str, dtype: torch.dtype) -> None:
    x = (torch.randperm(32) - 16).to(dtype)
    out = torch.arange(-4, 4).to(dtype)
    expected = ATOMIC[which][1](x, out.clone())
    out = torch.cat([out, torch.full((24,), 77).to(dtype)])
    programs = {"cas": 1, "xchg": 1}.get(which, 4)
    right(simulate(atomic_kernel, (programs,), x, out, WHICH=which, BLOCK=32 // programs))
    same(out[:8], expected)


@triton.jit
def described_kernel(source, target, N: tl.constexpr):
    for column in range(0, 64, N):
        target.store([0, column], source.load([2, column]))


# Triton has no descriptor of bools.
@each_row("dtype", DTYPES[:-1], ids=str)
def test_a_descriptor(dtype: torch.dtype) -> None:
    x, out = numbers(dtype, 320).view(5, 64), torch.zeros(4, 64, dtype=dtype)
    right(simulate(described_kernel, (1,), HostDescriptor(x, [4, 32]), HostDescriptor(out, [4, 32]), N=32))
    same(out[:3], x[2:])
    assert not out[3:].view(torch.uint8).any()


@by_dtype
def test_a_read_of_what_nobody_wrote_is_seen_whatever_its_bits(dtype: torch.dtype) -> None:
    x, out = torch.zeros(64, dtype=dtype), torch.zeros(64, dtype=dtype)
    plan, memories = planned(cast_kernel, (1,), x, out, BLOCK=64)
    found = run(plan, memories, outputs=["x_ptr"])
    assert isinstance(found, Simulated)
    assert [(one.given, one.lanes) for one in found.findings if isinstance(one, UnwrittenAccess)] == [("x_ptr", 64)]


@triton.jit
def print_kernel(x_ptr):
    tl.device_print("x", tl.load(x_ptr))


@each_row(("dtype", "value", "shown"), [
    (torch.float64, 1 / 3, "0.3333333333333333"), (torch.float32, 0.1, "0.1"), (torch.float16, 0.1, "0.1"),
    (torch.bfloat16, 0.1, "0.100097656"), (torch.float8_e4m3fn, 0.1, "0.1015625"), (torch.float8_e5m2, 0.1, "0.09375"),
    (torch.int64, -(2**62), f"{-(2**62)}"), (torch.int8, -3, "-3"), (torch.uint8, 253, "253"), (torch.bool, 1, "True"),
])
def test_what_a_kernel_prints(dtype: torch.dtype, value: float, shown: str) -> None:
    found = simulate(print_kernel, (1,), torch.full((1,), value, dtype=torch.float64).to(dtype))
    assert isinstance(found, Simulated)
    assert found.printed == f"pid (0, 0, 0) x: {shown}\n"
