"""What Landlock refuses is really refused, would have worked without it, and honest work goes on.

Every attack runs in a forked child, once without restriction, where it must succeed, and once restricted.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import errno
import fcntl
import json
import os
import platform
import re
import select
import shutil
import signal
import socket
import stat
import struct
import threading
import uuid
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from grader.confine import landlock

CHILD_SECONDS = 20
NOBODY = 65534
SECRET = "secret"
NOWHERE = Path("/does/not/exist")
# From the lowest that is accepted to the highest that is made use of.
ABIS = (2, 3, 4, 5, 6)
# Those between which the refused attacks on files differ, and the highest.
FILE_ABIS = (2, 3, 6)
REFUSED = {"EACCES", "EXDEV", "EPERM"}
# Where programs and what they load lie.
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/nix")

# prctl(2), ptrace(2), mount(2), linux/random.h, seccomp(2)
PR_SET_DUMPABLE, PR_SET_PTRACER, PR_GET_NO_NEW_PRIVS = 4, 0x59616D61, 39
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
PTRACE_SEIZE = 0x4206
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x20, 0x1000, 0x4000, 0x40000
AT_FDCWD, RENAME_EXCHANGE = -100, 2
RNDGETENTCNT = 0x80045200

needs_landlock = pytest.mark.skipif(
    landlock.abi() < landlock.LEAST_ABI, reason=f"the kernel offers Landlock ABI {landlock.abi()}"
)
libc = ctypes.CDLL(None, use_errno=True)


def long(value: int) -> ctypes.c_long:
    return ctypes.c_long(value)


def checked(answer: int) -> int:
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def in_child(body: Callable[[], Any]) -> Any:
    """What `body` returns in a forked child, through JSON. A child that fails or hangs fails the test."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Other tests leave threads behind; the child uses nothing that a lost thread could have locked.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(CHILD_SECONDS)
            os.close(reader)
            try:
                told = {"value": body()}
            except BaseException as error:
                told = {"error": repr(error)}
            os.write(writer, json.dumps(told).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        ready, _, _ = select.select([pipe], [], [], CHILD_SECONDS + 5)
        text = pipe.read() if ready else b""
    os.waitpid(pid, 0)
    answer = json.loads(text or b'{"error": "the child died"}')
    assert "error" not in answer, answer["error"]
    return answer["value"]


def outcome(action: Callable[[], Any]) -> str:
    """`ok`, or the name of the error that `action` ends with."""
    try:
        action()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "ok"


def drop_root() -> None:
    """Another uid, if this is root, that can be traced and read like any user's process."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    # A change of uid takes this away, which would refuse what Landlock is to refuse.
    checked(libc.prctl(PR_SET_DUMPABLE, long(1), long(0), long(0), long(0)))


@dataclass
class Place:
    """`inside` may be written, `library` be read; nothing is allowed of `outside`."""

    inside: Path
    library: Path
    outside: Path
    # Opened before the restriction.
    folder: int = -1
    file: int = -1
    extra: list[str] = field(default_factory=list)

    @classmethod
    def none(cls) -> Place:
        """For attacks on no file, by another uid, which could not open what pytest keeps for its own user."""
        return cls(NOWHERE, NOWHERE, NOWHERE)

    @classmethod
    def make(cls, root: Path) -> Place:
        place = cls(root / "inside", root / "library", root / "outside")
        for path in (place.inside, place.library, place.outside):
            (path / "sub").mkdir(parents=True)
            (path / "empty").mkdir()
            (path / "file").write_text(SECRET)
        for path in (place.inside, place.library):
            (path / "link").symlink_to(place.outside / "file")
            (path / "door").symlink_to(place.outside)
        true = shutil.which("true")
        assert true
        for path in (place.inside, place.library, place.outside):
            shutil.copy(Path(true).resolve(), path / "true")
        return place

    def restrict(self, *, execute: bool = True) -> int:
        return landlock.restrict(
            read=[str(self.library), *SYSTEM, *self.extra], write=[str(self.inside)], execute=execute
        )


def read(path: Path) -> None:
    assert path.read_text() == SECRET


def read_from(folder: Path, path: Path) -> None:
    os.chdir(folder)
    read(path)


def read_in_a_child(path: Path) -> None:
    if in_child(lambda: outcome(lambda: read(path))) != "ok":
        raise PermissionError(errno.EACCES, "refused to the child")


def write(path: Path, flags: int = os.O_WRONLY, mode: int = 0o600) -> None:
    descriptor = os.open(path, flags, mode)
    if flags & (os.O_WRONLY | os.O_RDWR):
        os.write(descriptor, b"changed")
    os.close(descriptor)


def exchange(first: Path, second: Path) -> None:
    arguments = (AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), RENAME_EXCHANGE)
    checked(libc.renameat2(*arguments))


def run(program: Path | str, *arguments: str) -> None:
    pid = os.posix_spawn(program, [Path(program).name, *arguments], {})
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code != 0:
        raise PermissionError(errno.EACCES, f"{program} ended with {code}")


def bind_mount(place: Place) -> None:
    """Shows `outside` beneath `inside`, in mount and user namespaces of this child's own."""
    checked(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS))
    checked(libc.mount(None, b"/", None, long(MS_REC | MS_PRIVATE), None))
    target = os.fsencode(place.inside / "sub")
    checked(libc.mount(os.fsencode(place.outside), target, None, long(MS_BIND), None))
    read(place.inside / "sub" / "file")


