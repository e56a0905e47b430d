# Connects to the sockets of the host's services: Docker, D-Bus, systemd, X, the log.
# verdict: runtime_error
# expect: refused
import errno
import socket
from pathlib import Path
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
            errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.EPROTOTYPE,
            errno.ECONNREFUSED, errno.ENOTDIR)
# shared: worked
NAMES = ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket",
         "/run/systemd/private", "/run/systemd/journal/socket", "/tmp/.X11-unix/X0", "/dev/log", "kernelmark-hostile")


def named():
    try:
        words = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    except OSError as error:
        said.append(f"/proc/net/unix {errno.errorcode[error.errno]}")
        return []
    return [row[7] for row in words if len(row) > 7 and row[7].startswith("/")][:16]


def connect(name, kind):
    with socket.socket(socket.AF_UNIX, kind) as one:
        one.settimeout(0.5)
        one.connect(name)


def own():
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(NAMES[-1])
        server.listen()
        connect(NAMES[-1], socket.SOCK_STREAM)


def attack():
    tries = [worked("own", own)]
    for name in (*NAMES[:-1], *named()):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            tries.append(worked(name, lambda name=name, kind=kind: connect(name, kind)))
    if not any(tries):
        raise RuntimeError(f"refused: {sorted(set(said))}")
# shared: attacks
