"""Audit hook that refuses programs, processes and the network, with the line that asks. The sandbox refuses them, too.
"""

from __future__ import annotations

import errno
import re
import sys
from types import FrameType

from grader.host.record import Session
from grader.plan.messages import Refusal

# Python's audit events: see its table of them.
_EVENTS: dict[str, Refusal] = {
    **dict.fromkeys((
        "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen",
        "pty.spawn"), "process"),
    **dict.fromkeys((
        "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto",
        "urllib.Request", "http.client.connect", "ftplib.connect", "smtplib.connect"), "network"),
}  # fmt: skip


# Libraries that would allocate a GPU's memory without PyTorch.
_DRIVERS = re.compile(r"cuda|nvrtc|cublas")


def install(session: Session) -> None:
    def hook(event: str, args: tuple[object, ...]) -> None:
        driver = event == "ctypes.dlopen" and _DRIVERS.search(str(args[0]))
        if driver and session.line() and not _imported(sys._getframe(1), session.file):
            raise OSError(f"{str(args[0])[:100]} is not there for host code: allocate with torch.empty")
        why = _EVENTS.get(event)
        if why is not None and session.line():
            if _imported(sys._getframe(1), session.file):
                # A library asks during its import, not the student; the library can do without.
                raise PermissionError(errno.EPERM, event)
            session.refuse(why, event)

    sys.addaudithook(hook)


def _imported(frame: FrameType | None, file: str) -> bool:
    """Return whether an import lies between a frame and the student's file on the stack."""
    while frame is not None and frame.f_code.co_filename != file:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
