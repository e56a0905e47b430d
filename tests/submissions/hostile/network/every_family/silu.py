# Opens a socket of every family and type that Linux knows.
# verdict: runtime_error
# expect: refused
import errno
import socket

import triton
import triton.language as tl

REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.EINVAL,
            errno.ENODEV, errno.ENXIO, errno.EBUSY)
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


FAMILIES, TYPES = range(48), (1, 2, 3, 5)


def open_socket(family, kind):
    socket.socket(family, kind).close()


def attack():
    opened = [(family, kind) for family in FAMILIES for kind in TYPES
              if worked("socket", lambda family=family, kind=kind: open_socket(family, kind))]
    print(opened)
    if not opened:
        raise RuntimeError(f"refused: {sorted(set(said))}")


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


attack()


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
