"""Replacement of files and folders while others may be reading them."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
from pathlib import Path

from grader import temporary


def replace(path: Path, data: bytes, mode: int = 0o666) -> Path:
    """Replace a file as a whole, and make its folders. A reader never sees half of the file, and a full disk leaves the
    old one. A link is replaced, not followed; folders, devices and pipes are refused. The umask is taken off `mode`.
    Raises OSError."""
    if path.exists() and not path.is_file() and not path.is_symlink():
        raise OSError(errno.EEXIST, "already exists and is no regular file", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = temporary.replacement_path(path)
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as file:
            file.write(data)
        return fresh.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


def exchange(first: Path, second: Path) -> bool:
    """Exchange two folders of one file system in a single step, see renameat2(2). If the system or the file system has
    no such step, return False and change nothing. Raises OSError."""
    here, at_once = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if call(here, os.fsencode(first), here, os.fsencode(second), ctypes.c_uint(at_once)) == 0:
        return True
    if (number := ctypes.get_errno()) in (errno.EINVAL, errno.ENOSYS):
        return False
    raise OSError(number, os.strerror(number), str(second))
