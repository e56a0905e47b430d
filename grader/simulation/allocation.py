"""Memory allocation that keeps freed memory for reuse.

glibc returns each large array to the system and asks for fresh, zeroed pages for the next, which costs several times as
much as arithmetic on the array.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

Array = Any

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGE = 1 << 30
LARGE_BYTES = 16 << 20


def keep_freed_memory() -> None:
    """Have this process reuse memory that it freed, where its C library is glibc; elsewhere nothing changes."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGE)
        mallopt(_TRIM_THRESHOLD, _LARGE)


def zeros(elements: int, dtype: Any) -> Array:
    """Return a vector of zeros that takes memory only where it is touched. NumPy puts large vectors into pages of 2
    MiB, so that stores to some tiles of an output would touch nearly all of it. Raises MemoryError."""
    size = elements * np.dtype(dtype).itemsize
    if size < LARGE_BYTES:
        return np.zeros(elements, dtype)
    try:
        return np.frombuffer(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), dtype)
    except OSError as error:
        # The error that NumPy raises if there is too little memory.
        raise MemoryError(str(error)) from None
