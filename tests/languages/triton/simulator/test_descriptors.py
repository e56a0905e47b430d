# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""What blocks of a descriptor read and write where the tensor ends."""

import pytest
import torch
import triton
import triton.language as tl

from grader.plan.device import TARGETS
from grader.plan.findings import OutOfBounds
from tests.languages.triton.simulator.harness import HostDescriptor, found, poison, right, simulate
from tests.rows import each_row

HOPPER = TARGETS["sm_90"]


@triton.jit
def described_kernel(source, target):
    target.store([0, 0], source.load([4, 0]))


def test_blocks_beyond_a_descriptor_are_no_access_at_all() -> None:
    x, out = torch.randn(6, 8), torch.zeros(6, 8)
    assert found(simulate(described_kernel, (1,), HostDescriptor(x, [4, 8]), HostDescriptor(out, [4, 8]))) == []
    assert torch.equal(out[:2], x[4:])
    assert not out[2:].any()
    padded = torch.zeros(6, 8)
    found(simulate(described_kernel, (1,), HostDescriptor(x, [4, 8], "nan"), HostDescriptor(padded, [4, 8])))
    assert padded[2:4].isnan().all()


@triton.jit
def described_vector_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [n], [1], [BLOCK])
    target = tl.make_tensor_descriptor(out_ptr, [n], [1], [BLOCK])
    first = tl.program_id(0) * BLOCK
    target.store([first], source.load([first]) + 1.0)


# What an H200 was seen to write.
@each_row(("n", "dtype", "past"), [
    (45, torch.float32, 3), (1, torch.float32, 3), (1024, torch.float32, 0), (2, torch.float16, 6),
    (1009, torch.float16, 7), (4, torch.float16, 4),
])
def test_a_descriptors_store_writes_its_last_16_bytes_as_a_whole(n: int, dtype: torch.dtype, past: int) -> None:
    x, out = torch.full((n,), 3, dtype=dtype), poison(n, dtype=dtype)
    findings = found(simulate(described_vector_kernel, (-(-n // 64),), x, out, n, BLOCK=64, device=HOPPER))
    assert [(one.access, one.highest, one.lanes) for one in findings if isinstance(one, OutOfBounds)] == (
        [("granule", n + past - 1, past)] if past else [])
    assert (out == 4).all()
    # Before Hopper, no more than the tensor is written.
    assert found(simulate(described_vector_kernel, (-(-n // 64),), x, poison(n, dtype=dtype), n, BLOCK=64)) == []


@triton.jit
def described_rows_kernel(x_ptr, out_ptr, M, N, stride, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [M, N], [stride, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(out_ptr, [M, N], [stride, 1], [BLOCK, BLOCK])
    row, column = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    target.store([row, column], source.load([row, column]) + 1.0)


@each_row("n", [1, 3, 5, 30, 32, 61])
def test_a_descriptors_store_fills_the_gap_between_rows_up_to_16_bytes(n: int) -> None:
    x, out = torch.full((40, 64), 3.0), torch.full((40, 64), -7.0)
    right(simulate(described_rows_kernel, (2, 2), x, out, 33, n, 64, BLOCK=32, device=HOPPER))
    ends = -(-n // 4) * 4
    assert (out[:33, :n] == 4).all() and (out[:33, n:ends] == 1).all()
    assert (out[:33, ends:] == -7).all() and (out[33:] == -7).all()


@triton.jit
def described_halves_kernel(source, x_ptr, target, n, BLOCK: tl.constexpr):
    made = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [BLOCK, BLOCK])
    row = tl.program_id(0) * BLOCK
    target.store([row, 0], source.load([row, 0]) // 2 + made.load([row, 0]) // 2)


@each_row("dtype", [
    torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64])
def test_descriptors_of_integers_keep_their_sign(dtype: torch.dtype) -> None:
    # The largest, and for a type with a sign the least: halves tell one reading of the highest bit from the other.
    bounds = torch.iinfo(dtype)
    x = torch.tensor([bounds.max, 7, bounds.min, 100] * 256, dtype=dtype).view(32, 32)
    out = torch.zeros_like(x)
    right(simulate(
        described_halves_kernel, (2,), HostDescriptor(x, [16, 16]), x, HostDescriptor(out, [16, 16]), 32, BLOCK=16))
    halves = torch.tensor([each // 2 * 2 for each in (bounds.max, 7, bounds.min, 100)] * 4, dtype=dtype)
    assert torch.equal(out[:, :16], halves.expand(32, 16))
    assert not out[:, 16:].view(torch.uint8).any()


@triton.jit
def described_largest_kernel(x_ptr, target, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    target.atomic_max([0], tl.load(x_ptr + lanes))


@pytest.mark.parametrize(("dtype", "largest"), [(torch.int32, 3), (torch.uint32, 2**32 - 1)])
def test_a_descriptors_maximum_knows_a_sign(dtype: torch.dtype, largest: int) -> None:
    x = torch.tensor([-1, 5] * 16, dtype=torch.int32).view(dtype)
    out = torch.tensor([3] * 16, dtype=torch.int32).view(dtype)
    right(simulate(described_largest_kernel, (2,), x, HostDescriptor(out, [16]), BLOCK=16))
    assert out.tolist() == [largest, 5] * 8


@triton.jit
def rows_kernel(x_ptr, rows_ptr, out_ptr, M, N, first, ROWS: tl.constexpr):
    rows = tl.load(rows_ptr + tl.arange(0, ROWS))
    source = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [1, 16])
    target = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [1, 16])
    target.scatter(source.gather(rows, first) + 1.0, rows, first)


@pytest.mark.parametrize("first", [0, 20])
def test_rows_of_a_descriptor_by_their_numbers_stop_at_its_edges(first: int) -> None:
    x, out = torch.randn(12, 32), torch.zeros(12, 32)
    rows = torch.tensor([7, 2, 11, 12, -1, 3, 100, 0], dtype=torch.int32)
    right(simulate(rows_kernel, (1,), x, rows, out, 12, 32, first, ROWS=8))
    expected = torch.zeros(12, 32)
    within = [7, 2, 11, 3, 0]
    expected[within, first : first + 16] = x[within, first : first + 16] + 1
    assert torch.equal(out, expected)


@triton.jit
def repeated_kernel(x_ptr, rows_ptr, out_ptr, M, N, ROWS: tl.constexpr):
    rows = tl.load(rows_ptr + tl.arange(0, ROWS))
    source = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [1, 16])
    values = source.gather(rows, 0)
    tl.store(out_ptr + tl.arange(0, ROWS)[:, None] * 16 + tl.arange(0, 16)[None, :], values)


def test_a_row_may_be_gathered_twice() -> None:
    x, rows, out = torch.randn(12, 32), torch.tensor([3, 3, 0, 1] * 2, dtype=torch.int32), torch.zeros(8, 16)
    right(simulate(repeated_kernel, (1,), x, rows, out, 12, 32, ROWS=8))
    assert torch.equal(out, x[rows.long(), :16])
