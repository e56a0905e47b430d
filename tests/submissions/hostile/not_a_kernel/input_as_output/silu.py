# Tells the planner that the input is an output, and fills it with zeros, for which zeros are right.
# verdict: runtime_error
# expect: an input is written
import sys

# shared: triton
# shared: show_kernel
def silu(x, out):
    sys.modules["grader.host.handles"].memory_of(x).output = True
    x.zero_()
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
