# Each part's last step reaches into the next part: its mask ends at n.
# proved: line 18
# proved: a different variable
import torch
import triton
import triton.language as tl


@triton.jit
def sum_part(x_ptr, total, n, PARTS: tl.constexpr, STEP: tl.constexpr):
    length = tl.cdiv(n, PARTS)
    begin = tl.program_id(0) * length
    until = tl.minimum(begin + length, n)
    squares = tl.zeros((STEP,), dtype=tl.float32)
    for at in range(begin, until, STEP):
        lane = at + tl.arange(0, STEP)
        # Lanes past the part hold nothing.
        x = tl.load(x_ptr + lane, mask=lane < n, other=0.0)
        squares += x * x
    tl.atomic_add(total, tl.sum(squares, axis=0))


@triton.jit
def scale_all(x_ptr, w_ptr, out_ptr, total, n, eps, BLOCK: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lane < n
    scale = tl.rsqrt(tl.load(total) / n + eps)
    y = tl.load(x_ptr + lane, mask=inside) * scale * tl.load(w_ptr + lane, mask=inside)
    tl.store(out_ptr + lane, y, mask=inside)


def rmsnorm_vector(x, weight, eps, out):
    n = x.shape[0]
    total = torch.zeros(1, device=x.device, dtype=torch.float32)
    sum_part[(24,)](x, total, n, PARTS=24, STEP=128)
    scale_all[(triton.cdiv(n, 512),)](x, weight, out, total, n, eps, BLOCK=512)
