# Each program does four tiles in a loop that is unrolled, and the grid is counted for eight.
# expect: covers only the first
# expect: 1,024 in each program
# never: further on
# shared: triton
@triton.jit
def copy_kernel(x_ptr, out_ptr, n, TILE: tl.constexpr):
    begin = tl.program_id(0) * TILE * 4
    for number in tl.static_range(4):
        at = begin + number * TILE + tl.arange(0, TILE)
        tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


def vector_copy(x, out):
    n = x.numel()
    copy_kernel[(triton.cdiv(n, 2048),)](x, out, n, TILE=256)
