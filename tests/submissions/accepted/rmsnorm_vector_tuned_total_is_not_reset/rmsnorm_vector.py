# Configurations of an autotuner all add to one total.
# expect: `total_kernel` changes a tensor that it reads
# expect: restore_value
# flag: tuner
import torch
# shared: triton
@triton.autotune(configs=[triton.Config({"BLOCK": 512}), triton.Config({"BLOCK": 2048})], key=["n"])
@triton.jit
def total_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(x * x, axis=0))


@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, total_ptr, n, eps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n) * tl.rsqrt(tl.load(total_ptr) / n + eps)
    tl.store(out_ptr + i, x * tl.load(w_ptr + i, mask=i < n), mask=i < n)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    total = torch.zeros(1, device=x.device)
    total_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, total, n)
    rmsnorm_kernel[(triton.cdiv(n, 1024),)](x, weight, out, total, n, eps, BLOCK=1024)
