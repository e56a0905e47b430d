"""The memory of calls: the judge's blocks, which are mapped, and the temporaries of plans, which the executor owns."""

from __future__ import annotations

import mmap
from collections.abc import Sequence, Set
from typing import Any

import torch

from grader.device import guards
from grader.device.driver import DriverError, checked
from grader.device.messages import DeviceBlock, PlacedTensor, Slots
from grader.plan.plan import Buffer, Place


class MappedBlocks:
    """The judge's memory as this process sees it: `memory` is a flat tensor for each block."""

    def __init__(self) -> None:
        # Late: only machines with a GPU have it.
        from cuda.bindings import runtime

        self._runtime: Any = runtime
        # Pointers to device memory, by its IPC handle.
        self._opened: dict[str, int] = {}
        self._pinned: list[int] = []
        self.memory: list[torch.Tensor] = []

    def map(self, slots: Slots, descriptors: Sequence[int]) -> None:
        """Map these blocks, and release all others. No work may be left on the blocks mapped before."""
        self._let_go({block.handle for block in slots.blocks if isinstance(block, DeviceBlock)})
        runtime = self._runtime
        for block in slots.blocks:
            if isinstance(block, DeviceBlock):
                if block.handle not in self._opened:
                    handle = runtime.cudaIpcMemHandle_t()
                    handle.reserved = bytes.fromhex(block.handle)
                    self._opened[block.handle] = int(
                        checked(runtime.cudaIpcOpenMemHandle(handle, runtime.cudaIpcMemLazyEnablePeerAccess)))
                self.memory.append(guards.device_memory(self._opened[block.handle], block.bytes))
                continue
            mapped = torch.frombuffer(mmap.mmap(descriptors[block.descriptor], block.bytes), dtype=torch.uint8)
            self.memory.append(mapped)
            if block.pinned:
                checked(runtime.cudaHostRegister(mapped.data_ptr(), block.bytes, 0))
                self._pinned.append(mapped.data_ptr())

    def tensor(self, placed: PlacedTensor) -> torch.Tensor:
        return guards.view(self.memory[placed.block], placed.offset, placed.shape, placed.dtype, placed.strides)

    def _let_go(self, kept: Set[str]) -> None:
        """Release all blocks, except the device memory behind these handles."""
        for handle in self._opened.keys() - kept:
            checked(self._runtime.cudaIpcCloseMemHandle(self._opened.pop(handle)))
        for pointer in self._pinned:
            checked(self._runtime.cudaHostUnregister(pointer))
        self._pinned, self.memory = [], []


class Temporaries:
    """Memory for the temporaries of a plan, between guard zones: one allocation for each kind of place.

    `flat` has the memory of each temporary, by its index among the plan's buffers. Raises DriverError if there is too
    little memory.
    """

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self._word = guards.nan_word()
        self._arenas: list[tuple[torch.Tensor, guards.Guards, list[int]]] = []
        self._state: list[torch.Tensor] = []
        self.flat: dict[int, torch.Tensor] = {}
        places: tuple[Place, ...] = ("device", "pinned", "host")
        for place in places:
            indices = [i for i, buffer in enumerate(buffers) if not buffer.given and buffer.place == place]
            if not indices:
                continue
            spans, size = guards.layout(
                [buffers[i].bytes for i in indices], [guards.ZONE_BYTES] * len(indices), [0] * len(indices))
            try:
                memory = torch.empty(
                    size, dtype=torch.uint8, device="cuda" if place == "device" else "cpu",
                    pin_memory=place == "pinned")
            except RuntimeError as error:
                raise DriverError("out_of_memory", str(error)[:2000]) from None
            self._arenas.append((memory, guards.Guards(memory, spans, self._word), indices))
            self.flat |= {i: memory[span.start : span.end] for i, span in zip(indices, spans, strict=True)}

    def poison(self) -> None:
        """Fill all of the memory with NaN, guard zones included."""
        for memory, _, _ in self._arenas:
            memory.view(torch.int32).fill_(self._word - (1 << 32) if self._word >= 1 << 31 else self._word)

    def overruns(self) -> list[int]:
        """Return the indices of the buffers around which something was written."""
        return sorted(indices[i] for _, zones, indices in self._arenas for i in zones.overruns())

    def keep(self) -> None:
        """Save the present contents for `restore`."""
        self._state = [memory.clone() for memory, _, _ in self._arenas]

    def restore(self) -> None:
        for (memory, _, _), kept in zip(self._arenas, self._state, strict=True):
            memory.copy_(kept)
