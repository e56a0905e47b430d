# Opens a socket of every family and type that Linux knows.
# verdict: runtime_error
# expect: refused
import errno
import socket
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.EINVAL,
            errno.ENODEV, errno.ENXIO, errno.EBUSY)
# shared: worked
FAMILIES, TYPES = range(48), (1, 2, 3, 5)


def open_socket(family, kind):
    socket.socket(family, kind).close()


def attack():
    opened = [(family, kind) for family in FAMILIES for kind in TYPES
              if worked("socket", lambda family=family, kind=kind: open_socket(family, kind))]
    print(opened)
    if not opened:
        raise RuntimeError(f"refused: {sorted(set(said))}")
# shared: attacks
