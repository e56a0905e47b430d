# Listens on loopback and connects to itself, and to whatever else listens there.
# verdict: runtime_error
# expect: refused
import errno
import socket
from pathlib import Path
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL)
# shared: worked
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
# shared: attacks
