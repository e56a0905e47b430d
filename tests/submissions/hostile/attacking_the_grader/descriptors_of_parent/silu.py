# Takes the parent's descriptors: its channel to the judge, its log.
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
def attack():
    pid = zygote()
    taken = []

    def reopen():
        for name in os.listdir(f"/proc/{pid}/fd"):
            taken.append(os.readlink(f"/proc/{pid}/fd/{name}"))

    def steal():
        pidfd = syscall(434, 434, pid, 0)
        taken.append(syscall(438, 438, pidfd, 1, 0))

    worked("/proc/PID/fd", reopen)
    worked("pidfd_getfd", steal)
    if taken:
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
