"""Temporary folders and files, which the next command removes if their process is killed.

Each process that makes some has a note, a file that it holds locked and that lists their paths: some lie in the
temporary folder, some beside what they are to replace. A note that nobody holds is a killed process's.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import secrets
import shutil
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

PREFIX = "kernelmark-"
# Folders, and files that are to replace others. Nothing else is ever removed, whatever a note says.
_OURS = re.compile(rf"\.?{PREFIX}.+|\..+\.[0-9a-f]{{16}}\.new", re.DOTALL)
# The first outlives a restart of the machine, as the files beside others do, and another TMPDIR.
PLACES = ("/var/tmp", tempfile.gettempdir)

_lock = threading.Lock()
# The process whose note it is, and the note's descriptor.
_note: tuple[int, int] | None = None


@contextlib.contextmanager
def folder(kind: str, parent: Path | None = None) -> Iterator[Path]:
    """Hold a new private folder, in `parent` or the temporary folder, until the block ends. Raises OSError."""
    made = make(kind, parent)
    try:
        yield made
    finally:
        remove(made)


@contextlib.contextmanager
def whole(*made: Path) -> Iterator[None]:
    """Hold these paths as half made until the block ends: if it fails, what it has put there, a path or what lies in a
    folder, is removed."""
    before = {path: set(path.iterdir()) if path.is_dir() else None for path in made}
    try:
        yield
    except BaseException:
        for path, held in before.items():
            for new in {path} if held is None else set(path.iterdir()) - held:
                remove(new)
        raise


def make(kind: str, parent: Path | None = None) -> Path:
    """Make a private folder, hidden if it is in a `parent`; `kind` is a word of its name. It lives until this process
    removes it, or is killed. Raises OSError."""
    name = f"{PREFIX}{kind}-{secrets.token_hex(8)}"
    path = parent.absolute() / f".{name}" if parent else Path(tempfile.gettempdir(), name).absolute()
    expect(path)
    path.mkdir(mode=0o700)
    return path


def beside(path: Path) -> Path:
    """Return the path of a file, not made yet, that is to replace the one at `path`."""
    fresh = path.absolute().with_name(f".{path.name}.{secrets.token_hex(8)}.new")
    expect(fresh)
    return fresh


def expect(path: Path) -> None:
    """Note a path before it is made."""
    with _lock:
        descriptor = _held()
        if descriptor is not None:
            with contextlib.suppress(OSError):  # a full disk costs the note, and the command says so
                os.write(descriptor, os.fsencode(path) + b"\0")


def remove(path: Path) -> None:
    """Remove a folder or a file, whatever a submission did to it. Links are not followed."""
    with contextlib.suppress(RecursionError, OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    if os.path.lexists(path):
        # It may hold folders without rights, or thousands of nested ones.
        subprocess.run(["chmod", "-R", "u+rwX", str(path)], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", str(path)], stderr=subprocess.DEVNULL, check=False)


def sweep() -> None:
    """Remove what killed processes of this user left behind; what living ones use stays. Without any it takes
    microseconds."""
    home = _home(make=False)
    with contextlib.suppress(OSError):
        for entry in os.scandir(home) if home else ():
            with contextlib.suppress(OSError):
                _sweep(Path(entry.path))


def _sweep(note: Path) -> None:
    # Late: systems other than Linux may lack it, and they have no home.
    import fcntl

    descriptor = os.open(note, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        # Raises if a process holds it, this one included.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            # What follows the last end was cut off, by a full disk.
            paths = [Path(os.fsdecode(path)) for path in file.read().split(b"\0")[:-1]]
        for path in paths:
            if _OURS.fullmatch(path.name) and os.path.lexists(path) and path.lstat().st_uid == os.geteuid():
                remove(path)
        note.unlink()
    finally:
        os.close(descriptor)


def _home(*, make: bool = True) -> Path | None:
    """Return the folder of this user's notes; None where there can be none."""
    if not hasattr(os, "geteuid"):
        return None
    for place in PLACES:
        home = Path(place if isinstance(place, str) else place(), f"{PREFIX}{os.geteuid()}")
        with contextlib.suppress(OSError):
            if make:
                home.mkdir(mode=0o700, exist_ok=True)
            info = home.lstat()
            # Everybody may make a folder there, of any name.
            if stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and not info.st_mode & 0o022:
                return home
    return None


def _held() -> int | None:
    """Return the descriptor of this process's note, which the first call makes; None where there can be none."""
    global _note
    if _note is not None:
        if _note[0] == os.getpid():
            return _note[1]
        # Its parent's.
        os.close(_note[1])
        _note = None
    home = _home()
    if home is None:
        return None
    # Late, see _sweep.
    import fcntl

    while True:
        path = home / secrets.token_hex(8)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:
            # This file system has no locks.
            os.close(descriptor)
            path.unlink()
            return None
        if os.fstat(descriptor).st_nlink:
            break
        # Before it was locked, a sweep took it for that of a killed process.
        os.close(descriptor)
    _note = os.getpid(), descriptor
    atexit.register(_forget, path, os.getpid())
    return descriptor


def _forget(note: Path, pid: int) -> None:
    if os.getpid() == pid:
        with contextlib.suppress(OSError):
            note.unlink()
