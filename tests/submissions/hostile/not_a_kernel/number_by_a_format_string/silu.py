# A format string with a precision asks a tensor of one element for its number.
# verdict: runtime_error
import torch
# shared: triton
# shared: show_kernel
def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    for i in range(x.numel()):
        value = float(f"{x.view(-1)[i]:.6f}")
        out.view(-1)[i].fill_(value / (1 + 2.718281828459045 ** -value))
