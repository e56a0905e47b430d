# Becomes root, or another user, by the calls that are for that.
# verdict: runtime_error
# expect: refused
import errno
import os

import triton
import triton.language as tl

REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EINVAL)
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
        worked("setuid 0", lambda: os.setuid(0)) if os.getuid() else False,
        worked("setresuid", lambda: os.setresuid(65533, 65533, 65533)),
        worked("setgroups", lambda: os.setgroups([0])),
        worked("setgid", lambda: os.setgid(65533)),
        worked("chown", lambda: os.chown(".", 65533, 65533)),
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
