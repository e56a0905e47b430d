"""Matrix product: out[i, j] = Σ_k a[i, k] · b[k, j], fp16 in and out, the sum in fp32.

FLOP: 2·M·N·K. Bytes that must move: 2·(M·K + K·N + M·N).

Against v3: the same kernel, with tiles, warps and stages measured once for each size. In a step along K, a 64×64 tile
makes 32 products of each element it reads, a 128×256 tile 85: less to read for the same work. But it takes 96 to 144
KiB of shared memory, and cuts a small out into too few programs for all multiprocessors: no choice is best for all.
"""

import torch
import triton
import triton.language as tl

# Rows, columns, steps along K, warps, stages. What does not fit into a GPU's shared memory is passed over.
TILES = ((64, 64, 64, 4, 4), (32, 32, 128, 4, 3), (64, 128, 64, 4, 4), (128, 128, 64, 4, 3), (128, 256, 64, 8, 3))
CONFIGS = [triton.Config({"TILE_M": m, "TILE_N": n, "TILE_K": k, "GROUP": 8}, num_warps=warps, num_stages=stages)
           for m, n, k, warps, stages in TILES]


def worth_trying(configs, args, **constants):
    """Without tensor cores, as Triton sees Turing, large tiles take many seconds each to compile."""
    return configs[:2] if torch.cuda.get_device_capability(args["a_ptr"].device) < (8, 0) else configs


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"], prune_configs_by={"early_config_prune": worth_trying})
@triton.jit
def tile_kernel(a_ptr, b_ptr, out_ptr, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
                GROUP: tl.constexpr):
    tile, in_group = tl.program_id(0), GROUP * tl.cdiv(N, TILE_N)
    first_m = tile // in_group * GROUP
    rows = min(tl.cdiv(M, TILE_M) - first_m, GROUP)
    i = (first_m + tile % in_group % rows).to(tl.int64) * TILE_M + tl.arange(0, TILE_M)[:, None]
    j = (tile % in_group // rows).to(tl.int64) * TILE_N + tl.arange(0, TILE_N)[None, :]
    lanes = tl.arange(0, TILE_K).to(tl.int64)
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for first in range(0, K, TILE_K):
        k = first + lanes
        a = tl.load(a_ptr + i * K + k[None, :], mask=(i < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + j, mask=(k[:, None] < K) & (j < N), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(out_ptr + i * N + j, acc.to(tl.float16), mask=(i < M) & (j < N))


def gemm(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    """a: (M, K), b: (K, N), out: (M, N), all float16 and contiguous."""
    (M, K), N = a.shape, b.shape[1]
    tile_kernel[lambda tile: (triton.cdiv(M, tile["TILE_M"]) * triton.cdiv(N, tile["TILE_N"]),)](a, b, out, M, N, K)
