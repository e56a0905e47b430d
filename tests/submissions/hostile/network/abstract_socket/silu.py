# Listens on a socket that has a name but no file, for another student's worker to find.
# verdict: runtime_error
# expect: refused
import errno
import socket
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.ECONNREFUSED,
            errno.EADDRINUSE)
# shared: worked
NAME = "\0kernelmark-hostile"


def meet():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(NAME)
        server.listen()
        client.connect(NAME)


def attack():
    if worked("abstract", meet):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
