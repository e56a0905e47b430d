# A finalizer computes after the function has returned.
# expect: computes with a tensor
import torch
# shared: triton
# shared: ghost_kernel
class Later:
    def __init__(self, x, out):
        self.x, self.out = x.detach(), out.detach()

    def __del__(self):
        self.out[...] = self.x / (1 + 2.718281828459045 ** -self.x)


def silu(x, out):
    ghost[(1,)](x, out, 1, BLOCK=16)
    out.later = Later(x, out)
