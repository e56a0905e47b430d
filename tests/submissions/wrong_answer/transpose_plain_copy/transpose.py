# Nothing is transposed: the elements arrive in the order of x.
# expect: in the order of x
# never: triton.cdiv
# never: the mask of
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def transpose(x, out):
    n = x.numel()
    transpose_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