def socket_file(path: Path) -> None:
    # A path of a socket has at most 107 bytes, so it is named from its folder.
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)


Action = Callable[[Place], Any]

# Name: the ABI since which it is refused, and what it does.
ATTACKS: dict[str, tuple[int, Action]] = {
    "read": (1, lambda at: read(at.outside / "file")),
    "list": (1, lambda at: os.listdir(at.outside)),
    "write": (1, lambda at: write(at.outside / "file")),
    "append": (1, lambda at: write(at.outside / "file", os.O_WRONLY | os.O_APPEND)),
    "write and truncate": (1, lambda at: write(at.outside / "file", os.O_WRONLY | os.O_TRUNC)),
    "truncate": (3, lambda at: os.truncate(at.outside / "file", 0)),
    "truncate a file of the library": (3, lambda at: os.truncate(at.library / "file", 0)),
    "truncate by opening to read": (3, lambda at: write(at.library / "file", os.O_RDONLY | os.O_TRUNC)),
    "create": (1, lambda at: write(at.outside / "new", os.O_WRONLY | os.O_CREAT)),
    "create without a name": (1, lambda at: write(at.outside, os.O_WRONLY | os.O_TMPFILE)),
    "make a folder": (1, lambda at: (at.outside / "new").mkdir()),
    "remove": (1, lambda at: (at.outside / "file").unlink()),
    "remove a folder": (1, lambda at: (at.outside / "empty").rmdir()),
    "rename": (1, lambda at: (at.outside / "file").rename(at.outside / "new")),
    "rename into the folder": (1, lambda at: (at.outside / "file").rename(at.inside / "new")),
    "rename out of the folder": (1, lambda at: (at.inside / "file").rename(at.outside / "new")),
    "rename over a file outside": (1, lambda at: (at.inside / "file").replace(at.outside / "file")),
    "exchange": (1, lambda at: exchange(at.inside / "file", at.outside / "file")),
    "rename the folder itself": (1, lambda at: at.inside.rename(at.inside.with_name("new"))),
    "link into the folder": (1, lambda at: (at.inside / "new").hardlink_to(at.outside / "file")),
    "link out of the folder": (1, lambda at: (at.outside / "new").hardlink_to(at.inside / "file")),
    "link from the library": (1, lambda at: (at.inside / "new").hardlink_to(at.library / "file")),
    "write to the library": (1, lambda at: write(at.library / "file")),
    "create in the library": (1, lambda at: write(at.library / "new", os.O_WRONLY | os.O_CREAT)),
    "remove from the library": (1, lambda at: (at.library / "file").unlink()),
    "rename out of the library": (1, lambda at: (at.library / "file").rename(at.inside / "new")),
    "read by ..": (1, lambda at: read(at.inside / ".." / "outside" / "file")),
    "read by .. from the folder": (1, lambda at: read_from(at.inside, Path("../outside/file"))),
    "read by a planted link": (1, lambda at: read(at.inside / "link")),
    "write by a planted link": (1, lambda at: write(at.library / "link")),
    "read by a planted link to a folder": (1, lambda at: read(at.library / "door" / "file")),
    "read from an open folder": (1, lambda at: os.close(os.open("file", os.O_RDONLY, dir_fd=at.folder))),
    "write by reopening": (1, lambda at: write(Path(f"/proc/self/fd/{at.file}"))),
    "make a symbolic link": (1, lambda at: (at.inside / "new").symlink_to(at.outside / "file")),
    "make a FIFO": (1, lambda at: os.mkfifo(at.inside / "new")),
    "make a socket": (1, lambda at: socket_file(at.inside / "new")),
    "make a device": (1, lambda at: os.mknod(at.inside / "new", stat.S_IFCHR | 0o600, os.makedev(1, 5))),
    "make a block device": (1, lambda at: os.mknod(at.inside / "new", stat.S_IFBLK | 0o600, os.makedev(7, 0))),
    "mount": (1, bind_mount),
    "execute": (1, lambda at: run(at.outside / "true")),
    "execute from the folder": (1, lambda at: run(at.inside / "true")),
    "read in a program": (1, lambda at: run("/bin/cat", str(at.outside / "file"))),
    "read in a child": (1, lambda at: read_in_a_child(at.outside / "file")),
}
# Only these may be refused without Landlock too, by missing privilege.
PRIVILEGED = {"make a device", "make a block device", "mount"}


