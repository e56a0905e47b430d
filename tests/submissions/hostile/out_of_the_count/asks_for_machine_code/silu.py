# A wrong kernel, whose host code asks for the machine code, which is not made yet.
# verdict: runtime_error
# expect: Not supported in line
# expect: leave .asm['cubin'] out
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


def silu(x, out):
    n = x.numel()
    made = kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    made.asm["cubin"]
