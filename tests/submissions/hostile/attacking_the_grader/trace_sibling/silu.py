# Traces a worker of another lane, or failing that a child of its own, as a way to its memory.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
import sys
import time
from pathlib import Path
# shared: and_triton
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


# shared: fork
def syscall(x86_64, aarch64, *arguments):
    number = x86_64 if os.uname().machine == "x86_64" else aarch64
    answer = libc.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"system call {number}")
    return answer


REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
# shared: zygote
PTRACE_SEIZE = 0x4206


def siblings():
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (os.getpid(), os.getppid()):
            try:
                if b"grader.sandbox.forkserver.server" in Path(f"/proc/{name}/cmdline").read_bytes():
                    yield int(name)
            except OSError:
                continue


def attack():
    try:
        others = list(siblings())[:8]
    except OSError as error:
        said.append(f"/proc {errno.errorcode[error.errno]}")
        others = []
    try:
        child = fork()
    except OSError as error:
        said.append(f"fork {errno.errorcode[error.errno]}")
        child = -1
    if child == 0:
        try:
            time.sleep(1)
        finally:
            os._exit(0)
    for pid in [*others, child]:
        # It lets go of whom it traces when it ends.
        if pid > 0 and worked(f"ptrace {pid}", lambda pid=pid: syscall(101, 117, PTRACE_SEIZE, pid, 0, 0)):
            return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: tells_of_attack
