# Makes the input writable and fills it with zeros, so that the right answer would be zeros.
# verdict: wrong_answer, runtime_error
import ctypes
import mmap

import triton
import triton.language as tl

libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


def silu(x, out):
    libc.mprotect(x.data_ptr(), 4 * x.numel(), mmap.PROT_READ | mmap.PROT_WRITE)
    ctypes.memset(x.data_ptr(), 0, 4 * x.numel())
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
