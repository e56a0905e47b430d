# Sends from one end of a pair of datagram sockets to sockets that have a path.
# verdict: runtime_error
# expect: refused
import errno
import socket
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.EISCONN)
# shared: worked
def send():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for name in ("/run/systemd/journal/socket", "/dev/log", "\0kernelmark-hostile"):
        try:
            ours.sendto(b"", name)
        except (FileNotFoundError, ConnectionRefusedError):
            print(name, "is not there; one that is would have been reached")


def attack():
    if worked("socketpair", send):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
