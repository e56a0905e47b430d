// A Triton kernel in a file of CUDA C++.
// expect: Python
// never: tl.
import triton
import triton.language as tl


def silu(x, out):
    pass
