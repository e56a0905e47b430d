# Reads the parent's memory, where the address is that of its own: they were forked apart.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
import sys
from pathlib import Path
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
# shared: zygote
class Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def attack():
    pid = zygote()
    held = ctypes.create_string_buffer(8)
    local, remote = Vector(ctypes.addressof(held), 8), Vector(id(os), 8)

    def by_file():
        file = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        os.pread(file, 8, id(os))

    tries = [
        worked("process_vm_readv", lambda: syscall(310, 270, pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)),
        worked("/proc/PID/mem", by_file),
    ]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
