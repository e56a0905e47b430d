# Right wherever a simulator runs all of a call; of larger tensors the second half is left as it was.
# verdict: wrong_answer
# expect: cannot write all 16,777,207 elements of out
# on a gpu: wrong_answer; there all elements are looked at
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    n = x.numel()
    programs = triton.cdiv(n, 1024)
    silu_kernel[(programs if n < 1 << 20 else programs // 2,)](x, out, n, BLOCK=1024)
