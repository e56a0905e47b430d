# Sets the parent's priority, processors and memory nodes (to what they are).
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
IOPRIO_WHO_PROCESS = 1


def attack():
    pid = zygote()
    nodes = ctypes.byref(ctypes.c_ulong(1))
    tries = [
        worked("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid))),
        worked("sched_setaffinity", lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid))),
        worked("sched_setscheduler", lambda: os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))),
        worked("ioprio_set", lambda: syscall(251, 30, IOPRIO_WHO_PROCESS, pid, 0)),
        worked("migrate_pages", lambda: syscall(256, 238, pid, 64, nodes, nodes)),
    ]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
