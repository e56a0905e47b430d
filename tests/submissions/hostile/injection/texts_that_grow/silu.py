# Signs that take six bytes each in JSON, as many as are kept, in every text of every case.
# verdict: runtime_error
import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    print("\x01" * 30_000)
    raise ValueError("\x02" * 30_000)
