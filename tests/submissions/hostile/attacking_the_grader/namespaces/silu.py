# Makes namespaces of its own, in which it would be root; and enters those of the parent.
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


REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EINVAL, errno.ENOSPC,
            errno.EUSERS)
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


FLAGS = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000,
         "uts": 0x4000000, "cgroup": 0x2000000}
SIGCHLD = 17


def enter(name):
    descriptor = os.open(f"/proc/{os.getppid()}/ns/{name}", os.O_RDONLY)
    syscall(308, 268, descriptor, 0)


def clone(flag):
    if syscall(56, 220, flag | SIGCHLD, 0, 0, 0, 0) == 0:
        os._exit(0)


def attack():
    tries = [worked(f"setns {name}", lambda name=name: enter(name)) for name in ("mnt", "pid", "net", "user")]
    tries += [worked(f"clone {name}", lambda flag=flag: clone(flag)) for name, flag in FLAGS.items()]
    tries += [worked(f"unshare {name}", lambda flag=flag: syscall(272, 97, flag)) for name, flag in FLAGS.items()]
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
