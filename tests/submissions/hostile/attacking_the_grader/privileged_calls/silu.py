# Sets the clock to its time and the host to its name, reads the kernel's log, ends a swap.
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


CLOCK_REALTIME, SYSLOG_READ_ALL, ADDR_NO_RANDOMIZE = 0, 3, 0x40000


class Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def set_clock():
    now = time.time_ns()
    syscall(227, 112, CLOCK_REALTIME, ctypes.byref(Timespec(now // 10**9, now % 10**9)))


def attack():
    name = os.uname().nodename.encode()
    text = ctypes.create_string_buffer(64)
    tries = [
        worked("clock_settime", set_clock),
        worked("sethostname", lambda: syscall(170, 161, name, len(name))),
        worked("syslog", lambda: syscall(103, 116, SYSLOG_READ_ALL, text, 64)),
        worked("swapoff", lambda: syscall(168, 225, b"/kernelmark-hostile-no-such-file")),
        worked("delete_module", lambda: syscall(176, 106, b"kernelmark_hostile", 0)),
        worked("personality", lambda: syscall(135, 92, ADDR_NO_RANDOMIZE)),
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
