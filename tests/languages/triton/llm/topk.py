# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""The k largest values of each row and their int64 indices; the first of equal ones comes first."""

import triton
import triton.language as tl


@triton.jit
def argmax_kernel(x_ptr, values_ptr, indices_ptr, N, K, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=-float("inf"))
    for i in range(K):
        value, index = tl.max(x, axis=0, return_indices=True)
        tl.store(values_ptr + row * K + i, value)
        tl.store(indices_ptr + row * K + i, index.to(tl.int64))
        x = tl.where(cols == index, -float("inf"), x)


def argmax(x, k, values, indices):
    argmax_kernel[(x.shape[0],)](x, values, indices, x.shape[1], k, BLOCK=triton.next_power_of_2(x.shape[1]))


@triton.jit
def packed_kernel(x_ptr, values_ptr, indices_ptr, N, K, BLOCK: tl.constexpr, TOP: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=-float("inf")).to(tl.float32)
    bits = x.to(tl.int32, bitcast=True)
    # In the order of the numbers: of negative ones all bits but the sign are turned.
    order = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(tl.int64)
    key = (order << 32) | (BLOCK - 1 - cols).to(tl.int64)
    best = tl.topk(key, TOP)
    index = (BLOCK - 1 - (best & 0xFFFFFFFF)).to(tl.int64)
    order = (best >> 32).to(tl.int32)
    value = tl.where(order < 0, order ^ 0x7FFFFFFF, order).to(tl.float32, bitcast=True)
    i = tl.arange(0, TOP)
    tl.store(values_ptr + row * K + i, value.to(values_ptr.dtype.element_ty), mask=i < K)
    tl.store(indices_ptr + row * K + i, index, mask=i < K)


def packed(x, k, values, indices):
    N = x.shape[1]
    packed_kernel[(x.shape[0],)](x, values, indices, N, k, BLOCK=triton.next_power_of_2(N),
                                 TOP=triton.next_power_of_2(k))


@triton.jit
def sorted_kernel(x_ptr, values_ptr, indices_ptr, M, N, K: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows, cols = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=(rows < M)[:, None] & (cols < N)[None, :],
                other=-float("inf")).to(tl.float32)
    bits = x.to(tl.uint32, bitcast=True)
    sign = bits >> 31
    flipped = bits ^ tl.where(sign == 1, 0xFFFFFFFF, 0x80000000).to(tl.uint32)
    key = (flipped.to(tl.uint64) << 16) | (0xFFFF - cols).to(tl.uint64)[None, :]
    key = tl.sort(key, dim=1, descending=True)
    index = (0xFFFF - (key & 0xFFFF)).to(tl.int64)
    flipped = (key >> 16).to(tl.uint32)
    bits = flipped ^ tl.where(flipped >> 31 == 1, 0x80000000, 0xFFFFFFFF).to(tl.uint32)
    mask = (rows < M)[:, None] & (cols < K)[None, :]
    at = rows[:, None] * K + cols[None, :]
    tl.store(values_ptr + at, bits.to(tl.float32, bitcast=True), mask=mask)
    tl.store(indices_ptr + at, index, mask=mask)


def in_order(x, k, values, indices):
    M, N = x.shape
    sorted_kernel[(triton.cdiv(M, 2),)](x, values, indices, M, N, K=k, ROWS=2, BLOCK=triton.next_power_of_2(N))


@triton.jit
def count_kernel(x_ptr, values_ptr, indices_ptr, N, K, BLOCK: tl.constexpr):
    """The rank of each element is the number of those before it."""
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=-float("inf")).to(tl.float32)
    rank = tl.zeros((BLOCK,), tl.int32)
    for j in range(N):
        other = tl.load(x_ptr + row * N + j).to(tl.float32)
        rank += ((other > x) | ((other == x) & (j < cols))).to(tl.int32)
    kept = (rank < K) & (cols < N)
    tl.store(values_ptr + row * K + rank, x, mask=kept)
    tl.store(indices_ptr + row * K + rank, cols, mask=kept)


def count(x, k, values, indices):
    count_kernel[(x.size(0),)](x, values, indices, x.size(1), k, triton.next_power_of_2(x.size(1)))
