# NumPy counts the elements, and the launch is given its number.
# expect: given a numpy.int64
# expect: int()
# never: print the shapes
import numpy as np
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=mask)


def silu(x, out):
    n = np.prod(x.shape)
    silu_kernel[(int(np.ceil(n / 1024)),)](x, out, n, BLOCK=1024)
