# Keeps data in the kernel's keyrings, for a later worker to find.
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


KEY_SPEC_PROCESS_KEYRING, KEY_SPEC_SESSION_KEYRING, KEYCTL_GET_KEYRING_ID = -2, -3, 0


def attack():
    key = (b"user", b"kernelmark-hostile", b"x", 1, KEY_SPEC_PROCESS_KEYRING)
    tries = [
        worked("add_key", lambda: syscall(248, 217, *key)),
        worked("keyctl", lambda: syscall(250, 219, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1)),
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
