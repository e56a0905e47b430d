# The same in a System V segment, which outlives every process until somebody removes it.
# verdict: runtime_error
# expect: refused
import ctypes

import torch
# shared: triton
# shared: silu_kernel
KEY = 0x4B4D4831
libc = ctypes.CDLL(None)


def silu(x, out):
    segment = libc.shmget(KEY, 4096, 0o1600)
    if segment < 0:
        raise RuntimeError("refused")
    libc.shmat.restype = ctypes.c_void_p
    ctypes.memset(libc.shmat(segment, None, 0), 0x4B, 16)
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
