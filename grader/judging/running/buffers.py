"""Memory that the judge shares with confined processes: memory files, and tensors, each in a memory file of its own.

The files are sealed against shrinking and growing, since a file that shrinks under a mapping kills the reader (SIGBUS).
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Sequence

import torch

from grader.course import parameters
from grader.course.parameters import DType
from grader.plan.plan import memory_span

# See memfd_create(2) and "File sealing" in fcntl(2).
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL

DTYPES: dict[DType, torch.dtype] = {dtype: getattr(torch, dtype) for dtype in parameters.DTYPES}


class NoRoomError(Exception):
    """A lack of memory for tensors: a failure of ours."""


def memory_file(size: int = 0, contents: bytes = b"") -> int:
    """Make a memory file that can neither shrink nor grow, and return its descriptor. It holds `contents`, then zeros
    up to `size` bytes, which take no memory until they are written."""
    descriptor = os.memfd_create("file", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.truncate(descriptor, max(size, len(contents)))
        os.pwrite(descriptor, contents, 0)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, SEALS)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class HostTensor:
    """A CPU tensor of zeros in a memory file, `descriptor`. `tensor` is the judge's own view: contiguous, or with
    `strides` in elements. With `sparse` only pages that are written take memory. Raises NoRoomError."""

    def __init__(
        self, shape: Sequence[int], dtype: DType, strides: Sequence[int] = (), *, sparse: bool = False
    ) -> None:
        size = memory_span(shape, strides) * DTYPES[dtype].itemsize
        self.descriptor = -1
        try:
            self.descriptor = memory_file(size)
            # Allocate all pages now: a process that touches a page first would pay for it from its own share of memory,
            # and page by page takes longer.
            if not sparse:
                os.posix_fallocate(self.descriptor, 0, size)
            flat = torch.frombuffer(mmap.mmap(self.descriptor, size), dtype=DTYPES[dtype])
            self.tensor = flat.as_strided(tuple(shape), tuple(strides)) if strides else flat.view(*shape)
        except (OSError, ValueError, MemoryError) as error:
            self.close()
            raise NoRoomError(f"no memory for a tensor of {'x'.join(map(str, shape))}: {error}") from None

    def close(self) -> None:
        """Close the judge's descriptor; idempotent."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
