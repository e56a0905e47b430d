# Asks the kernel for its network devices.
# verdict: runtime_error
# expect: refused
import errno
import socket
import struct
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL)
# shared: worked
RTM_GETLINK, NLM_F_REQUEST_DUMP = 18, 0x301


def ask():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as one:
        one.bind((0, 0))
        one.send(struct.pack("IHHIIB3xiII", 32, RTM_GETLINK, NLM_F_REQUEST_DUMP, 1, 0, 0, 0, 0, 0))
        one.settimeout(0.5)
        one.recv(65536)


def attack():
    if worked("netlink", ask):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
