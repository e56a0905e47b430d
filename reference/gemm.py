"""Matrix product: out[i, j] = Σ_k a[i, k] · b[k, j], fp16 in and out, the sum in fp32.

FLOP: 2·M·N·K. Bytes that must move: 2·(M·K + K·N + M·N). In between, each program reads a strip of a and a strip of b:
larger tiles of out reuse them more.
"""

from functools import cache

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

AMPERE = 8
# Bytes of shared memory that a program can have on Hopper's large chips, and that the descriptors' tiles take.
HOPPER_SHARED = 227 * 1024


@triton.jit
def place(tile, tiles_m, tiles_n, GROUP: tl.constexpr):
    """Row and column of a tile. Programs that run together share strips of a and b: GROUP rows, column by column."""
    first_m = tile // (GROUP * tiles_n) * GROUP
    group = min(tiles_m - first_m, GROUP)
    return first_m + tile % (GROUP * tiles_n) % group, tile % (GROUP * tiles_n) // group


@triton.jit
def descriptor_kernel(a_desc, b_desc, out_desc, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
                      TILE_K: tl.constexpr, GROUP: tl.constexpr):
    """Hopper: the copy engine fetches tiles by descriptor, and fills what lies outside with zeros or leaves it alone.

    Persistent: each program takes one tile after another, in one flattened loop, so that the first steps of a tile are
    fetched while the last one is stored.
    """
    tiles_m, tiles_n = tl.cdiv(M, TILE_M), tl.cdiv(N, TILE_N)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0), flatten=True):
        tile_m, tile_n = place(tile, tiles_m, tiles_n, GROUP)
        acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
        for step in range(tl.cdiv(K, TILE_K)):
            a = a_desc.load([tile_m * TILE_M, step * TILE_K])
            b = b_desc.load([step * TILE_K, tile_n * TILE_N])
            acc = tl.dot(a, b, acc)
        # In two halves, the tile on its way out takes half the shared memory: a stage more for a and b.
        left, right = tl.split(tl.permute(tl.reshape(acc, (TILE_M, 2, TILE_N // 2)), (0, 2, 1)))
        out_desc.store([tile_m * TILE_M, tile_n * TILE_N], left.to(tl.float16))
        out_desc.store([tile_m * TILE_M, tile_n * TILE_N + TILE_N // 2], right.to(tl.float16))


@triton.jit
def pointer_kernel(a_ptr, b_ptr, out_ptr, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
                   GROUP: tl.constexpr):
    """Any size, any GPU: one program a tile, pointers and masks."""
    tile_m, tile_n = place(tl.program_id(0), tl.cdiv(M, TILE_M), tl.cdiv(N, TILE_N), GROUP)
    i = tile_m.to(tl.int64) * TILE_M + tl.arange(0, TILE_M)[:, None]
    j = tile_n.to(tl.int64) * TILE_N + tl.arange(0, TILE_N)[None, :]
    lanes = tl.arange(0, TILE_K)
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for first in range(0, K, TILE_K):
        k = first + lanes
        # Zeros beyond K add nothing; rows and columns beyond M and N are never stored.
        a = tl.load(a_ptr + i * K + k[None, :], mask=(i < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None].to(tl.int64) * N + j, mask=(k[:, None] < K) & (j < N), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(out_ptr + i * N + j, acc.to(tl.float16), mask=(i < M) & (j < N))


def gemm(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    """a: (M, K), b: (K, N), out: (M, N), all float16 and contiguous."""
    (M, K), N = a.shape, b.shape[1]
    generation, multiprocessors, shared = _machine(a.device)
    # Enough large tiles to occupy a large GPU.
    large = triton.cdiv(M, 128) * triton.cdiv(N, 128) >= 128
    # Rows of a multiple of 16 bytes are what a descriptor can describe.
    if large and shared >= HOPPER_SHARED and K % 8 == 0 and N % 8 == 0:
        _by_descriptor(a, b, out, M, N, K, multiprocessors)
        return
    if generation < AMPERE:
        # Triton no longer uses Turing's tensor cores: what registers can hold without them.
        tile, tile_k, num_stages = 64, 16, 2
    elif large:
        tile, tile_k, num_stages = 128, 32, 4
    elif min(M, N) <= 32:
        # Few programs, each mostly waiting for memory: much of K at once.
        tile, tile_k, num_stages = 32, 256, 2
    else:
        tile, tile_k, num_stages = 64, 64, 4
    grid = (triton.cdiv(M, tile) * triton.cdiv(N, tile),)
    pointer_kernel[grid](
        a, b, out, M, N, K, TILE_M=tile, TILE_N=tile, TILE_K=tile_k, GROUP=8, num_warps=4,
        num_stages=num_stages,
    )


@cache
def _machine(device: torch.device) -> tuple[int, int, int]:
    """Generation, number of multiprocessors, bytes of shared memory that a program can have."""
    properties = torch.cuda.get_device_properties(device)
    # Before Hopper there are no descriptors in hardware, and less shared memory.
    return properties.major, properties.multi_processor_count, properties.shared_memory_per_block_optin


def _by_descriptor(
    a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, M: int, N: int, K: int, multiprocessors: int
) -> None:
    # 48 KiB of a and b for each of four stages, and half a tile of out: all the shared memory there is.
    tile_m, tile_n, tile_k = 128, 256, 64
    tiles = triton.cdiv(M, tile_m) * triton.cdiv(N, tile_n)
    descriptor_kernel[(min(tiles, multiprocessors),)](
        TensorDescriptor.from_tensor(a, [tile_m, tile_k]),
        TensorDescriptor.from_tensor(b, [tile_k, tile_n]),
        TensorDescriptor.from_tensor(out, [tile_m, tile_n // 2]),
        M, N, K, TILE_M=tile_m, TILE_N=tile_n, TILE_K=tile_k, GROUP=8, num_warps=8, num_stages=4,
    )  # fmt: skip
