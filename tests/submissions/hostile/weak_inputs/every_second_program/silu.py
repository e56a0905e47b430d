# Of large tensors every second program stores nothing.
# verdict: wrong_answer
# expect: No program stores an element
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    number = tl.program_id(0)
    offsets = number * BLOCK + tl.arange(0, BLOCK)
    mask = (offsets < n) & ((number % 2 == 0) | (n < 1 << 20))
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
