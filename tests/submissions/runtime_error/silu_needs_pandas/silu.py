# The block size comes from a table of pandas', which is not there when it is graded.
# expect: pandas
# on a gpu: runtime_error, accepted; its machine may have pandas
import pandas as pd
# shared: triton
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    sizes = pd.Series({"small": 256, "large": 4096})
    kernel[(triton.cdiv(x.numel(), int(sizes["large"])),)](x, out, x.numel(), BLOCK=int(sizes["large"]))
