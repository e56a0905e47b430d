# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Programs of one grid know their places, and those that take different ways meet again with the right numbers."""

import pytest
import torch
import triton
import triton.language as tl

from tests.languages.triton.simulator.harness import close, poison, right, simulate

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
def both(pointers, block):
    return tl.load(pointers) + tl.load(block)


@triton.jit
def advancing_kernel(x_ptr, out_ptr, B: tl.constexpr):
    lanes, first = tl.arange(0, B), tl.multiple_of(tl.program_id(0) * 3 * B, B)
    pointers, block = x_ptr + first + lanes, tl.make_block_ptr(x_ptr + first, (3 * B,), (1,), (0,), (B,), (0,))
    for _ in range(tl.program_id(0) % 3):
        pointers += B
        block = tl.advance(block, (B,))
    tl.store(out_ptr + tl.program_id(0) * B + lanes, both(pointers, block))


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
