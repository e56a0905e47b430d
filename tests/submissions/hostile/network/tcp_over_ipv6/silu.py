# Connects to itself over IPv6, and to an IPv4 address by way of it.
# verdict: runtime_error
# expect: refused
import errno
import socket
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL)
# shared: worked
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
# shared: attacks
