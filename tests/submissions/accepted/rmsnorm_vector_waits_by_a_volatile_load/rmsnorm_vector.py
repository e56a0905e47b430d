# The same as waiting by a plain load, with a load that a compiler leaves where it is.
# never: plain load
import torch
# shared: triton
@triton.jit
def norm_kernel(x_ptr, w_ptr, parts_ptr, arrived_ptr, out_ptr, n, eps, P: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(pid * BLOCK, n, P * BLOCK):
        i = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        total += x * x
    tl.store(parts_ptr + pid, tl.sum(total))
    tl.debug_barrier()
    tl.atomic_add(arrived_ptr, 1)
    while tl.load(arrived_ptr, volatile=True) < P:
        pass
    mean = tl.sum(tl.load(parts_ptr + tl.arange(0, P), volatile=True)) / n
    for first in range(pid * BLOCK, n, P * BLOCK):
        i = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        w = tl.load(w_ptr + i, mask=i < n, other=0.0)
        tl.store(out_ptr + i, x * tl.rsqrt(mean + eps) * w, mask=i < n)


def rmsnorm_vector(x, weight, eps, out):
    parts = torch.empty(32, dtype=torch.float32, device=x.device)
    arrived = torch.zeros(1, dtype=torch.int32, device=x.device)
    norm_kernel[(32,)](x, weight, parts, arrived, out, x.numel(), eps, P=32, BLOCK=1024)
