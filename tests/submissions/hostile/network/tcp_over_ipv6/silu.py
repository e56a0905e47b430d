# Connects to itself over IPv6, and to an IPv4 address by way of it.
# verdict: runtime_error
# expect: refused
import errno
import socket

import triton
import triton.language as tl

REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL)
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


def meet(family, listening, connecting):
    with socket.create_server((listening, 0), family=family) as server, socket.socket(socket.AF_INET6) as client:
        client.settimeout(0.5)
        client.connect((connecting, server.getsockname()[1]))


def attack():
    tries = [
        worked("::1", lambda: meet(socket.AF_INET6, "::1", "::1")),
        worked("mapped", lambda: meet(socket.AF_INET, "127.0.0.1", "::ffff:127.0.0.1")),
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
