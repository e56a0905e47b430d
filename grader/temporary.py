"""Temporary folders and files. If their process is killed, the next command removes them.

Each process that makes some also holds a note: a locked file that lists their paths, since some lie in the temporary
folder and some beside the files that they are to replace. A note without a lock belongs to a killed process.
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
# Names of folders, and of files that are to replace others. Nothing else is ever removed, whatever a note lists.
_OURS = re.compile(rf"\.?{PREFIX}.+|\..+\.[0-9a-f]{{16}}\.new", re.DOTALL)
# Where notes lie. /var/tmp comes first: it outlives a restart, as the files beside others do, and a change of TMPDIR.
PLACES = ("/var/tmp", tempfile.gettempdir)

_lock = threading.Lock()
# The process that owns the note, and the note's descriptor. A forked process inherits both.
_note: tuple[int, int] | None = None


@contextlib.contextmanager
def folder(kind: str, parent: Path | None = None) -> Iterator[Path]:
    """Hold a new private folder, in `parent` or the temporary folder, until the block ends. Raises OSError."""
    path = make(kind, parent)
    try:
        yield path
    finally:
        remove(path)


@contextlib.contextmanager
def all_or_nothing(*paths: Path) -> Iterator[None]:
    """Remove new paths if the block fails. In a folder that existed before, remove the additions alone."""
    before = {path: set(path.iterdir()) if path.is_dir() else None for path in paths}
    try:
        yield
    except BaseException:
        for path, contents in before.items():
            for new in {path} if contents is None else set(path.iterdir()) - contents:
                remove(new)
        raise


def make(kind: str, parent: Path | None = None) -> Path:
    """Make a private folder, hidden if it lies in a `parent`; `kind` is a word of its name. It stays until this process
    removes it, or until the next command does after a kill. Raises OSError."""
    name = f"{PREFIX}{kind}-{secrets.token_hex(8)}"
    path = parent.absolute() / f".{name}" if parent else Path(tempfile.gettempdir(), name).absolute()
    expect(path)
    path.mkdir(mode=0o700)
    return path


def replacement_path(path: Path) -> Path:
    """Return the path of a new file that is to replace the file at `path`. Nothing is made yet."""
    fresh = path.absolute().with_name(f".{path.name}.{secrets.token_hex(8)}.new")
    expect(fresh)
    return fresh


def expect(path: Path) -> None:
    """Add a path to the note before the path is made."""
    with _lock:
        descriptor = _note_descriptor()
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
        # The folder may hold folders without rights, or thousands of nested ones.
        subprocess.run(["chmod", "-R", "u+rwX", str(path)], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", str(path)], stderr=subprocess.DEVNULL, check=False)


def sweep() -> None:
    """Remove what killed processes of this user left behind; the files of living processes stay. Takes microseconds if
    there is nothing to remove."""
    home = _home(make=False)
    with contextlib.suppress(OSError):
        for entry in os.scandir(home) if home else ():
            with contextlib.suppress(OSError):
                _sweep(Path(entry.path))


def _sweep(note: Path) -> None:
    # Late: systems other than Linux may lack it; there `_home` returns None, and nothing is swept.
    import fcntl

    descriptor = os.open(note, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        # Raises if a process holds it, this one included.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            # Each path ends with a zero byte. A full disk may have cut the last path off.
            paths = [Path(os.fsdecode(path)) for path in file.read().split(b"\0")[:-1]]
        for path in paths:
            if _OURS.fullmatch(path.name) and os.path.lexists(path) and path.lstat().st_uid == os.geteuid():
                remove(path)
        note.unlink()
    finally:
        os.close(descriptor)


def _home(*, make: bool = True) -> Path | None:
    """Return the folder of this user's notes; None if no place allows one."""
    if not hasattr(os, "geteuid"):
        return None
    for place in PLACES:
        home = Path(place if isinstance(place, str) else place(), f"{PREFIX}{os.geteuid()}")
        with contextlib.suppress(OSError):
            if make:
                home.mkdir(mode=0o700, exist_ok=True)
            info = home.lstat()
            # Anyone may have made a folder of this name there.
            if stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and not info.st_mode & 0o022:
                return home
    return None


def _note_descriptor() -> int | None:
    """Return the descriptor of this process's note, and make the note at the first call; None if it cannot be made."""
    global _note
    if _note is not None:
        if _note[0] == os.getpid():
            return _note[1]
        # A fork has inherited this descriptor: the note is the parent's.
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
        # A sweep has removed the note between its creation and its lock, so make another.
        os.close(descriptor)
    _note = os.getpid(), descriptor
    atexit.register(_forget, path, os.getpid())
    return descriptor


def _forget(note: Path, pid: int) -> None:
    if os.getpid() == pid:
        with contextlib.suppress(OSError):
            note.unlink()
