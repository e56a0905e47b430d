# Opens files by handle, past every folder that would stop it: the root of the disk.
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


REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EOPNOTSUPP, errno.ESTALE)
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


AT_FDCWD = -100


class Handle(ctypes.Structure):
    _fields_ = (("size", ctypes.c_uint), ("kind", ctypes.c_int), ("data", ctypes.c_ubyte * 128))


def open_handle(name):
    handle, mount = Handle(128), ctypes.c_int()
    syscall(303, 264, AT_FDCWD, name, ctypes.byref(handle), ctypes.byref(mount), 0)
    folder = os.open(name, os.O_RDONLY)
    os.close(syscall(304, 265, folder, ctypes.byref(handle), os.O_RDONLY))


def open_root():
    folder = os.open(".", os.O_RDONLY)
    handle = Handle(8, 1, (ctypes.c_ubyte * 128)(2))
    os.close(syscall(304, 265, folder, ctypes.byref(handle), os.O_RDONLY))


def attack():
    tries = [worked(name.decode(), lambda name=name: open_handle(name)) for name in (b"/", b"/etc", b".")]
    tries += [worked("inode 2", open_root)]
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
