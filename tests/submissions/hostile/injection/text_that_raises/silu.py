# An exception that cannot be turned into text, and raises on the way.
# verdict: runtime_error
import torch
# shared: triton
# shared: silu_kernel
class Evil(Exception):
    def __str__(self):
        raise Evil

    __repr__ = __str__


def silu(x, out):
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    raise Evil
