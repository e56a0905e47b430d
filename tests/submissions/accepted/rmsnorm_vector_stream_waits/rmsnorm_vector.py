# The sum is taken in a stream of its own, and an event tells the current stream when it is there.
# never: streams
import torch
# shared: triton
@triton.jit
def sum_of_squares(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(x * x))


@triton.jit
def normalise(x_ptr, w_ptr, total_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    rstd = tl.rsqrt(tl.load(total_ptr) / n + eps)
    x = tl.load(x_ptr + offs, mask=mask)
    w = tl.load(w_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x * rstd * w, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    total = torch.zeros(1, device=x.device)
    grid = (triton.cdiv(n, 1024),)
    side, summed = torch.cuda.Stream(), torch.cuda.Event()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        sum_of_squares[grid](x, total, n, BLOCK=1024)
        summed.record()
    torch.cuda.current_stream().wait_event(summed)
    normalise[grid](x, weight, total, out, n, eps, BLOCK=1024)
