# A scale that is a block of float32 in one branch, and a whole number in the other.
# expect: scale has one type and shape after the `if`, and another after the `else`
# never: an assertion of the submission
# never: print the shapes
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, threshold, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    if tl.max(x) > threshold:
        scale = tl.sigmoid(x)
    else:
        scale = 0
    tl.store(out_ptr + offs, x * scale, mask=offs < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 256),)](x, out, n, -1e9, BLOCK=256)
