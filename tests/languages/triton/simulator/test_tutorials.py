# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Kernels of the kinds that Triton's tutorials teach, against PyTorch."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from grader.plan.messages import Simulated
from tests.languages.triton.simulator.harness import poison, right, simulate


@triton.jit
def softmax_kernel(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=2):
        lanes = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + lanes, mask=lanes < cols, other=-float("inf"))
        top = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * cols + lanes, top / tl.sum(top, axis=0), mask=lanes < cols)


def test_a_softmax_of_persistent_programs() -> None:
    x, out = torch.randn(37, 50), poison(37, 50)
    result = simulate(softmax_kernel, (8,), x, out, 37, 50, BLOCK=64)
    assert isinstance(result, Simulated)
    right(result)
    torch.testing.assert_close(out, torch.softmax(x, 1))


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(tl.rand(seed, offsets) > p, x / (1 - p), 0.0), mask=mask)


def test_a_dropout_of_random_numbers_by_seed() -> None:
    x = torch.rand(5000) + 1
    first, again, other = poison(5000), poison(5000), poison(5000)
    for out, seed in ((first, 123), (again, 123), (other, 512)):
        result = simulate(dropout_kernel, (5,), x, out, 5000, 0.25, seed, BLOCK=1024)
        assert isinstance(result, Simulated)
        # Philox multiplies on purpose past the range of its integers; so do hashes.
        assert all(each.kind == "overflow" for each in result.findings)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    kept = first != 0
    torch.testing.assert_close(first[kept], x[kept] / 0.75)
    assert 0.7 < kept.float().mean() < 0.8


@triton.jit
def backward_kernel(dy_ptr, x_ptr, dw_ptr, lock_ptr, cols, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    """A row's share of a weight's gradient, added to the one of its group, under the group's lock."""
    row, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    mask = lanes < cols
    x = tl.load(x_ptr + row * cols + lanes, mask=mask, other=0)
    share = tl.load(dy_ptr + row * cols + lanes, mask=mask, other=0) * x
    group = row % GROUPS
    lock, count = lock_ptr + group, lock_ptr + GROUPS + group
    dw = dw_ptr + group * cols + lanes
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        share += tl.load(dw, mask=mask)
    tl.store(dw, share, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def test_a_gradient_that_is_summed_under_locks() -> None:
    dy, x, dw = torch.randn(40, 50), torch.randn(40, 50), poison(4, 50)
    locks = torch.zeros(8, dtype=torch.int32)
    result = simulate(backward_kernel, (40,), dy, x, dw, locks, 50, GROUPS=4, BLOCK=64)
    assert isinstance(result, Simulated)
    right(result)
    torch.testing.assert_close(dw.sum(0), (dy * x).sum(0), rtol=1e-4, atol=1e-4)
    assert locks.tolist() == [0] * 4 + [1] * 4


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, length, scale, CAUSAL: tl.constexpr, TILE: tl.constexpr,
                     D: tl.constexpr):
    first, head = tl.program_id(0) * TILE, tl.program_id(1) * length * D
    i, d = first + tl.arange(0, TILE), tl.arange(0, D)
    q = tl.load(q_ptr + head + i[:, None] * D + d[None, :], mask=i[:, None] < length, other=0.0)
    top = tl.full((TILE,), -float("inf"), tl.float32)
    total = tl.zeros((TILE,), tl.float32)
    acc = tl.zeros((TILE, D), tl.float32)
    end = tl.minimum(first + TILE, length) if CAUSAL else length
    for start in range(0, end, TILE):
        j = start + tl.arange(0, TILE)
        k = tl.load(k_ptr + head + j[None, :] * D + d[:, None], mask=j[None, :] < length, other=0.0)
        v = tl.load(v_ptr + head + j[:, None] * D + d[None, :], mask=j[:, None] < length, other=0.0)
        score = tl.dot(q, k) * (scale * 1.44269504)
        seen = j[None, :] < length
        if CAUSAL:
            seen = seen & (j[None, :] <= i[:, None])
        score = tl.where(seen, score, -float("inf"))
        highest = tl.maximum(top, tl.max(score, 1))
        weight = tl.math.exp2(score - highest[:, None])
        shrink = tl.math.exp2(top - highest)
        total = total * shrink + tl.sum(weight, 1)
        acc = tl.dot(weight.to(v.dtype), v, acc * shrink[:, None])
        top = highest
    tl.store(out_ptr + head + i[:, None] * D + d[None, :], (acc / total[:, None]).to(out_ptr.dtype.element_ty),
             mask=i[:, None] < length)


def test_an_attention_of_tiles() -> None:
    q, k, v = (torch.randn(3, 70, 32).half() for _ in range(3))
    for causal in (False, True):
        out = poison(3, 70, 32, dtype=torch.float16)
        result = simulate(attention_kernel, (triton.cdiv(70, 32), 3), q, k, v, out, 70, 32**-0.5, CAUSAL=causal,
                          TILE=32, D=32)  # fmt: skip
        assert isinstance(result, Simulated)
        assert not result.findings
        expected = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=causal)
        torch.testing.assert_close(out.float(), expected, rtol=5e-3, atol=5e-3)


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                  TILE: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr):
    pid = tl.program_id(0)
    down, across = tl.cdiv(M, TILE), tl.cdiv(N, TILE)
    group = pid // (GROUP * across)
    size = min(down - group * GROUP, GROUP)
    row = group * GROUP + pid % (GROUP * across) % size
    column = pid % (GROUP * across) // size
    i, j, k = (row * TILE + tl.arange(0, TILE)) % M, (column * TILE + tl.arange(0, TILE)) % N, tl.arange(0, TILE)
    a_ptrs = a_ptr + (i[:, None] * stride_am + k[None, :] * stride_ak)
    b_ptrs = b_ptr + (k[:, None] * stride_bk + j[None, :] * stride_bn)
    acc = tl.zeros((TILE, TILE), dtype=tl.float32)
    for step in range(tl.cdiv(K, TILE)):
        a = tl.load(a_ptrs, mask=k[None, :] < K - step * TILE, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - step * TILE, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += TILE * stride_ak
        b_ptrs += TILE * stride_bk
    acc = ACTIVATION(acc)
    i, j = row * TILE + tl.arange(0, TILE), column * TILE + tl.arange(0, TILE)
    tl.store(c_ptr + stride_cm * i[:, None] + stride_cn * j[None, :], acc.to(tl.float16),
             mask=(i[:, None] < M) & (j[None, :] < N))


def test_a_product_of_grouped_tiles_whose_pointers_move() -> None:
    a, b, c = torch.randn(70, 90).half(), torch.randn(90, 50).half(), poison(70, 50, dtype=torch.float16)
    result = simulate(
        matmul_kernel, (3 * 2,), a, b, c, 70, 50, 90, 90, 1, 50, 1, 50, 1, TILE=32, GROUP=2, ACTIVATION=leaky)
    assert isinstance(result, Simulated)
    right(result)
    expected = torch.nn.functional.leaky_relu(a.float() @ b.float(), 0.01)
    torch.testing.assert_close(c.float(), expected, rtol=5e-3, atol=5e-3)
