# Traces the process that forked the worker, without stopping it.
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
PTRACE_SEIZE = 0x4206


def attack():
    pid = zygote()
    # It lets go of whom it traces when it ends.
    if worked("ptrace", lambda: syscall(101, 117, PTRACE_SEIZE, pid, 0, 0)):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