def attempt(place: Place, action: Action, *, restricted: bool) -> str:
    def body() -> str:
        place.folder = os.open(place.outside, os.O_RDONLY | os.O_DIRECTORY)
        place.file = os.open(place.outside / "file", os.O_RDONLY)
        if restricted:
            place.restrict()
        return outcome(lambda: action(place))

    answer: str = in_child(body)
    return answer


@pytest.fixture(params=ABIS)
def reported(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """An ABI that the kernel is made to report, at most its own."""
    version: int = request.param
    if landlock.abi() < version:
        pytest.skip(f"the kernel offers Landlock ABI {landlock.abi()}")
    monkeypatch.setattr(landlock, "abi", lambda: version)
    return version


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path)


@pytest.mark.parametrize("reported", FILE_ABIS, indirect=True)
@pytest.mark.parametrize("name", ATTACKS)
def test_files_outside_are_out_of_reach(name: str, reported: int, tmp_path: Path) -> None:
    since, action = ATTACKS[name]
    control = attempt(Place.make(tmp_path / "control"), action, restricted=False)
    # Some file systems have no files without a name.
    if (name in PRIVILEGED and control in REFUSED) or control == "EOPNOTSUPP":
        pytest.skip(f"refused here without Landlock too: {control}")
    assert control == "ok"
    result = attempt(Place.make(tmp_path / "restricted"), action, restricted=True)
    # Below its ABI an attack gets through: that is what the seccomp filter is for.
    assert result in (REFUSED if reported >= since else {"ok"})


