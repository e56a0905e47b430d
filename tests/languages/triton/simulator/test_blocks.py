# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
# ruff: noqa: E701 - kernels with many cases are read more easily so
"""Operations on whole blocks give what PyTorch gives: scans, changes of shape, loads at edges.
Programs of one grid know their places, and those that take different ways meet again with the right numbers."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.languages.triton.simulator.harness import HostDescriptor, close, poison, right, simulate
from tests.rows import each_row


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


@each_row("name", SHAPE)
def test_a_change_of_shape(name: str) -> None:
    x, out = torch.randn(8, 16), torch.empty(128)
    right(simulate(shape_kernel, (1,), x, out, WHICH=name))
    assert torch.equal(out, SHAPE[name](x).reshape(-1))


@triton.jit
def until_small(x, limit):
    rounds = 0
    while x > limit:
        x = x / 2
        rounds += 1
    if x < -limit:
        x = -limit
    return x, rounds


@triton.jit
def both(x0, x1, y0, y1):
    return x0 + y0, x1 - y1


@triton.jit
def map_kernel(x_ptr, y_ptr, rounds_ptr, both_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if tl.program_id(0) != 1:
        y, rounds = tl.map_elementwise(until_small, x, 1.0 + tl.zeros_like(x))
        tl.store(y_ptr + offsets, y)
        tl.store(rounds_ptr + offsets, rounds)
    tl.store(both_ptr + offsets, tl.map_elementwise(both, x, x * x, pack=2)[0])


def test_a_function_of_single_lanes_takes_each_its_own_way() -> None:
    # In program 1 no lane is called: there the loop would never end.
    x = torch.tensor([0.3, 8.5, -4.0, 100.0, 1.0, 2.0, -0.5, 3.0])
    x = torch.cat([x, torch.full((8,), float("inf")), x.flip(0)])
    y, rounds, pairs = torch.zeros(24), torch.zeros(24, dtype=torch.int32), torch.zeros(24)
    right(simulate(map_kernel, (3,), x, y, rounds, pairs, BLOCK=8, debug=False))
    halved = torch.where(x > 1, x.clamp(min=1).log2().ceil(), 0).nan_to_num(posinf=0)
    halved[8:16] = 0
    assert torch.equal(rounds, halved.int())
    expected = torch.maximum(x * 2.0**-halved, torch.tensor(-1.0))
    expected[8:16] = 0
    close(y, expected)
    close(pairs, x + x * x * torch.tensor([1.0, -1.0]).repeat(12))


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


@pytest.mark.filterwarnings("ignore:tl.make_block_ptr is deprecated")
@pytest.mark.parametrize("kernel", [block_kernel, made_kernel, given_kernel])
@pytest.mark.parametrize(("m", "k"), [(16, 16), (33, 44), (7, 20)])
def test_blocks_by_pointer_and_descriptor_stop_at_the_edges(kernel: Any, m: int, k: int) -> None:
    x, out = torch.randn(m, k), torch.empty(m, k)
    tensors: list[Any] = [x, out]
    if kernel is given_kernel:
        tensors = [HostDescriptor(x, [16, 16]), HostDescriptor(out, [16, 16])]
    right(simulate(kernel, (triton.cdiv(m, 16),), *tensors, m, k, B=16))
    expected = torch.cat([part + part.sum(1, keepdim=True) for part in x.split(16, 1)], 1)
    close(out, expected)


N = 64


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
def softmax_kernel(x_ptr, out_ptr, rows, cols, scale, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * cols + lanes, mask=lanes < cols, other=-float("inf")) * scale
        tl.store(out_ptr + row * cols + lanes, tl.exp(x - tl.max(x, 0)), mask=lanes < cols)
        tl.debug_barrier()
        top = tl.load(out_ptr + row * cols + lanes, mask=lanes < cols, other=0.0)
        tl.store(out_ptr + row * cols + lanes, top / tl.sum(top, 0), mask=lanes < cols)


def test_programs_of_several_rows_read_what_they_wrote() -> None:
    x, out = torch.randn(37, 50), poison(37, 50)
    right(simulate(softmax_kernel, (8,), x, out, 37, 50, 0.5, BLOCK=64))
    close(out, torch.softmax(x * 0.5, 1))


@triton.jit
def pointed(pointers, block):
    return tl.load(pointers) + tl.load(block)


@triton.jit
def advancing_kernel(x_ptr, out_ptr, B: tl.constexpr):
    lanes, first = tl.arange(0, B), tl.multiple_of(tl.program_id(0) * 3 * B, B)
    pointers, block = x_ptr + first + lanes, tl.make_block_ptr(x_ptr + first, (3 * B,), (1,), (0,), (B,), (0,))
    for _ in range(tl.program_id(0) % 3):
        pointers += B
        block = tl.advance(block, (B,))
    tl.store(out_ptr + tl.program_id(0) * B + lanes, pointed(pointers, block))


@pytest.mark.filterwarnings("ignore:tl.make_block_ptr is deprecated")
def test_each_program_advances_its_own_pointers() -> None:
    x, out = torch.randn(5, 3, N), torch.empty(5, N)
    right(simulate(advancing_kernel, (5,), x, out, B=N))
    assert torch.equal(out, 2 * x[range(5), [program % 3 for program in range(5)]])


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
