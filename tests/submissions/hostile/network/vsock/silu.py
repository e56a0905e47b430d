# Speaks to the host of the virtual machine, which no network namespace stops.
# verdict: runtime_error
# expect: refused
import errno
import socket

import triton
import triton.language as tl

REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.ENODEV,
            errno.EINVAL)
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


def speak():
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as one:
        one.settimeout(0.5)
        try:
            one.connect((socket.VMADDR_CID_HOST, 1))
        except (ConnectionError, TimeoutError):
            print("the host answered")


def attack():
    if worked("vsock", speak):
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
