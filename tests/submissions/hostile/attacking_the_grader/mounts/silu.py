# Mounts a tmpfs, a /proc and its own folder inside that, by the old calls and the new; takes them away again.
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


MS_BIND, MNT_DETACH, OPEN_TREE_CLONE, AT_FDCWD = 4096, 2, 1, -100


def mount(kind, source, flags):
    os.makedirs("kernelmark-hostile", exist_ok=True)
    syscall(165, 40, source, b"kernelmark-hostile", kind, flags, 0)
    syscall(166, 39, b"kernelmark-hostile", MNT_DETACH)


def attack():
    tries = [
        worked("tmpfs", lambda: mount(b"tmpfs", b"none", 0)),
        worked("proc", lambda: mount(b"proc", b"none", 0)),
        worked("bind", lambda: mount(b"", b".", MS_BIND)),
        worked("fsopen", lambda: syscall(430, 430, b"tmpfs", 0)),
        worked("open_tree", lambda: syscall(428, 428, AT_FDCWD, b".", OPEN_TREE_CLONE)),
        worked("umount", lambda: syscall(166, 39, b"/kernelmark-hostile", 0)),
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
