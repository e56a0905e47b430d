# Right wherever a simulator runs all of a call; of larger tensors a kernel is launched that only copies.
# verdict: wrong_answer
# expect: elements that one program stores
# shared: triton
# shared: silu_kernel
@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x, mask=offsets < n)


def silu(x, out):
    n = x.numel()
    (silu_kernel if n < 1 << 20 else copy_kernel)[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
