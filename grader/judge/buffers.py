"""Memory that judge and worker share: one sealed memfd a tensor, allocated by the judge, nothing beside it.

Sealed against shrinking and growing, because a file that shrinks under a mapping kills the reader with SIGBUS.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Sequence

import torch

# See memfd_create(2) and "File sealing" in fcntl(2).
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL

DTYPES = {"float32": torch.float32, "float16": torch.float16}


class SharedTensor:
    """A CPU tensor in shared memory. `tensor` is the judge's own view; `descriptor` is what a worker gets.

    Raises OSError or ValueError when there is no memory: a failure of ours.
    """

    def __init__(self, shape: Sequence[int], dtype: str) -> None:
        torch_dtype = DTYPES[dtype]
        count = 1
        for size in shape:
            count *= size
        self.descriptor = os.memfd_create("tensor", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.descriptor, count * torch_dtype.itemsize)
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, _SEALS)
            self._map = mmap.mmap(self.descriptor, count * torch_dtype.itemsize)
        except BaseException:
            os.close(self.descriptor)
            raise
        self.tensor = torch.frombuffer(self._map, dtype=torch_dtype).view(*shape)

    def close(self) -> None:
        """Gives the judge's share back. The mapping goes when the last tensor that looks into it goes."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
