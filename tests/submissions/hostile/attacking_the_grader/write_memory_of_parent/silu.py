# Writes into the parent, which has the same addresses as its fork: eight bytes, to what they were.
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
    place = id(os)
    held = ctypes.create_string_buffer(8)
    local, remote = Vector(ctypes.addressof(held), 8), Vector(place, 8)
    vectors = (ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)

    def by_call():
        syscall(310, 270, pid, *vectors)
        syscall(311, 271, pid, *vectors)

    def by_file():
        file = os.open(f"/proc/{pid}/mem", os.O_RDWR)
        os.pwrite(file, os.pread(file, 8, place), place)

    if any([worked("process_vm_writev", by_call), worked("/proc/PID/mem", by_file)]):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
