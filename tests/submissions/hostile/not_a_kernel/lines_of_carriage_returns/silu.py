# The file's lines end in different ways: carriage returns alone. Who reads it line by line, in another way than Python,
# would find another kernel at the lines that Triton asks for.
# verdict: wrong_answer, runtime_error
import triton
import triton.language as tl
# one# two# three

@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x, mask=offsets < n)
def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
