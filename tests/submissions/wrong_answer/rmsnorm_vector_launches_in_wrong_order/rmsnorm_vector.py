# The launch that scales comes before the one that sums.
# expect: the launch in line 32, which stores there, comes after it
# expect: the one that stores comes first
# never: torch.zeros
import torch
# shared: triton
@triton.jit
def partial_sums(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(partial_ptr + tl.program_id(0), tl.sum(x * x))


@triton.jit
def scale(x_ptr, w_ptr, out_ptr, partial_ptr, n, programs, eps, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    parts = tl.arange(0, PARTS)
    total = tl.sum(tl.load(partial_ptr + parts, mask=parts < programs, other=0.0))
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    w = tl.load(w_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.rsqrt(total / n + eps) * w, mask=i < n)


def rmsnorm_vector(x, weight, eps, out):
    programs = triton.cdiv(x.numel(), 1024)
    partial = torch.empty(programs, dtype=torch.float32, device=x.device)
    scale[(programs,)](x, weight, out, partial, x.numel(), programs, eps, BLOCK=1024,
                       PARTS=triton.next_power_of_2(programs))
    partial_sums[(programs,)](x, partial, x.numel(), BLOCK=1024)
