"""The probe: tries what no submission may do, inside the sandbox that submissions get, and reports what worked.

An attempt that works does no harm: it reads, asks, or makes something that ends with this worker.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.plan import wire

_libc = ctypes.CDLL(None, use_errno=True)
_PTRACE_SEIZE = 0x4206
_CLONE_NEWUSER = 0x10000000
_IPC_PRIVATE, _IPC_RMID = 0, 0


def answer(request: wire.Probe) -> wire.Probed:
    """Return the names of the `ATTEMPTS` that worked, and the first failure of an action that a submission needs."""
    managed = []
    for name, attempt in ATTEMPTS.items():
        with contextlib.suppress(OSError):
            if attempt(request):
                managed.append(name)
    return wire.Probed(seq=request.seq, managed=managed, trouble=_trouble(request))


# `grader.sandbox.forkserver.isolation` names the attempts that each level refuses.
ATTEMPTS: dict[str, Callable[[wire.Probe], object]] = {
    "read a file of the grader's": lambda request: Path(request.secret).read_bytes(),
    "read the course's files": lambda request: Path(request.course).read_bytes(),
    "read submissions and results": lambda request: any(
        _tried(Path(os.fsdecode(bytes.fromhex(name))).read_bytes) for name in request.withheld),
    "see the grader's folders": lambda request: Path(request.secret).parent.exists(),
    "write a file outside": lambda request: Path(request.target).write_text("written by a worker"),
    "signal a process outside": lambda request: any(_tried(os.kill, pid, 0) for pid in _other_processes()),
    "see processes outside": lambda request: [*_other_processes()],
    "trace a process outside": lambda request: _managed_in_a_child(
        lambda: any(_libc.ptrace(_PTRACE_SEIZE, pid, None, None) == 0 for pid in _other_processes())),
    "read a process outside": lambda request: any(
        _tried(Path(f"/proc/{pid}/environ").read_bytes) for pid in _other_processes()),
    "connect to a port": lambda request: _connect(socket.AF_INET, ("127.0.0.1", request.port)),
    "connect to a local socket": lambda request: _connect(socket.AF_UNIX, f"\0{request.socket}"),
    "open a network socket": lambda request: _connect(socket.AF_INET, None, socket.SOCK_DGRAM),
    "make memory that outlives it": lambda request: _lasting_memory(),
    "make a namespace": lambda request: _managed_in_a_child(lambda: _libc.unshare(_CLONE_NEWUSER) == 0),
    "act as root": lambda request: _listed_as_root(),
}


def _managed_in_a_child(attempt: Callable[[], bool]) -> bool:
    # The child ends at once: a process that it traces and never stopped is released only when its tracer ends.
    child = os.fork()
    if child == 0:
        os._exit(0 if attempt() else 1)
    return os.waitpid(child, 0)[1] == 0


def _connect(family: int, address: tuple[str, int] | str | None, kind: int = socket.SOCK_STREAM) -> bool:
    """Open a socket, and connect it if there is an address."""
    with socket.socket(family, kind) as opened:
        opened.settimeout(1)
        if address is not None:
            opened.connect(address)
        return True


def _listed_as_root() -> list[str]:
    os.setresuid(0, 0, 0)
    return os.listdir("/root")


def _lasting_memory() -> bool:
    number = _libc.shmget(_IPC_PRIVATE, 4096, 0o600)
    if number < 0:
        return False
    _libc.shmctl(number, _IPC_RMID, None)
    return True


def _other_processes() -> Iterator[int]:
    """Return the processes outside the sandbox whose numbers can be seen.

    A parent with the number 1 is the first process of the worker's own namespace, and so part of the sandbox.
    """
    numbers = {int(name) for name in _listed("/proc") if name.isdigit()} | {os.getppid()}
    yield from numbers - {0, os.getpid()} - ({1} if os.getppid() == 1 else set())


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _tried(attempt: Callable[..., object], *arguments: object) -> bool:
    try:
        attempt(*arguments)
    except OSError:
        return False
    return True


def _trouble(request: wire.Probe) -> str:
    """Return the first failure among the things that an honest submission and its libraries do; "" if there is none."""
    try:
        for name in request.needed:
            with Path(name).open("rb") as file:
                file.read(1)
        Path("a file of its own").write_text("fine")
        Path("a file of its own").unlink()
        Path("/proc/cpuinfo").read_bytes()
        Path("/proc/self/maps").read_bytes()
    except OSError as error:
        return str(error)
    return ""

