# Of the parts of the sum the first 256 alone are added: wrong beyond 262,144 elements.
# expect: At 1048576
# expect: reads only the first 256
import torch
# shared: triton
@triton.jit
def parts_kernel(x_ptr, parts_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(parts_ptr + tl.program_id(0), tl.sum(x * x))


@triton.jit
def norm_kernel(x_ptr, w_ptr, parts_ptr, out_ptr, n, eps, parts, BLOCK: tl.constexpr, MOST: tl.constexpr):
    lanes = tl.arange(0, MOST)
    mean = tl.sum(tl.load(parts_ptr + lanes, mask=lanes < parts, other=0.0)) / n
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    w = tl.load(w_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, x * tl.rsqrt(mean + eps) * w, mask=i < n)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    count = triton.cdiv(n, 1024)
    parts = torch.empty(count, dtype=torch.float32, device=x.device)
    parts_kernel[(count,)](x, parts, n, BLOCK=1024)
    norm_kernel[(count,)](x, weight, parts, out, n, eps, count, BLOCK=1024, MOST=256)
