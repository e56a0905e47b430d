"""Replaces files that others may be reading."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def replace(path: Path, data: bytes, mode: int = 0o666) -> Path:
    """Replaces a file as a whole, and makes its folders. A reader never sees half of it, and a full disk leaves the old
    file. The umask is taken off `mode`. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # A temporary name that no other process uses.
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as file:
            file.write(data)
        return fresh.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise
