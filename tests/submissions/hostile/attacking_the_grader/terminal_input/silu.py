# Types into a terminal: its own, to be harmless, or whatever stands on its descriptors.
# verdict: runtime_error
# expect: refused
import errno
import fcntl
import os
import termios

import triton
import triton.language as tl

REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.ENOTTY, errno.EIO, errno.ENXIO,
            errno.ENODEV)
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


def type_into(descriptor):
    fcntl.ioctl(descriptor, termios.TIOCSTI, b" ")


def own_terminal():
    _, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    type_into(terminal)


def attack():
    tries = [worked(f"descriptor {number}", lambda number=number: type_into(number)) for number in range(4)]
    tries += [worked("own terminal", own_terminal)]
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
