# Opens raw and packet sockets, to forge and to listen.
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


ETH_P_ALL = 3


def open_socket(*arguments):
    socket.socket(*arguments).close()


def attack():
    tries = [
        worked("ICMP", lambda: open_socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)),
        worked("ping", lambda: open_socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)),
        worked("packet", lambda: open_socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))),
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
