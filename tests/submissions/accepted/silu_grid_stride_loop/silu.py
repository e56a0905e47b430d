# A fixed number of programs walks over all blocks; the loop is software-pipelined.
import triton
import triton.language as tl

PROGRAMS = 16


@triton.jit
def silu_loop(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in tl.range(tl.program_id(0) * BLOCK, n, step, num_stages=2):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n)
        tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    n = x.numel()
    silu_loop[(min(PROGRAMS, triton.cdiv(n, 2048)),)](x, out, n, BLOCK=2048)
