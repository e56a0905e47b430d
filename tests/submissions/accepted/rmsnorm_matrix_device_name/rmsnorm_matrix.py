# Chooses its settings by the GPU it finds: name, capability, number of multiprocessors.
import torch
import triton
import triton.language as tl

assert torch.cuda.device_count() > 0, "no GPU found"
NAME = torch.cuda.get_device_name(0)
BLOCK = 2048 if "H100" in NAME or "H200" in NAME or torch.cuda.get_device_capability()[0] >= 9 else 1024
PROGRAMS = 4 * torch.cuda.get_device_properties("cuda").multi_processor_count
if torch.cuda.get_device_capability() < (8, 0):
    raise SystemExit(f"{NAME} is too old")


@triton.jit
def rmsnorm_kernel(X, W, Y, rows, N, eps, BLOCK_N: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        start = row.to(tl.int64) * N
        acc = tl.zeros([BLOCK_N], dtype=tl.float32)
        for off in range(0, N, BLOCK_N):
            cols = off + tl.arange(0, BLOCK_N)
            a = tl.load(X + start + cols, mask=cols < N, other=0.0)
            acc += a * a
        rstd = tl.rsqrt(tl.sum(acc, axis=0) / N + eps)
        for off in range(0, N, BLOCK_N):
            cols = off + tl.arange(0, BLOCK_N)
            a = tl.load(X + start + cols, mask=cols < N, other=0.0)
            w = tl.load(W + cols, mask=cols < N)
            tl.store(Y + start + cols, a * rstd * w, mask=cols < N)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    rmsnorm_kernel[(min(rows, PROGRAMS),)](x, weight, out, rows, cols, eps, BLOCK_N=BLOCK)
