"""Memory for an executor's calls: many tensors in one allocation, each between guard zones.

There is one allocation because an IPC handle exports all of it, and because opening each costs a tenth of a
millisecond. Nothing else of the judge's may lie in it.
"""

from __future__ import annotations

import mmap
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from grader.engine.executor import guards
from grader.engine.executor.messages import DeviceBlock, HostBlock
from grader.judge import buffers
from grader.plan.messages import GivenTensor
from grader.plan.plan import DType, Place

# CUDA Programming Guide, "Interprocess Communication": smaller allocations may be cut from one of 2 MiB, and the handle
# then opens the whole of it, neighbours included.
_GRANULE = 2 << 20


class Allocation:
    """At least `size` bytes of memory that executors can map; `bytes` is the actual size. Host memory that is `sparse`
    takes up only the pages that are touched. Raises buffers.NoRoomError if there is no memory."""

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
        """The allocation as a message names it. A descriptor that has to travel beside the message is added to
        `descriptors`."""
        if self.place == "device":
            return DeviceBlock(handle=self._handle.hex(), bytes=self.bytes)
        descriptors.append(self._descriptor)
        return HostBlock(descriptor=len(descriptors) - 1, bytes=self.bytes, pinned=self.place == "pinned")

    def close(self) -> None:
        """Gives back the judge's share. Executors must have unbound it before, and its tensors must not be used
        afterwards."""
        if self._pointer:
            self._runtime.cudaFree(self._pointer)
            self._pointer = 0
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _on_device(self) -> torch.Tensor:
        from cuda.bindings import runtime

        self._runtime: Any = runtime
        torch.cuda.init()  # type: ignore[no-untyped-call]
        error, pointer = runtime.cudaMalloc(self.bytes)
        if error == runtime.cudaError_t.cudaErrorMemoryAllocation:
            # Torch's cache holds memory that the judge has freed.
            torch.cuda.empty_cache()
            error, pointer = runtime.cudaMalloc(self.bytes)
        self._pointer = self._checked((error, pointer))
        self._handle = bytes(self._checked(runtime.cudaIpcGetMemHandle(self._pointer)).reserved)
        return guards.device_memory(self._pointer, self.bytes)

    def _on_host(self, sparse: bool) -> torch.Tensor:
        self._descriptor = buffers.memory_file(self.bytes)
        if not sparse:
            # All of it now: the first touch of a page waits for it.
            os.posix_fallocate(self._descriptor, 0, self.bytes)
        return torch.frombuffer(mmap.mmap(self._descriptor, self.bytes), dtype=torch.uint8)

    def _checked(self, answer: tuple[Any, Any]) -> Any:
        error, value = answer
        if error != self._runtime.cudaError_t.cudaSuccess:
            raise MemoryError(error.name)
        return value


# Two are the same only if they are one: tensors are not compared by `==`.
@dataclass(frozen=True, eq=False)
class Piece:
    """A contiguous tensor of an arena, `offset` bytes into it. `tensor` is the judge's view of it."""

    arena: Arena
    tensor: torch.Tensor
    dtype: DType
    offset: int


class Arena:
    """Tensors in one allocation, at secret distances. `pieces` follow `wanted`, each with a guard zone of at least 64
    KiB and a row on either side; their contents are undefined.

    `guard` says what the zones hold: NaN, so that a read out of bounds shows in the answer, or a secret pattern, for
    tensors that are written. `Arena.guard` writes the zones and `touched` checks them. The arena lies in `allocation`,
    if one is given, else in one of its own. Raises buffers.NoRoomError if there is no memory.
    """

    def __init__(
        self, wanted: Sequence[GivenTensor], *, place: Place = "device", guard: Literal["nan", "secret"] = "nan",
        sparse: bool = False, allocation: Allocation | None = None,
    ) -> None:
        spans, size = _laid(wanted, [secrets.randbelow(guards.MOST_DISTANCE) for _ in wanted])
        self._owns = allocation is None
        self.allocation = allocation or Allocation(size, place=place, sparse=sparse)
        # The arena lies at the allocation's end, so that an access far beyond it is illegal.
        before = 0 if self._owns else self.allocation.bytes - size
        assert before >= 0
        self.memory = self.allocation.memory[before:]
        self._guards = guards.Guards(
            self.memory, spans, guards.nan_word() if guard == "nan" else secrets.randbits(32))
        self.pieces = [
            Piece(self, guards.view(self.memory, span.start, tensor.shape, tensor.dtype), tensor.dtype,
                  before + span.start)
            for span, tensor in zip(spans, wanted, strict=True)]

    @staticmethod
    def most_bytes(wanted: Sequence[GivenTensor]) -> int:
        """The size of an allocation that has room for these tensors, whatever the distances."""
        return _laid(wanted, [guards.MOST_DISTANCE] * len(wanted))[1]

    def guard(self) -> None:
        """Writes all guard zones."""
        self._guards.write()

    def touched(self) -> list[int]:
        """Indices of the pieces next to which a guard zone has changed. Waits for the device."""
        return self._guards.touched()

    def close(self) -> None:
        """Gives back the arena's own allocation. Executors must have unbound it before, and its tensors must not be
        used afterwards."""
        if self._owns:
            self.allocation.close()


def _laid(wanted: Sequence[GivenTensor], distances: Sequence[int]) -> tuple[list[guards.Span], int]:
    return guards.layout(
        [guards.size_of(tensor.shape, tensor.dtype) for tensor in wanted],
        [guards.zone(tensor.shape, tensor.dtype) for tensor in wanted], distances)
