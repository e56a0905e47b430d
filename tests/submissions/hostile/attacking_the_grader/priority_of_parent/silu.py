# Sets the parent's priority, processors and memory nodes (to what they are).
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
import sys
from pathlib import Path

import triton
import triton.language as tl

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def syscall(x86_64, aarch64, *arguments):
    number = x86_64 if os.uname().machine == "x86_64" else aarch64
    answer = libc.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"system call {number}")
    return answer


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


def zygote():
    """The parent, if it is the grader's: this process was forked from it. Raises where none is in sight."""
    pid = os.getppid()
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        words = b"grader.engine.forkserver.server" if "grader.engine.forkserver.server" in sys.modules and pid > 0 else b""
    if b"grader.engine.forkserver.server" not in words:
        raise RuntimeError("refused: no process of the grader is in sight")
    return pid


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


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


attack()


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
