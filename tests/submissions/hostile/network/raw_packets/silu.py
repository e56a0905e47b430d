# Opens raw and packet sockets, to forge and to listen.
# verdict: runtime_error
# expect: refused
import errno
import socket
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL)
# shared: worked
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
# shared: attacks
