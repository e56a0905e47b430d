# A loop over blocks whose step forgets the other programs' share: fine with one block a program, a gap otherwise.
# expect: 1,024 elements of out in 4 rounds of each program
# expect: from element 3,072 on
# never: exchanged
# never: the mask of
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, PER_PROGRAM: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    for i in range(PER_PROGRAM):
        offs = start + i * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n)
        tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 4 * 256),)](x, out, n, PER_PROGRAM=4, BLOCK=256)
