# Frees the pages of the memory shared with the judge, through its view of it and by a descriptor that it has kept: who
# reads a matrix there, as the baseline does, then waits for each page anew.
# verdict: runtime_error
# expect: refused: madvise EPERM, cold EPERM, pageout EPERM, fallocate EPERM
import ctypes
import errno
import os
import sys

import triton
import triton.language as tl

libc = ctypes.CDLL(None, use_errno=True)
libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)


def checked(answer):
    if answer < 0:
        raise OSError(ctypes.get_errno(), "refused")


REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
said = []


def worked(what, action):
    """Whether an attempt went through. A refusal is noted; any other failure is a fault of this file."""
    try:
        action()
    except OSError as error:
        if error.errno not in REFUSALS:
            raise
        said.append(f"{what} {errno.errorcode[error.errno]}")
        return False
    return True


MADV_REMOVE, MADV_COLD, MADV_PAGEOUT = 9, 20, 21
FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE = 1, 2

# The worker closes descriptors that it has mapped; the last one of a call is the output's. Memory of a device has none.
kept = []
worker = sys.modules["grader.worker.main"]
map_and_forget = worker._map


def keeping(descriptor):
    kept.append(os.dup(descriptor))
    return map_and_forget(descriptor)


worker._map = keeping


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


def silu(x, out):
    # What is there is not needed any more: it is written below.
    place, size = out.data_ptr(), -(-4 * out.numel() // 4096) * 4096
    tries = [
        worked("madvise", lambda: checked(libc.madvise(place, size, MADV_REMOVE))),
        worked("cold", lambda: checked(libc.madvise(place, size, MADV_COLD))),
        worked("pageout", lambda: checked(libc.madvise(place, size, MADV_PAGEOUT))),
        *(worked("fallocate", lambda d=descriptor: checked(
            libc.fallocate(d, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, size))) for descriptor in kept[-1:]),
    ]
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
    for descriptor in kept:
        os.close(descriptor)
    kept.clear()
    if not any(tries):
        raise RuntimeError(f"refused: {', '.join(said)}")
