# Speaks to the host of the virtual machine, which no network namespace stops.
# verdict: runtime_error
# expect: refused
import errno
import socket
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.ENODEV,
            errno.EINVAL)
# shared: worked
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
# shared: attacks
