"""Keeping freed memory. glibc gives each large array back to the system and asks for fresh, zeroed pages for the next,
which costs several times what arithmetic on it does."""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGE = 1 << 30


def keep_freed_memory() -> None:
    """Have this process reuse memory that it freed, where its C library is glibc; elsewhere nothing changes."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGE)
        mallopt(_TRIM_THRESHOLD, _LARGE)
