# Takes the output's memory out of its own address space, and crashes on it.
# verdict: runtime_error
import ctypes

import triton
import triton.language as tl

libc = ctypes.CDLL(None, use_errno=True)
libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


def silu(x, out):
    libc.munmap(out.data_ptr(), 4 * out.numel())
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
