# Asks for a BPF map, a performance counter, an io_uring and faults in user space.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os

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


BPF_MAP_CREATE, BPF_MAP_TYPE_ARRAY = 0, 2
PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK = 1, 0


def attack():
    array = (ctypes.c_uint32 * 32)(BPF_MAP_TYPE_ARRAY, 4, 4, 1)
    counter = (ctypes.c_uint32 * 32)(PERF_TYPE_SOFTWARE, 128, PERF_COUNT_SW_CPU_CLOCK)
    ring = (ctypes.c_uint32 * 64)()
    tries = [
        worked("bpf", lambda: syscall(321, 280, BPF_MAP_CREATE, array, 72)),
        worked("perf_event_open", lambda: syscall(298, 241, counter, 0, -1, -1, 0)),
        worked("io_uring_setup", lambda: syscall(425, 425, 1, ring)),
        worked("userfaultfd", lambda: syscall(323, 282, 1)),
        worked("fanotify_init", lambda: syscall(300, 262, 0, 0)),
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
