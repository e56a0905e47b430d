# Sends a packet to itself, and one to each name server, with what it would tell.
# verdict: runtime_error
# expect: refused
import errno
import socket
from pathlib import Path
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL)
# shared: worked
def own():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        one.sendto(b"kernelmark-hostile", one.getsockname())


def ask(server):
    question = b"\x00\x01\x01\x00\x00\x01" + bytes(6) + b"\x12kernelmark-hostile\x07invalid\x00\x00\x01\x00\x01"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(question, (server, 53))


def servers():
    try:
        lines = [line.split() for line in Path("/etc/resolv.conf").read_text().splitlines()]
    except OSError as error:
        said.append(f"resolv.conf {errno.errorcode[error.errno]}")
        return []
    return [words[1] for words in lines if words[:1] == ["nameserver"] and ":" not in words[1]]


def attack():
    if any([worked("own", own), *(worked(server, lambda server=server: ask(server)) for server in servers())]):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
