# Each lane of each program prints, thousands of times over, and the answer is not even right.
# verdict: wrong_answer, time_limit, runtime_error
# alone on a gpu: its kernel takes long to end there
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    for turn in range(1000):
        tl.device_print("value", x + turn)
    tl.store(out_ptr + offsets, x, mask=offsets < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
