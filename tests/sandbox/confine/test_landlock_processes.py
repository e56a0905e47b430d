"""Landlock keeps a process from reading, signalling and calling others, which it could do without."""

import array
import contextlib
import ctypes
import os
import signal
import socket
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.confine.restricted import (
    NOBODY,
    REFUSED,
    Place,
    attempt,
    checked,
    in_child,
    libc,
    long,
    needs_landlock,
    outcome,
)

# prctl(2), ptrace(2)
PR_SET_DUMPABLE, PR_SET_PTRACER = 4, 0x59616D61
PTRACE_SEIZE = 0x4206


def of_parent(name: str) -> Path:
    return Path(f"/proc/{os.getppid()}/{name}")


def seize_parent() -> None:
    checked(libc.ptrace(long(PTRACE_SEIZE), long(os.getppid()), long(0), long(0)))


# At the same address in a parent and its fork.
BUFFER = array.array("B", b"sixteen bytes...")


class Vector(ctypes.Structure):
    """struct iovec of process_vm_readv(2)."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def read_memory_of_parent() -> None:
    descriptor = os.open(of_parent("mem"), os.O_RDWR)
    assert os.pread(descriptor, 16, BUFFER.buffer_info()[0]) == BUFFER.tobytes()
    os.close(descriptor)


def copy_memory_of_parent() -> None:
    copy = array.array("B", bytes(16))
    local, remote = (Vector(buffer.buffer_info()[0], 16) for buffer in (copy, BUFFER))
    checked(libc.process_vm_readv(
        os.getppid(), ctypes.byref(local), ctypes.c_ulong(1), ctypes.byref(remote), ctypes.c_ulong(1), ctypes.c_ulong(0)
    ))
    assert copy == BUFFER


PEEKS: dict[str, Callable[[], Any]] = {
    "mem": read_memory_of_parent,
    "process_vm_readv": copy_memory_of_parent,
    "environ": lambda: of_parent("environ").read_bytes(),
    "maps": lambda: of_parent("maps").read_bytes(),
    "auxv": lambda: of_parent("auxv").read_bytes(),
    "fd": lambda: of_parent("fd/0").readlink(),
    "opening fd": lambda: os.close(os.open(of_parent("fd/0"), os.O_PATH)),
    "cwd": lambda: of_parent("cwd").readlink(),
    "root": lambda: os.listdir(of_parent("root")),
    "ptrace": seize_parent,
}


def from_a_child(place: Place, action: Callable[[], Any], *, restricted: bool) -> str:
    """How `action` against its parent ends for a process of the same user."""

    def attacker() -> str:
        if restricted:
            place.restrict()
        return outcome(action)

    def parent() -> Any:
        # As root become another user, whose processes can be traced and read like anybody's.
        if os.getuid() == 0:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        # A change of uid takes this away, which would refuse what Landlock is to refuse.
        checked(libc.prctl(PR_SET_DUMPABLE, long(1), long(0), long(0), long(0)))
        # Where Yama lets only ancestors trace. Elsewhere it does not know the option.
        libc.prctl(PR_SET_PTRACER, long(-1), long(0), long(0), long(0))
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        return in_child(attacker)

    answer: str = in_child(parent)
    return answer


@needs_landlock
@pytest.mark.parametrize("name", PEEKS)
@pytest.mark.parametrize("proc", [False, True], ids=["without /proc", "with /proc"])
def test_a_process_outside_cannot_be_read(name: str, proc: bool) -> None:
    place = Place.none()
    place.extra = ["/proc"] if proc else []
    control = from_a_child(place, PEEKS[name], restricted=False)
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    if control in REFUSED and scope.exists() and int(scope.read_text()) >= 2:
        pytest.skip(f"refused here without Landlock too: {control}")
    assert control == "ok"
    assert from_a_child(place, PEEKS[name], restricted=True) in REFUSED


@contextlib.contextmanager
def listener(family: socket.AddressFamily, address: Any) -> Iterator[Any]:
    with socket.socket(family) as server:
        server.bind(address)
        server.listen()
        yield server.getsockname()


def connect(family: socket.AddressFamily, address: Any) -> None:
    with socket.socket(family) as client:
        client.settimeout(5)
        client.connect(address)


def bind(family: socket.AddressFamily, address: Any) -> None:
    with socket.socket(family) as server:
        server.bind(address)


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
@pytest.mark.parametrize("action", [connect, bind])
def test_no_tcp(action: Callable[[Any, Any], None], family: Any, reported: int, place: Place) -> None:
    loopback = "127.0.0.1" if family == socket.AF_INET else "::1"
    try:
        bind(family, (loopback, 0))
    except OSError as error:
        pytest.skip(f"no such loopback here: {error}")
    with listener(family, (loopback, 0)) as address:
        target = address if action is connect else (loopback, 0)
        assert attempt(place, lambda at: action(family, target), restricted=False) == "ok"
        result = attempt(place, lambda at: action(family, target), restricted=True)
    assert result == ("EACCES" if reported >= 4 else "ok")


def test_no_abstract_socket_of_another(reported: int, place: Place) -> None:
    with listener(socket.AF_UNIX, f"\0{uuid.uuid4()}") as address:
        assert attempt(place, lambda at: connect(socket.AF_UNIX, address), restricted=False) == "ok"
        result = attempt(place, lambda at: connect(socket.AF_UNIX, address), restricted=True)
    assert result == ("EPERM" if reported >= 6 else "ok")


@pytest.mark.parametrize("number", [0, signal.SIGWINCH])
def test_no_signal_to_another(number: int, reported: int) -> None:
    place = Place.none()
    # SIGWINCH is ignored by whoever does not ask for it.
    action = lambda: os.kill(os.getppid(), number)  # noqa: E731
    assert from_a_child(place, action, restricted=False) == "ok"
    assert from_a_child(place, action, restricted=True) == ("EPERM" if reported >= 6 else "ok")
