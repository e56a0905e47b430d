# Makes the device node of the disk that holds /, and those of memory, in its own folder.
# verdict: runtime_error
# expect: refused
import errno
import os
import stat

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


def make(kind, device):
    os.mknod("kernelmark-hostile", kind | 0o600, device)
    os.unlink("kernelmark-hostile")


def attack():
    tries = [
        worked("disk", lambda: make(stat.S_IFBLK, os.stat("/").st_dev or os.makedev(8, 0))),
        worked("memory", lambda: make(stat.S_IFCHR, os.makedev(1, 1))),
        worked("null", lambda: make(stat.S_IFCHR, os.makedev(1, 3))),
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
