"""Memory that judge and worker share: each tensor an allocation of its own, made by the judge, nothing beside it.

On the host a sealed memfd, passed as a descriptor; on a CUDA device an allocation of whole granules, passed as a raw
IPC handle. Host memory is sealed against shrinking and growing, because a file that shrinks under a mapping kills the
reader with SIGBUS.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
from collections.abc import Sequence
from typing import Any, Protocol

import torch

from grader.plan import wire

# See memfd_create(2) and "File sealing" in fcntl(2).
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
# CUDA Programming Guide, "Interprocess Communication": smaller allocations may be cut from one of 2 MiB, and the handle
# then opens the whole of it, neighbours included.
_GRANULE = 2 << 20
# Of a huge page of the host, wherever one has this size: x86-64, and aarch64 with pages of 4 KiB.
_HUGE = 2 << 20

DTYPES = {"float32": torch.float32, "float16": torch.float16}


class BufferError(Exception):
    """There is no memory to share: a failure of ours."""


class Shared(Protocol):
    """A tensor in memory that a worker may open. `tensor` is the judge's own view."""

    tensor: torch.Tensor

    def argument(self, descriptors: list[int]) -> wire.Argument:
        """How a message names it; what has to travel beside the message is added to `descriptors`."""

    def close(self) -> None:
        """Gives the judge's share back; `tensor` must not be used any more."""


def share(shape: Sequence[int], dtype: wire.DType, *, cuda: bool) -> Shared:
    """Memory for a tensor on the CUDA device or the host. Raises BufferError."""
    try:
        return DeviceTensor(shape, dtype) if cuda else HostTensor(shape, dtype)
    except (OSError, ValueError, MemoryError) as error:
        raise BufferError(f"no memory for a tensor of {'x'.join(map(str, shape))}: {error}") from None


class HostTensor:
    """A CPU tensor in a memfd."""

    def __init__(self, shape: Sequence[int], dtype: wire.DType) -> None:
        self._shape, self._dtype = list(shape), dtype
        size = math.prod(shape) * DTYPES[dtype].itemsize
        self._descriptor = os.memfd_create("tensor", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            # All of it now: a worker that is the first to touch a page would take it from its own share of memory, and
            # page by page takes longer.
            os.posix_fallocate(self._descriptor, 0, size)
            fcntl.fcntl(self._descriptor, fcntl.F_ADD_SEALS, _SEALS)
            self._memory = mmap.mmap(self._descriptor, size)
        except BaseException:
            os.close(self._descriptor)
            raise
        self.tensor = torch.frombuffer(self._memory, dtype=DTYPES[dtype]).view(*shape)

    def argument(self, descriptors: list[int]) -> wire.HostArgument:
        descriptors.append(self._descriptor)
        return wire.HostArgument(descriptor=len(descriptors) - 1, shape=self._shape, dtype=self._dtype)

    def replace_page(self, offset: int) -> None:
        """Puts another page of memory, with the same contents, in the place of the one with byte `offset`: for all who
        map it, but for a device that has been told where the page was. Raises BufferError."""
        # A part of a huge page that somebody holds is only emptied, and the whole of it has to go.
        if not self._replace(offset, mmap.PAGESIZE) and not self._replace(offset, _HUGE):
            raise BufferError("a page of shared memory stays where it is; transparent huge pages for shared memory "
                              "(shmem_enabled) may be the cause")

    def _replace(self, offset: int, size: int) -> bool:
        """Whether the aligned piece of that size could be replaced, as the blocks of the file show."""
        start = offset - offset % size
        kept, blocks = self._memory[start : start + size], os.fstat(self._descriptor).st_blocks
        self._memory.madvise(mmap.MADV_REMOVE, start, len(kept))
        gone = os.fstat(self._descriptor).st_blocks < blocks
        self._memory[start : start + size] = kept
        return gone

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class DeviceTensor:
    """A CUDA tensor in an allocation of its own. Needs cuda-bindings, which torch's CUDA wheels bring."""

    def __init__(self, shape: Sequence[int], dtype: wire.DType) -> None:
        from cuda.bindings import runtime

        self._runtime: Any = runtime
        self._shape, self._dtype = list(shape), dtype
        size = math.prod(shape) * DTYPES[dtype].itemsize
        torch.cuda.init()  # type: ignore[no-untyped-call]
        self._pointer = self._checked(runtime.cudaMalloc(-(-size // _GRANULE) * _GRANULE))
        self._handle = bytes(self._checked(runtime.cudaIpcGetMemHandle(self._pointer)).reserved)
        self.tensor = torch.as_tensor(wire.DeviceArray(self._pointer, self._shape, dtype), device="cuda")

    def argument(self, descriptors: list[int]) -> wire.DeviceArgument:
        return wire.DeviceArgument(handle=self._handle.hex(), shape=self._shape, dtype=self._dtype)

    def close(self) -> None:
        if self._pointer:
            self._runtime.cudaFree(self._pointer)
            self._pointer = 0

    def _checked(self, answer: tuple[Any, Any]) -> Any:
        error, value = answer
        if error != self._runtime.cudaError_t.cudaSuccess:
            raise MemoryError(error.name)
        return value
