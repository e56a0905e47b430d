# The sum of the squares is not divided by n.
# expect: used for their mean
# expect: divide it by N
# never: stride
# never: lower precision
import torch
# shared: triton
@triton.jit
def partial_kernel(x_ptr, part_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(part_ptr + pid, tl.sum(x * x, axis=0))


@triton.jit
def apply_kernel(x_ptr, w_ptr, part_ptr, out_ptr, n, parts, eps, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    at = tl.arange(0, PARTS)
    total = tl.sum(tl.load(part_ptr + at, mask=at < parts, other=0.0), axis=0)
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    w = tl.load(w_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x * tl.rsqrt(total + eps) * w, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    n = x.shape[0]
    parts = triton.cdiv(n, 1024)
    partial = torch.empty(parts, device=x.device)
    partial_kernel[(parts,)](x, partial, n, BLOCK=1024)
    apply_kernel[(parts,)](x, weight, partial, out, n, parts, eps, BLOCK=1024, PARTS=triton.next_power_of_2(parts))
