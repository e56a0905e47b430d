# Kills the process that forked the worker, by every call that sends a signal.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
import signal
import sys
import time
from pathlib import Path
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
# shared: zygote
class SigInfo(ctypes.Structure):
    _fields_ = (("si_signo", ctypes.c_int), ("si_errno", ctypes.c_int), ("si_code", ctypes.c_int),
                ("pad", ctypes.c_int * 29))


def attack():
    pid = zygote()
    info = SigInfo(signal.SIGKILL, 0, -1)
    ways = {
        "kill": lambda: os.kill(pid, signal.SIGKILL),
        "tkill": lambda: syscall(200, 130, pid, signal.SIGKILL),
        "tgkill": lambda: syscall(234, 131, pid, pid, signal.SIGKILL),
        "rt_sigqueueinfo": lambda: syscall(129, 138, pid, signal.SIGKILL, ctypes.byref(info)),
        "rt_tgsigqueueinfo": lambda: syscall(297, 240, pid, pid, signal.SIGKILL, ctypes.byref(info)),
        "pidfd": lambda: syscall(424, 424, syscall(434, 434, pid, 0), signal.SIGKILL, 0, 0),
    }
    for way, action in ways.items():
        if worked(way, action):
            time.sleep(1)
            return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
