# A cycle of garbage launches the kernel whenever Python collects it.
# verdict: wrong_answer
import torch
# shared: triton
# shared: silu_kernel
class Later:
    def __init__(self, x, out):
        self.x, self.out, self.me = x, out, self

    def __del__(self):
        x, out = self.x, self.out
        silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)


def silu(x, out):
    silu_kernel[(1,)](x, out, 0, BLOCK=16)
    Later(x, out)
