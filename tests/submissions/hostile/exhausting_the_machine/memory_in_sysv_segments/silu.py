# Keeps memory in SysV segments, which outlive their maker: 24 of 16 MiB; takes them away again.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
import time

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


REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.ENOMEM, errno.ENOSPC)
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


SEGMENTS, SIZE, IPC_RMID = 24, 16 << 20, 0


def attack():
    made = []
    libc.shmat.restype = ctypes.c_void_p
    libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
    libc.shmdt.argtypes = (ctypes.c_void_p,)

    def fill():
        made.append(syscall(29, 194, 0, SIZE, 0o1600))
        where = libc.shmat(made[-1], None, 0)
        if where == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "shmat")
        ctypes.memset(where, 1, SIZE)
        libc.shmdt(where)

    try:
        if not all(worked("shmget", fill) for _ in range(SEGMENTS)):
            raise RuntimeError(f"refused: {', '.join(said)} after {len(made)}")
        time.sleep(1)
    finally:
        for segment in made:
            syscall(31, 195, segment, IPC_RMID, 0)


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


try:
    attack()
except Exception as error:
    failed = error
else:
    failed = None


def silu(x, out):
    if failed is not None:
        raise failed
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
