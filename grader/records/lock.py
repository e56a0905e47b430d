"""One grading at a time in a folder of results: a lock that ends with the process that holds it."""

from __future__ import annotations

import contextlib
import datetime
import os
import socket
from collections.abc import Iterator
from pathlib import Path


class LockedError(Exception):
    """Another process is at work in the folder; one line that names it."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds `folder/lock` while open. Raises LockedError at once if another process does, and OSError."""
    # Not on every system on which this file is imported.
    import fcntl

    # Not truncated before it is ours, and not inherited by what this process starts.
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            said = os.pread(descriptor, 400, 0).decode("utf-8", "replace").strip()
            raise LockedError(
                f"{folder.parent}: {said or 'another process'} is at work there; wait for it, or another --out "
                "expected") from None
        since = datetime.datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}, since {since},\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
