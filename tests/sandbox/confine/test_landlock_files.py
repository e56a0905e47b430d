"""Landlock keeps files out of reach that a process without it reaches, and honest work on files goes on."""

import errno
import fcntl
import os
import socket
import stat
import struct
from pathlib import Path

import pytest

from grader.sandbox.confine import landlock
from tests.rows import each_row
from tests.sandbox.confine.restricted import (
    CLONE_NEWNS,
    CLONE_NEWUSER,
    REFUSED,
    SECRET,
    SYSTEM,
    Action,
    Place,
    attempt,
    checked,
    in_child,
    libc,
    long,
    needs_landlock,
    outcome,
    private_mounts,
    read,
)

# Those between which the refused attacks on files differ, and the highest.
FILE_ABIS = (2, 3, 6)
# mount(2), rename(2), linux/random.h
MS_BIND = 0x1000
AT_FDCWD, RENAME_EXCHANGE = -100, 2
RNDGETENTCNT = 0x80045200


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
    private_mounts()
    target = os.fsencode(place.inside / "sub")
    checked(libc.mount(os.fsencode(place.outside), target, None, long(MS_BIND), None))
    read(place.inside / "sub" / "file")


def socket_file(path: Path) -> None:
    # A path of a socket has at most 107 bytes, so it is named from its folder.
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)


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


@pytest.mark.parametrize("reported", [
    pytest.param(abi, marks=[pytest.mark.full] * (abi not in (FILE_ABIS[0], FILE_ABIS[-1]))) for abi in FILE_ABIS],
    indirect=True)
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


@each_row("device", [False, True])
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
