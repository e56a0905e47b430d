# Listens on loopback and connects to itself, and to whatever else listens there.
# verdict: runtime_error
# expect: refused
import errno
import socket
from pathlib import Path

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


def listening():
    try:
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    except OSError as error:
        said.append(f"/proc/net/tcp {errno.errorcode[error.errno]}")
        return []
    return [int(row[1].partition(":")[2], 16) for row in rows if row[3] == "0A"][:8]


def connect(port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        one.settimeout(0.5)
        one.connect(("127.0.0.1", port))


def own():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        connect(server.getsockname()[1])


def attack():
    if any([worked("own", own), *(worked(f"port {port}", lambda port=port: connect(port)) for port in listening())]):
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
