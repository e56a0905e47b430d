# Takes the machine for itself: real-time scheduling, and memory that is never paged out.
# verdict: runtime_error
# expect: refused
import errno
import os
import resource

import triton
import triton.language as tl

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


def attack():
    tries = [
        worked("SCHED_FIFO", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
        worked("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -20)),
        worked("NOFILE", lambda: resource.prlimit(0, resource.RLIMIT_NOFILE, (1 << 19, 1 << 19))),
        worked("NPROC", lambda: resource.prlimit(0, resource.RLIMIT_NPROC, (1 << 19, 1 << 19))),
        worked("FSIZE", lambda: resource.prlimit(0, resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))),
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
