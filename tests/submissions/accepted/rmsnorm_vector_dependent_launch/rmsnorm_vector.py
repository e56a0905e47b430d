# The second kernel is launched while the first still runs (programmatic dependent launch), and waits for its sums.
import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def sums(x_ptr, sums_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(sums_ptr + tl.program_id(0), tl.sum(x * x, axis=0))
    gdc_launch_dependents()


@triton.jit
def scaled(x_ptr, w_ptr, out_ptr, sums_ptr, n, parts, eps, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    w = tl.load(w_ptr + i, mask=i < n)
    gdc_wait()
    k = tl.arange(0, PARTS)
    total = tl.sum(tl.load(sums_ptr + k, mask=k < parts, other=0.0), axis=0)
    tl.store(out_ptr + i, x * tl.rsqrt(total / n + eps) * w, mask=i < n)


def supports_pdl(device):
    return torch.cuda.get_device_capability(device)[0] >= 9


def rmsnorm_vector(x, weight, eps, out):
    n, BLOCK = x.numel(), 8192
    parts = triton.cdiv(n, BLOCK)
    partial = torch.empty(parts, device=x.device)
    sums[(parts,)](x, partial, n, BLOCK=BLOCK, launch_pdl=supports_pdl(x.device))
    scaled[(parts,)](x, weight, out, partial, n, parts, eps, BLOCK=BLOCK, PARTS=triton.next_power_of_2(parts),
                     launch_pdl=supports_pdl(x.device))
