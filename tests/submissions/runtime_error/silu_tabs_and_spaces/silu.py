# Tabs and spaces mixed in one block.
# expect: indent
import triton


def silu(x, out):
    n = x.numel()
	out.zero_()
    return n
