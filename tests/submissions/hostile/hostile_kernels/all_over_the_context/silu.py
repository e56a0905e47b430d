# Writes zeros from the output on, upwards and downwards, over a gigabyte of whatever lies there.
# verdict: runtime_error, wrong_answer, needs_gpu
# needs: gpu
# alone on a gpu: its kernel takes the whole context with it
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)
    far = tl.zeros([BLOCK], tl.float32)
    tl.store(out_ptr + n + offsets, far)
    tl.store(out_ptr - 1 - offsets, far)


def silu(x, out):
    silu_kernel[(1 << 18,)](x, out, x.numel(), BLOCK=1024)