def test_honest_work_goes_on(reported: int, place: Place, tmp_path: Path) -> None:
    second = tmp_path / "second"
    second.mkdir()
    ours, theirs = socket.socketpair()
    sent = os.memfd_create("sent")
    os.write(sent, SECRET.encode())
    outside = os.open(place.outside / "file", os.O_RDONLY)
    socket.send_fds(ours, [b"x"], [sent, outside])

    def body() -> str:
        applied = landlock.restrict(
            read=[str(place.library)], write=[str(place.inside), str(second)], execute=False
        )
        assert applied == reported
        inside = place.inside
        assert sorted(os.listdir(place.library)) == ["door", "empty", "file", "link", "sub", "true"]
        read(place.library / "file")
        read(inside / "file")
        write(inside / "new", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.truncate(inside / "new", 3)
        assert (inside / "new").read_text() == "cha"
        (inside / "sub" / "deeper").mkdir()
        # As Triton's cache does: from a folder of its own into another, over what is there.
        (inside / "new").replace(inside / "sub" / "deeper" / "kernel")
        (inside / "file").replace(inside / "sub" / "deeper" / "kernel")
        (inside / "sub" / "deeper").rename(second / "moved")
        read(second / "moved" / "kernel")
        (inside / "again").hardlink_to(second / "moved" / "kernel")
        (inside / "again").unlink()
        (second / "moved" / "kernel").unlink()
        (second / "moved").rmdir()
        # What was opened before, or comes from the judge, is no matter of the file rules.
        for descriptor in socket.recv_fds(theirs, 1, 2)[1]:
            assert os.pread(descriptor, 100, 0) == SECRET.encode()
        memory = os.memfd_create("own")
        os.ftruncate(memory, 4096)
        os.kill(os.getpid(), 0)
        child = in_child(lambda: outcome(lambda: os.kill(os.getppid(), 0)))
        assert child == "ok"
        return "done"

    with ours, theirs:
        assert in_child(body) == "done"
    os.close(sent)
    os.close(outside)


@needs_landlock
def test_a_file_that_may_be_read_opens_nothing_beside_it(place: Place) -> None:
    def body() -> dict[str, str]:
        named = [str(place.outside / name) for name in ("file", "true")]
        landlock.restrict(read=[*named, *SYSTEM], write=[], execute=True)
        return {
            "read": outcome(lambda: read(place.outside / "file")),
            "execute": outcome(lambda: run(place.outside / "true")),
            "link": outcome(lambda: read(place.inside / "link")),
            "another": outcome(lambda: read(place.library / "file")),
            "list": outcome(lambda: os.listdir(place.outside)),
            "write": outcome(lambda: write(place.outside / "file")),
        }

    answers = in_child(body)
    assert {name for name, answer in answers.items() if answer == "ok"} == {"read", "execute", "link"}
    assert {answer for answer in answers.values() if answer != "ok"} == {"EACCES"}


def test_devices_may_be_read_and_written_and_only_those(reported: int, place: Place) -> None:
    named = place.outside / "file"

    def body() -> dict[str, str]:
        landlock.restrict(
            read=["/dev/urandom"], write=[], devices=["/dev/null", str(named), str(place.library)], execute=False
        )
        return {
            "null": outcome(lambda: write(Path("/dev/null"), os.O_RDWR)),
            "file": outcome(lambda: write(named, os.O_RDWR | os.O_TRUNC)),
            "beneath": outcome(lambda: write(place.library / "file", os.O_RDWR | os.O_TRUNC)),
            "create beneath": outcome(lambda: write(place.library / "new", os.O_WRONLY | os.O_CREAT)),
            "beside": outcome(lambda: write(place.outside / "true", os.O_RDWR)),
            "zero": outcome(lambda: write(Path("/dev/zero"), os.O_RDWR)),
            "urandom": outcome(lambda: write(Path("/dev/urandom"), os.O_WRONLY)),
        }

    answers = in_child(body)
    assert {name for name, answer in answers.items() if answer == "ok"} == {"null", "file", "beneath"}
    assert {answer for answer in answers.values() if answer != "ok"} == {"EACCES"}


@pytest.mark.parametrize("device", [False, True])
def test_ioctl_is_for_named_devices(device: bool, reported: int) -> None:
    def control() -> None:
        with Path("/dev/urandom").open("rb", buffering=0) as file:
            fcntl.ioctl(file, RNDGETENTCNT, struct.pack("i", 0))

    def body() -> str:
        named = ["/dev/urandom"]
        landlock.restrict(read=[] if device else named, write=[], devices=named if device else [], execute=False)
        return outcome(control)

    assert in_child(lambda: outcome(control)) == "ok"
    assert in_child(body) == ("ok" if device or reported < 5 else "EACCES")


@needs_landlock
@pytest.mark.parametrize(("where", "execute", "expected"), [
    ("library", True, "ok"), ("library", False, "EACCES"), ("inside", True, "EACCES"),
])
def test_only_the_library_is_executed_and_only_if_asked(
    where: str, execute: bool, expected: str, place: Place
) -> None:
    def body() -> str:
        place.restrict(execute=execute)
        return outcome(lambda: run(getattr(place, where) / "true"))

    assert in_child(body) == expected


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
        drop_root()
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
        checked(libc.mount(None, b"/", None, long(MS_REC | MS_PRIVATE), None))
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
@pytest.mark.parametrize(("table", "since"), [("_SCOPES", 6), ("_FILES", 5), ("_TCP", 4), ("_FILES", 3)])
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
    monkeypatch.setitem(landlock._FILES, 2, 1 << 62)
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
@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM])
def test_no_landlock_is_abi_0_and_an_error(code: int, place: Place) -> None:
    def body() -> list[Any]:
        refuse_landlock(code)
        return [landlock.abi(), outcome(place.restrict)]

    assert in_child(body) == [0, errno.errorcode[errno.EOPNOTSUPP]]


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
