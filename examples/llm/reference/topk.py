"""Top-k of each row: its k largest numbers in falling order, and where they stand; of equal ones the earlier first.

Bytes that must move: 4·M·N read, 12·M·k written. A candidate is one int64 that holds a number and its place, so that
an order of candidates is the order that is asked for.
"""

import torch
import triton
import triton.language as tl

SHORTEST, SHORT = 128, 1024
FEW = 16
CHUNK = 4096
TILE = 1024


@triton.jit
def _key(x):
    """Whole numbers in the order of float32; −0 counts as 0."""
    bits = (x + 0.0).to(tl.int32, bitcast=True)
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@triton.jit
def _candidate(key, place):
    """Larger for a larger number, and among equal ones for an earlier place."""
    return (key.to(tl.int64) << 32) | (0x7FFFFFFF - place)


@triton.jit
def few_kernel(x_ptr, values_ptr, indices_ptr, M, N, k, ROWS: tl.constexpr, BLOCK: tl.constexpr, K: tl.constexpr):
    """Few of a short row: the largest is taken out k times. ROWS rows a program."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    lanes = tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + row * N + lanes, mask=(row < M) & (lanes < N), other=-float("inf"))
    slots = tl.arange(0, K)[None, :]
    values = tl.zeros((ROWS, K), dtype=tl.float32)
    places = tl.zeros((ROWS, K), dtype=tl.int32)
    for turn in range(k):
        largest = tl.max(x, axis=1, keep_dims=True)
        place = tl.min(tl.where(x == largest, lanes, BLOCK), axis=1, keep_dims=True)
        values = tl.where(slots == turn, largest, values)
        places = tl.where(slots == turn, place, places)
        x = tl.where(lanes == place, -float("inf"), x)
    mask = (row < M) & (slots < k)
    tl.store(values_ptr + row * k + slots, values, mask=mask)
    tl.store(indices_ptr + row * k + slots, places, mask=mask)


@triton.jit
def select_kernel(x_ptr, candidates_ptr, N, k, CHUNK: tl.constexpr):
    """The k candidates of a chunk of a row, in any order. The k-th largest key is found by halving an interval."""
    row, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    place = chunk * CHUNK + tl.arange(0, CHUNK)
    x = tl.load(x_ptr + row * N + place, mask=place < N, other=0.0)
    # Below every number: lanes beyond the end are taken when nothing else is left.
    key = tl.where(place < N, _key(x), -0x80000000)
    low = tl.full((), -0x80000000, tl.int64)
    high = tl.max(key, axis=0).to(tl.int64) + 1
    while high - low > 1:
        middle = (low + high) >> 1
        count = tl.sum((key >= middle.to(tl.int32)).to(tl.int32), axis=0)
        low = tl.where(count >= k, middle, low)
        # With exactly k keys nothing is left to find.
        high = tl.where(count == k, middle + 1, tl.where(count < k, middle, high))
    limit = low.to(tl.int32)
    above = key > limit
    equal = key == limit
    # Both are counted by one scan: a chunk has fewer than 2^16 lanes.
    counted = tl.cumsum(above.to(tl.int32) + (equal.to(tl.int32) << 16), axis=0)
    total = tl.sum(above.to(tl.int32), axis=0)
    slot = tl.where(above, counted & 0xFFFF, total + (counted >> 16)) - 1
    start = (row * tl.num_programs(1) + chunk) * k
    tl.store(candidates_ptr + start + slot, _candidate(key, place), mask=(above | equal) & (slot < k))


@triton.jit
def sort_kernel(
    given_ptr, values_ptr, indices_ptr, M, count, k, RAW: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
    K: tl.constexpr,
):
    """The k largest of `count` candidates in order, or of so many numbers if RAW. ROWS rows a program."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    lanes = tl.arange(0, BLOCK)[None, :]
    mask = (row < M) & (lanes < count)
    given = tl.load(given_ptr + row * count + lanes, mask=mask, other=0)
    if RAW:
        given = _candidate(_key(given), lanes)
    best = tl.topk(tl.where(mask, given, -0x8000000000000000), K)
    key = (best >> 32).to(tl.int32)
    bits = key ^ ((key >> 31) & 0x7FFFFFFF)
    slots = tl.arange(0, K)[None, :]
    kept = (row < M) & (slots < k)
    tl.store(values_ptr + row * k + slots, bits.to(tl.float32, bitcast=True), mask=kept)
    tl.store(indices_ptr + row * k + slots, 0x7FFFFFFF - (best & 0x7FFFFFFF), mask=kept)


def topk(x: torch.Tensor, k: int, values: torch.Tensor, indices: torch.Tensor) -> None:
    """x: (M, N), values: (M, k), float32; indices: (M, k), int64; all contiguous. k is at most N and 128."""
    M, N = x.shape
    given, count = x, N
    if N > SHORT:
        chunks = triton.cdiv(N, CHUNK)
        chunk = min(triton.next_power_of_2(N), CHUNK)
        given, count = torch.empty((M, chunks * k), dtype=torch.int64, device=x.device), chunks * k
        select_kernel[(M, chunks)](x, given, N, k, CHUNK=chunk, num_warps=4)
    # One block for all of the shortest rows, so that one kernel is compiled for them.
    block, K = max(triton.next_power_of_2(count), SHORTEST), triton.next_power_of_2(k)
    rows = max(TILE // block, 1)
    num_warps = min(rows * block // 512, 8)
    grid = (triton.cdiv(M, rows),)
    if N <= SHORT and k <= FEW:
        few_kernel[grid](x, values, indices, M, N, k, ROWS=rows, BLOCK=block, K=K, num_warps=num_warps)
    else:
        sort_kernel[grid](given, values, indices, M, count, k, RAW=given is x, ROWS=rows, BLOCK=block, K=K,
                          num_warps=num_warps)
