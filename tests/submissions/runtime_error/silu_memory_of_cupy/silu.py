# Scratch memory of another library.
# expect: allocate with torch.empty
# never: leave out plots
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    import cupy

    n = x.numel()
    scratch = cupy.empty(n, dtype="float32")
    silu_kernel[(triton.cdiv(n, 1024),)](x, scratch, n, BLOCK=1024)
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
