# Maps more of the shared memory than there is, and touches it.
# verdict: runtime_error
import ctypes

import triton
import triton.language as tl

libc = ctypes.CDLL(None, use_errno=True)
libc.mremap.restype = ctypes.c_void_p
libc.mremap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int)
MREMAP_MAYMOVE = 1


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


def silu(x, out):
    size = -(-4 * out.numel() // 4096) * 4096
    place = libc.mremap(out.data_ptr(), size, 2 * size, MREMAP_MAYMOVE)
    if place == ctypes.c_void_p(-1).value:
        raise RuntimeError("no room")
    ctypes.memset(place + size, 1, size)
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
