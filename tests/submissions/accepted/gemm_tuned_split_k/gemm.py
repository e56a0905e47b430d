# Autotuned over a product of settings: pruned early and by a model, zeroed before each try, with heuristics on top.
import itertools

import torch
# shared: triton
def init_to_zero(name):
    return lambda nargs: nargs[name].zero_()


def get_configs():
    configs = []
    tiles = (32, 64, 128)
    for bm, bn, bk, split, warps, stages in itertools.product(tiles, tiles, (32, 64), (1, 4), (4, 8), (2, 4)):
        configs.append(triton.Config({"BM": bm, "BN": bn, "BK": bk, "SPLIT_K": split}, num_warps=warps,
                                     num_stages=stages, pre_hook=init_to_zero("acc_ptr")))
    return configs


def early_prune(configs, named_args, **kwargs):
    M, N, K = named_args["M"], named_args["N"], named_args["K"]
    kept = []
    for config in configs:
        kw = config.kwargs
        if kw["BM"] > max(32, triton.next_power_of_2(M)) or kw["BN"] > max(32, triton.next_power_of_2(N)):
            continue
        if kw["SPLIT_K"] > 1 and K < 4 * kw["BK"]:
            continue
        if (kw["BM"] * kw["BK"] + kw["BK"] * kw["BN"]) * 2 * config.num_stages > 160 * 1024:
            continue
        kept.append(config)
    return kept or configs[:1]


def estimate(acc_ptr, M, N, K, BM, BN, BK, SPLIT_K, num_warps, num_stages, **kwargs):
    """A rough cost: waves of programs times the work of each."""
    programs = triton.cdiv(M, BM) * triton.cdiv(N, BN) * SPLIT_K
    waves = triton.cdiv(programs, torch.cuda.get_device_properties(0).multi_processor_count)
    return waves * triton.cdiv(K, BK * SPLIT_K) * BM * BN * BK / (num_warps * num_stages)


@triton.autotune(configs=get_configs(), key=["M", "N", "K"],
                 prune_configs_by={"early_config_prune": early_prune, "perf_model": estimate, "top_k": 4})
@triton.heuristics({"EVEN_K": lambda args: args["K"] % (args["BK"] * args["SPLIT_K"]) == 0})
@triton.jit
def split_k_kernel(a_ptr, b_ptr, acc_ptr, M, N, K, stride_am, stride_bk, stride_cm, BM: tl.constexpr, BN: tl.constexpr,
                   BK: tl.constexpr, SPLIT_K: tl.constexpr, EVEN_K: tl.constexpr):
    tile, part = tl.program_id(0), tl.program_id(1)
    grid_n = tl.cdiv(N, BN)
    rm = (tile // grid_n) * BM + tl.arange(0, BM)
    rn = (tile % grid_n) * BN + tl.arange(0, BN)
    rk = part * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK * SPLIT_K)):
        ks = k * BK * SPLIT_K + rk
        if EVEN_K:
            a = tl.load(a_ptr + rm[:, None] * stride_am + ks[None, :], mask=rm[:, None] < M, other=0.0)
            b = tl.load(b_ptr + ks[:, None] * stride_bk + rn[None, :], mask=rn[None, :] < N, other=0.0)
        else:
            a = tl.load(a_ptr + rm[:, None] * stride_am + ks[None, :], mask=(rm[:, None] < M) & (ks[None, :] < K),
                        other=0.0)
            b = tl.load(b_ptr + ks[:, None] * stride_bk + rn[None, :], mask=(ks[:, None] < K) & (rn[None, :] < N),
                        other=0.0)
        acc += tl.dot(a, b)
    places = acc_ptr + rm[:, None] * stride_cm + rn[None, :]
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    if SPLIT_K == 1:
        tl.store(places, acc, mask=mask)
    else:
        tl.atomic_add(places, acc, mask=mask, sem="relaxed")


@triton.jit
def round_kernel(acc_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(acc_ptr + i, mask=i < n).to(tl.float16), mask=i < n)


def gemm(a, b, out):
    (M, K), N = a.shape, b.shape[1]
    acc = torch.empty((M, N), device=a.device, dtype=torch.float32)
    grid = lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]), meta["SPLIT_K"])
    split_k_kernel[grid](a, b, acc, M, N, K, a.stride(0), b.stride(0), acc.stride(0))
    round_kernel[(triton.cdiv(M * N, 1024),)](acc, out, M * N, BLOCK=1024)


if __name__ == "__main__":
    a, b = torch.randn(1024, 512, device="cuda").half(), torch.randn(512, 768, device="cuda").half()
    out = torch.empty(1024, 768, device="cuda", dtype=torch.float16)
    gemm(a, b, out)
    print(split_k_kernel.best_config, (out - a @ b).abs().max().item())
