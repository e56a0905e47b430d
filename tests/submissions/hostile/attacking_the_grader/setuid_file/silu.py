# Leaves a program behind that gives whoever runs it the rights of its maker.
# verdict: runtime_error
# expect: refused
import errno
import os

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


def by_chmod():
    with open("kernelmark-hostile", "w") as file:
        os.fchmod(file.fileno(), 0o6755)


def by_umask():
    os.umask(0)
    os.close(os.open("kernelmark-hostile-2", os.O_CREAT | os.O_WRONLY, 0o6755))
    os.chmod("kernelmark-hostile-2", 0o6755)


def attack():
    if any([worked("fchmod", by_chmod), worked("chmod", by_umask)]):
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
