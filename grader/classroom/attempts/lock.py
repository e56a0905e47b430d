"""A lock on a folder of results, for the only process that writes into it. It ends with that process."""

from __future__ import annotations

import contextlib
import datetime
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from grader.classroom.attempts.sharing import shared


class LockedError(Exception):
    """A lock that another process holds on the folder; one line names that process."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder/lock` for the block. Raises OSError, and LockedError at once if another process holds it.

    If the folder is shared with a group, the group may use files written in the block, and nobody else may.
    """
    # Late: systems other than Linux lack it, but import this file.
    import fcntl

    # Truncate the file only after locking it. Child processes do not inherit the descriptor.
    umask = os.umask(0o077)
    os.umask(umask & ~0o070 | 0o007 if shared(folder) else umask)
    with contextlib.ExitStack() as stack:
        stack.callback(os.umask, umask)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o660)
        stack.callback(os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 400, 0).decode("utf-8", "replace").strip()
            raise LockedError(f"{folder.parent}: {holder or 'another process'} is at work there; wait for it, or "
                              "choose another --out") from None
        since = datetime.datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}, since {since},\n".encode(), 0)
        yield
