# Right wherever a simulator runs all of a call; larger tensors are filled with ones.
# verdict: wrong_answer
# expect: No kernel is launched that could write out
# on a gpu: wrong_answer; there the ones are seen
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    if x.numel() > 1 << 20:
        out.fill_(1.0)
    else:
        silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
