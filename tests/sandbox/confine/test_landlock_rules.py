"""Landlock's rules hold for good and for every thread; what a kernel lacks of it is left out, or said."""

import ctypes
import errno
import os
import platform
import re
import socket
import struct
import threading
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.confine import landlock
from tests.sandbox.confine.restricted import (
    CLONE_NEWNS,
    CLONE_NEWUSER,
    Place,
    checked,
    in_child,
    libc,
    long,
    needs_landlock,
    outcome,
    private_mounts,
    read,
)

# prctl(2), seccomp(2), unshare(2), mount(2)
PR_GET_NO_NEW_PRIVS, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 39, 38, 22, 2
CLONE_NEWPID = 0x20000000
MS_REMOUNT = 0x20


@needs_landlock
def test_it_cannot_be_lifted(place: Place) -> None:
    def body() -> str:
        place.restrict()
        landlock.restrict(read=["/"], write=["/"], devices=["/"], execute=True)
        return outcome(lambda: read(place.outside / "file"))

    assert in_child(body) == "EACCES"


@needs_landlock
def test_it_leaves_no_descriptor_and_no_new_privileges(place: Place) -> None:
    def body() -> tuple[bool, int]:
        place.extra = ["/nowhere", "/dev/null/nothing", str(place.outside / "file")]
        # Opened before: nothing of /proc is among the paths.
        descriptors = os.open("/proc/self/fd", os.O_RDONLY)
        before = os.listdir(descriptors)
        place.restrict()
        os.lseek(descriptors, 0, os.SEEK_SET)
        return os.listdir(descriptors) == before, libc.prctl(PR_GET_NO_NEW_PRIVS, *(long(0),) * 4)

    assert in_child(body) == [True, 1]


@needs_landlock
@pytest.mark.parametrize("name", ["self/status", "cpuinfo"])
def test_rules_on_proc_outlive_what_the_kernel_forgets(name: str) -> None:
    """A procfs of the test's own is mounted anew, which makes the kernel forget every name not in use."""
    ours, theirs = socket.socketpair()

    def worker() -> list[str]:
        landlock.restrict(read=["/proc/self", "/proc/cpuinfo"], write=[], execute=False)
        before = outcome((Path("/proc") / name).read_bytes)
        theirs.send(b"?")
        assert theirs.recv(1) == b"0", "not mounted anew"
        return [before, outcome((Path("/proc") / name).read_bytes)]

    def forget() -> None:
        ours.recv(1)
        ours.send(b"0" if libc.mount(None, b"/proc", None, long(MS_REMOUNT), None) == 0 else b"1")

    def keeper() -> Any:
        private_mounts()
        if libc.mount(b"proc", b"/proc", b"proc", long(0), None) != 0:
            return None
        threading.Thread(target=forget, daemon=True).start()
        return in_child(worker)

    def body() -> Any:
        # The next child is the first process of a new pid namespace.
        return None if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) != 0 else in_child(keeper)

    with ours, theirs:
        answers = in_child(body)
    if answers is None:
        pytest.skip("no namespaces with a procfs of their own here")
    assert answers == ["ok", "ok"]


@needs_landlock
def test_what_fails_restricts_nothing_and_leaves_no_descriptor(place: Place) -> None:
    (place.inside / "loop").symlink_to("loop")
    place.extra = ["/proc/self", str(place.inside / "loop")]

    def body() -> list[Any]:
        before = os.listdir("/proc/self/fd")
        answer = outcome(place.restrict)
        return [answer, os.listdir("/proc/self/fd") == before, outcome(lambda: read(place.outside / "file"))]

    assert in_child(body) == ["ELOOP", True, "ok"]


def test_one_path_is_not_a_list_of_letters() -> None:
    for wrong in ({"read": "/usr"}, {"write": "/usr"}, {"devices": "/usr"}):
        arguments: dict[str, Any] = {"read": [], "write": [], "execute": False} | wrong
        with pytest.raises(TypeError):
            landlock.restrict(**arguments)


@needs_landlock
@pytest.mark.parametrize(("table", "since"), [("SCOPES", 6), ("FILES", 5), ("TCP", 4), ("FILES", 3)])
def test_it_steps_down_where_the_kernel_does_not_know_a_right(
    table: str, since: int, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    if landlock.abi() < since:
        pytest.skip(f"the kernel offers Landlock ABI {landlock.abi()}")
    # A right that no kernel knows: it answers EINVAL.
    monkeypatch.setitem(getattr(landlock, table), since, 1 << 62)

    def body() -> list[Any]:
        applied = place.restrict()
        return [applied, outcome(lambda: read(place.outside / "file")), outcome(lambda: read(place.library / "file"))]

    assert in_child(body) == [since - 1, "EACCES", "ok"]


@needs_landlock
def test_it_does_not_step_down_to_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(landlock.FILES, 2, 1 << 62)
    with pytest.raises(OSError, match="landlock_create_ruleset: Invalid argument"):
        place.restrict()


@pytest.mark.parametrize("version", [0, 1])
def test_an_abi_without_use_counts_as_none(version: int, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: version)
    with pytest.raises(OSError, match=re.escape(f"ABI 2 is needed, the kernel offers {version}")):
        place.restrict()


def refuse_landlock(code: int) -> None:
    """A seccomp filter that answers landlock_create_ruleset with the error `code`, as a kernel or container may."""
    # Load the call's number; if it is 444 answer the error, else allow.
    program = ((0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x50000 | code), (0x06, 0, 0, 0x7FFF0000))
    code_buffer = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in program))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(program), ctypes.addressof(code_buffer)))
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, long(1), long(0), long(0), long(0)))
    checked(libc.prctl(PR_SET_SECCOMP, long(SECCOMP_MODE_FILTER), header))


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="the call's number may differ")
@pytest.mark.parametrize(("code", "release", "cause"), [
    (errno.ENOSYS, "5.15.0-91-generic", "Linux 5.15.0-91-generic has none; a kernel of 5.19 or newer has it"),
    (errno.ENOSYS, "6.1.0", "the container hides it"), (errno.EOPNOTSUPP, "6.1.0", "switched off"),
    (errno.EPERM, "5.19.0", "the container forbids it"),
])
def test_no_landlock_is_abi_0_and_an_error_whose_cause_is_told(
    code: int, release: str, cause: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "release", lambda: release)

    def body() -> list[Any]:
        refuse_landlock(code)
        return [landlock.abi(), outcome(place.restrict), cause in landlock.trouble()]

    assert in_child(body) == [0, errno.errorcode[errno.EOPNOTSUPP], True]


@needs_landlock
def test_every_later_thread_is_restricted(place: Place) -> None:
    def body() -> list[str]:
        place.restrict()
        answers: list[str] = []
        thread = threading.Thread(target=lambda: answers.append(outcome(lambda: read(place.outside / "file"))))
        thread.start()
        thread.join()
        return answers

    assert in_child(body) == ["EACCES"]
