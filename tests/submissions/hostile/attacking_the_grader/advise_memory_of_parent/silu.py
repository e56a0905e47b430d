# Has the kernel take the parent's pages away, and looks into what it shares with it.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import functools
import os
import sys
from pathlib import Path
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
# shared: zygote
MADV_COLD, KCMP_VM = 20, 1


class Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def attack():
    pid = zygote()
    page = ctypes.byref(Vector(id(os) & ~4095, 4096))
    handle = functools.partial(syscall, 434, 434, pid, 0)
    tries = [
        worked("process_madvise", lambda: syscall(440, 440, handle(), page, 1, MADV_COLD, 0)),
        worked("kcmp", lambda: syscall(312, 272, pid, os.getpid(), KCMP_VM, 0, 0)),
    ]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
