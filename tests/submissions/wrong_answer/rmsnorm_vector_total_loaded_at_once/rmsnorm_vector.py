# Each program adds its part to the total and loads it at once: others may not have added theirs.
# expect: both use element 0 of your buffer `total_ptr`
# never: mask
import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, out_ptr, total_ptr, n, eps, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, n, step):
        x = tl.load(x_ptr + first + lanes, mask=first + lanes < n, other=0.0)
        squares += x * x
    tl.atomic_add(total_ptr, tl.sum(squares))
    root = tl.sqrt(tl.load(total_ptr) / n + eps)
    for first in range(0, n, step):
        inside = first + lanes < n
        x = tl.load(x_ptr + first + lanes, mask=inside, other=0.0)
        weight = tl.load(weight_ptr + first + lanes, mask=inside, other=0.0)
        tl.store(out_ptr + first + lanes, x / root * weight, mask=inside)


def rmsnorm_vector(x, weight, eps, out):
    total = torch.zeros(1, dtype=torch.float32, device=x.device)
    rms_norm_kernel[(16,)](x, weight, out, total, x.numel(), eps, BLOCK=1024)
