"""Memory for an executor's calls: many tensors in one allocation of the judge, each between guard zones.

An IPC handle exports a whole allocation, and opening a handle costs a tenth of a millisecond: so the tensors share one.
No other memory of the judge may lie in that allocation.
"""

from __future__ import annotations

import mmap
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from grader.device import guards
from grader.device.messages import DeviceBlock, HostBlock
from grader.judging.running import buffers
from grader.plan.messages import GivenTensor
from grader.plan.plan import DType, Place

# CUDA Programming Guide, "Interprocess Communication": a smaller allocation may be part of a block of 2 MiB, and its
# handle then opens the whole block, with its neighbours.
_GRANULE = 2 << 20


class Allocation:
    """Memory that executors can map: `bytes`, at least `size`. With `sparse`, host memory takes up only the pages that
    are touched. Raises buffers.NoRoomError."""

    def __init__(self, size: int, *, place: Place = "device", sparse: bool = False) -> None:
        self.place = place
        self.bytes = max(1, -(-size // _GRANULE)) * _GRANULE
        self._pointer, self._descriptor = 0, -1
        try:
            self.memory = self._on_device() if place == "device" else self._on_host(sparse)
        except (OSError, ValueError, MemoryError) as error:
            self.close()
            raise buffers.NoRoomError(f"no memory for {self.bytes:,} bytes of tensors: {error}") from None

    def block(self, descriptors: list[int]) -> DeviceBlock | HostBlock:
        """Return the allocation's description for a message. Appends to `descriptors` the file descriptor that has to
        travel with the message, if there is one."""
        if self.place == "device":
            return DeviceBlock(handle=self._handle.hex(), bytes=self.bytes)
        descriptors.append(self._descriptor)
        return HostBlock(descriptor=len(descriptors) - 1, bytes=self.bytes, pinned=self.place == "pinned")

    def close(self) -> None:
        """Free the memory. Unbind it from executors first, and use none of its tensors afterwards."""
        if self._pointer:
            self._runtime.cudaFree(self._pointer)
            self._pointer = 0
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _on_device(self) -> torch.Tensor:
        # Installed only where there is a GPU.
        from cuda.bindings import runtime

        self._runtime: Any = runtime
        torch.cuda.init()  # type: ignore[no-untyped-call]
        error, pointer = runtime.cudaMalloc(self.bytes)
        if error == runtime.cudaError_t.cudaErrorMemoryAllocation:
            # Torch caches memory that the judge has freed.
            torch.cuda.empty_cache()
            error, pointer = runtime.cudaMalloc(self.bytes)
        self._pointer = self._checked((error, pointer))
        self._handle = bytes(self._checked(runtime.cudaIpcGetMemHandle(self._pointer)).reserved)
        return guards.device_memory(self._pointer, self.bytes)

    def _on_host(self, sparse: bool) -> torch.Tensor:
        self._descriptor = buffers.memory_file(self.bytes)
        if not sparse:
            # Allocate all pages now: otherwise the first access to each page waits for its allocation.
            os.posix_fallocate(self._descriptor, 0, self.bytes)
        return torch.frombuffer(mmap.mmap(self._descriptor, self.bytes), dtype=torch.uint8)

    def _checked(self, answer: tuple[Any, Any]) -> Any:
        error, value = answer
        if error != self._runtime.cudaError_t.cudaSuccess:
            raise MemoryError(error.name)
        return value


# Compared by identity, since tensors cannot be compared by `==`.
@dataclass(frozen=True, eq=False)
class Piece:
    """A tensor of an arena, `offset` bytes into its allocation. `tensor` is the judge's own view."""

    arena: Arena
    tensor: torch.Tensor
    dtype: DType
    offset: int


def guard_of(written: Sequence[GivenTensor]) -> Literal["nan", "secret"]:
    """Return the kind of guard zone for tensors that a call writes: NaN if the call also reads one of them, since NaN
    shows a read out of bounds, else a secret pattern."""
    return "nan" if any(tensor.filled for tensor in written) else "secret"


class Arena:
    """Tensors one after another at secret distances. `pieces` are the tensors of `wanted`, in order, with undefined
    contents; on either side of each lie at least 64 KiB and a row of guard zone.

    The zones hold NaN, so that a read out of bounds shows in the answer, or a secret pattern for memory that is
    written. `guard` writes the zones, `overruns` checks them. The arena lies in `allocation`, which has room for it, or
    makes an allocation of its own. Raises buffers.NoRoomError.
    """

    def __init__(
        self, wanted: Sequence[GivenTensor], *, place: Place = "device", guard: Literal["nan", "secret"] = "nan",
        sparse: bool = False, allocation: Allocation | None = None,
    ) -> None:
        spans, size = _laid(wanted, [secrets.randbelow(guards.MOST_DISTANCE) for _ in wanted])
        self._owns = allocation is None
        self.allocation = allocation or Allocation(size, place=place, sparse=sparse)
        # The arena lies at the end of the allocation, so that an access far past the arena is illegal.
        before = 0 if self._owns else self.allocation.bytes - size
        assert before >= 0
        self.memory = self.allocation.memory[before:]
        self._guards = guards.Guards(
            self.memory, spans, guards.nan_word() if guard == "nan" else secrets.randbits(32))
        self.pieces = [
            Piece(self, guards.view(self.memory, span.start, tensor.shape, tensor.dtype, tensor.strides), tensor.dtype,
                  before + span.start)
            for span, tensor in zip(spans, wanted, strict=True)]

    @staticmethod
    def most_bytes(wanted: Sequence[GivenTensor]) -> int:
        """Return the size in bytes of an allocation that has room for these tensors at any distances."""
        return _laid(wanted, [guards.MOST_DISTANCE] * len(wanted))[1]

    def guard(self) -> None:
        """Write all guard zones."""
        self._guards.write()

    def overruns(self) -> list[int]:
        """Return the indices of pieces whose guard zones have changed. Waits for the device."""
        return self._guards.overruns()

    def close(self) -> None:
        """Free the arena's own allocation, if it has one. Unbind it from executors first, and use none of its tensors
        afterwards."""
        if self._owns:
            self.allocation.close()


def _laid(wanted: Sequence[GivenTensor], distances: Sequence[int]) -> tuple[list[guards.Extent], int]:
    return guards.layout(
        [tensor.bytes for tensor in wanted],
        [guards.zone(tensor.shape, tensor.dtype, tensor.strides) for tensor in wanted], distances)
