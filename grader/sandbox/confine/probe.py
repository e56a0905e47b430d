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


def _read_secret(request: wire.Probe) -> bool:
    return bool(Path(request.secret).read_bytes())


def _read_course(request: wire.Probe) -> bool:
    return bool(Path(request.course).read_bytes())


def _read_withheld(request: wire.Probe) -> bool:
    return any(_tried(Path(os.fsdecode(bytes.fromhex(name))).read_bytes) for name in request.withheld)


def _see_secret(request: wire.Probe) -> bool:
    return Path(request.secret).parent.exists()


def _write_file(request: wire.Probe) -> bool:
    Path(request.target).write_text("written by a worker")
    return True


def _signal_others(request: wire.Probe) -> bool:
    return any(_tried(os.kill, pid, 0) for pid in _others())


def _see_others(request: wire.Probe) -> bool:
    return any(True for _ in _others())


def _trace_others(request: wire.Probe) -> bool:
    # The child traces and ends at once: a process that was never stopped is released only when its tracer ends.
    child = os.fork()
    if child == 0:
        os._exit(0 if any(_libc.ptrace(_PTRACE_SEIZE, pid, None, None) == 0 for pid in _others()) else 1)
    return os.waitpid(child, 0)[1] == 0


def _read_others(request: wire.Probe) -> bool:
    return any(_tried(Path(f"/proc/{pid}/environ").read_bytes) for pid in _others())


def _connect(request: wire.Probe) -> bool:
    with socket.create_connection(("127.0.0.1", request.port), timeout=1):
        return True


def _connect_abstract(request: wire.Probe) -> bool:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(f"\0{request.socket}")
        return True


def _any_socket(request: wire.Probe) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM):
        return True


def _lasting_memory(request: wire.Probe) -> bool:
    number = _libc.shmget(_IPC_PRIVATE, 4096, 0o600)
    if number < 0:
        return False
    _libc.shmctl(number, _IPC_RMID, None)
    return True


def _new_namespace(request: wire.Probe) -> bool:
    pid = os.fork()
    if pid == 0:
        os._exit(0 if _libc.unshare(_CLONE_NEWUSER) == 0 else 1)
    return os.waitpid(pid, 0)[1] == 0


def _regain_user(request: wire.Probe) -> bool:
    os.setresuid(0, 0, 0)
    return bool(os.listdir("/root"))


# `grader.sandbox.forkserver.isolation` names the attempts that each level refuses.
ATTEMPTS: dict[str, Callable[[wire.Probe], bool]] = {
    "read a file of the grader's": _read_secret,
    "read the course's files": _read_course,
    "read submissions and results": _read_withheld,
    "see the grader's folders": _see_secret,
    "write a file outside": _write_file,
    "signal a process outside": _signal_others,
    "see processes outside": _see_others,
    "trace a process outside": _trace_others,
    "read a process outside": _read_others,
    "connect to a port": _connect,
    "connect to a local socket": _connect_abstract,
    "open a network socket": _any_socket,
    "make memory that outlives it": _lasting_memory,
    "make a namespace": _new_namespace,
    "act as root": _regain_user,
}


def _others() -> Iterator[int]:
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

