# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Products of matrices are as precise as a GPU's, and take the scales of `tl.dot_scaled`."""

from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.languages.triton.kernels import product_kernel
from tests.languages.triton.simulator.harness import close, poison, right, simulate
from tests.rows import each_row


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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2])
def test_a_product_of_short_floats_is_summed_in_float32(dtype: torch.dtype) -> None:
    a, b = torch.randn(16, 64).to(dtype), torch.randn(64, 16).to(dtype)
    close(dot(a, b), a.float() @ b.float(), rtol=1e-5, atol=1e-5)


def test_a_product_in_steps_stops_at_the_edges() -> None:
    a, b, out = torch.randn(70, 90).half(), torch.randn(90, 50).half(), poison(70, 50, dtype=torch.float16)
    right(simulate(product_kernel, (3, 2), a, b, out, 70, 50, 90, TILE=32, STEP=32))
    close(out, a.float() @ b.float(), rtol=5e-3, atol=5e-3)


@triton.jit
def scaled_kernel(a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr,
                  SCALES: tl.constexpr, PACKED: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
                  ROWS: tl.constexpr, DEEP_A: tl.constexpr, DEEP_B: tl.constexpr, COLUMNS: tl.constexpr):
    m, n, group = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    a = tl.load(a_ptr + tl.arange(0, ROWS)[:, None] * DEEP_A + tl.arange(0, DEEP_A)[None, :])
    b = tl.load(b_ptr + tl.arange(0, DEEP_B)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 32) + group[None, :])
    b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 32) + group[None, :])
    acc = tl.full((M, N), 0.5, tl.float32)
    if SCALES == "both":
        acc = tl.dot_scaled(a, a_scale, A, b, b_scale, B, acc, lhs_k_pack=PACKED, rhs_k_pack=PACKED)
    elif SCALES == "left":
        acc = tl.dot_scaled(a, a_scale, A, b, None, B, acc, lhs_k_pack=PACKED, rhs_k_pack=PACKED)
    else:
        acc = tl.dot_scaled(a, None, A, b, b_scale, B, acc, lhs_k_pack=PACKED, rhs_k_pack=PACKED)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc)


E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
TYPES = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "bf16": torch.bfloat16, "fp16": torch.float16}


def operand(form: str, rows: int, columns: int, packed: int) -> tuple[Tensor, Tensor]:
    """A matrix as a kernel gets it, numbers of e2m1 packed along the dimension `packed`, and as float32."""
    if form != "e2m1":
        matrix = torch.randn(rows, columns).to(TYPES[form])
        return matrix, matrix.float()
    codes = torch.randint(0, 16, (rows, columns), dtype=torch.uint8)
    pairs = codes.unflatten(packed, (-1, 2)).unbind(packed + 1)
    return (pairs[0] | pairs[1] << 4).contiguous(), E2M1[(codes & 7).long()] * (1 - 2 * (codes >> 3).float())


@each_row("scales", ["both", "left", "right"])
@each_row(("a_form", "b_form", "deep"), [
    ("e2m1", "e2m1", True), ("e2m1", "e4m3", True), ("e2m1", "e2m1", False), ("e4m3", "e4m3", True),
    ("bf16", "e2m1", True), ("fp16", "e5m2", True)])
def test_a_product_with_scales(a_form: str, b_form: str, deep: bool, scales: str) -> None:
    m, n, k = 16, 32, 64
    (a, left), (b, right_side) = operand(a_form, m, k, int(deep)), operand(b_form, k, n, int(not deep))
    a_scale, b_scale = (torch.randint(124, 131, (size, k // 32), dtype=torch.uint8) for size in (m, n))
    out = torch.zeros(m, n)
    right(simulate(
        scaled_kernel, (1,), a, b, a_scale, b_scale, out, A=a_form, B=b_form, SCALES=scales, PACKED=deep, M=m, N=n,
        K=k, ROWS=a.shape[0], DEEP_A=a.shape[1], DEEP_B=b.shape[0], COLUMNS=b.shape[1]))
    tensors = [2.0 ** (scale.float() - 127).repeat_interleave(32, 1) for scale in (a_scale, b_scale)]
    left = left * tensors[0] if scales != "right" else left
    right_side = right_side * tensors[1].t() if scales != "left" else right_side
    close(out, left @ right_side + 0.5, rtol=1e-5, atol=1e-4)


def test_a_scale_of_255_is_unknown() -> None:
    (a, _), (b, _) = operand("e4m3", 16, 64, 1), operand("e4m3", 64, 16, 0)
    scale, out = torch.full((16, 2), 127, dtype=torch.uint8), torch.zeros(16, 16)
    other = scale.clone()
    other[3, 1] = 255
    right(simulate(
        scaled_kernel, (1,), a, b, other, scale, out, A="e4m3", B="e4m3", SCALES="both", PACKED=True, M=16, N=16, K=64,
        ROWS=16, DEEP_A=64, DEEP_B=64, COLUMNS=16))
    assert out.isnan().sum(1).tolist() == [16 * (row == 3) for row in range(16)]
