"""What Landlock is to refuse is tried in a forked child: once without it, where it must succeed, and once with it."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import select
import shutil
import signal
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.confine import landlock

CHILD_SECONDS = 20
SECRET = "secret"
NOBODY = 65534
REFUSED = {"EACCES", "EXDEV", "EPERM"}
# Where programs and what they load lie.
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/nix")

# mount(2), unshare(2)
MS_REC, MS_PRIVATE = 0x4000, 0x40000
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000

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


def private_mounts() -> None:
    """What is mounted from now on is seen in this mount namespace alone."""
    checked(libc.mount(None, b"/", None, long(MS_REC | MS_PRIVATE), None))


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


def by_nobody(body: Callable[[], Any]) -> Any:
    """What `body` returns to a user without rights, in a forked child."""
    if os.getuid() != 0:
        pytest.skip("takes root to become another user")

    def become() -> Any:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        return body()

    return in_child(become)


def outcome(action: Callable[[], Any]) -> str:
    """`ok`, or the name of the error that `action` ends with."""
    try:
        action()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "ok"


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
        nowhere = Path("/does/not/exist")
        return cls(nowhere, nowhere, nowhere)

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


Action = Callable[[Place], Any]


def attempt(place: Place, action: Action, *, restricted: bool) -> str:
    def body() -> str:
        place.folder = os.open(place.outside, os.O_RDONLY | os.O_DIRECTORY)
        place.file = os.open(place.outside / "file", os.O_RDONLY)
        if restricted:
            place.restrict()
        return outcome(lambda: action(place))

    answer: str = in_child(body)
    return answer
