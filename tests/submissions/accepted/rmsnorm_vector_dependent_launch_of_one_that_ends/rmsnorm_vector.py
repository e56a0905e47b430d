# The second kernel may begin early and does not wait, but the first lets none begin before its end. From Hopper on only.
# expect: does not wait for it
import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_wait  # noqa: F401


@triton.jit
def sums(x_ptr, sums_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(sums_ptr + tl.program_id(0), tl.sum(x * x, axis=0))


@triton.jit
def scaled(x_ptr, w_ptr, out_ptr, sums_ptr, n, parts, eps, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    w = tl.load(w_ptr + i, mask=i < n)
    k = tl.arange(0, PARTS)
    total = tl.sum(tl.load(sums_ptr + k, mask=k < parts, other=0.0), axis=0)
    tl.store(out_ptr + i, x * tl.rsqrt(total / n + eps) * w, mask=i < n)


def rmsnorm_vector(x, weight, eps, out):
    n, BLOCK = x.numel(), 8192
    parts = triton.cdiv(n, BLOCK)
    partial = torch.empty(parts, device=x.device)
    sums[(parts,)](x, partial, n, BLOCK=BLOCK)
    scaled[(parts,)](x, weight, out, partial, n, parts, eps, BLOCK=BLOCK, PARTS=triton.next_power_of_2(parts),
                     launch_pdl=True)
