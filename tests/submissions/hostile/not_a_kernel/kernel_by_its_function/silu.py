# The Python function inside a kernel is called: its tl is PyTorch under another name.
# verdict: policy_violation, runtime_error
import torch
# shared: triton
# shared: show_kernel
class Language:
    constexpr = int

    def program_id(self, axis):
        return 0

    def arange(self, start, end):
        return torch.arange(start, end)

    def load(self, pointer, mask=None):
        return pointer

    def exp(self, value):
        return torch.exp(value)

    def store(self, pointer, value, mask=None):
        pointer.copy_(value)


@triton.jit
def silu_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    tl.store(out_ptr, x / (1 + tl.exp(-x)))


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    silu_kernel.fn.__globals__["tl"] = Language()
    silu_kernel.fn(x, out)
