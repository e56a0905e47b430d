"""Guard zones: memory around tensors that no kernel may touch. This file lays them out, fills and checks them.

It uses PyTorch alone, works on any device, and makes the same number of launches for any number of tensors.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from grader.plan.plan import BUFFER_ALIGNMENT, ITEM_BYTES, DType, memory_span

ZONE_BYTES = 64 << 10
# The alignment of tensors. Zones are compared line by line.
LINE = BUFFER_ALIGNMENT
MOST_DISTANCE = 256
"""The largest number of lines that are added to the distance between two tensors, beside their zones."""


@dataclass(frozen=True)
class Extent:
    """The bytes of a tensor inside a block of memory."""

    start: int
    end: int


class DeviceBytes:
    """Device memory with the CUDA array interface, version 3 (Numba's documentation), which torch accepts."""

    def __init__(self, pointer: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "version": 3, "data": (int(pointer), False), "shape": (size,), "typestr": "|u1"}


def device_memory(pointer: int, size: int) -> torch.Tensor:
    """Return a view of `size` bytes of device memory. Nothing is copied, and the view keeps nothing alive."""
    return torch.as_tensor(DeviceBytes(pointer, size), device="cuda")


def torch_dtype(dtype: DType) -> torch.dtype:
    made = getattr(torch, dtype)
    assert isinstance(made, torch.dtype)
    return made


def size_of(shape: Sequence[int], dtype: DType, strides: Sequence[int] = ()) -> int:
    """Return the bytes of a tensor's memory, including the bytes between its elements if it has `strides`."""
    return memory_span(shape, strides) * ITEM_BYTES[dtype]


def zone(shape: Sequence[int], dtype: DType, strides: Sequence[int] = ()) -> int:
    """Return the bytes to leave free on either side of a tensor: 64 KiB and a row, since wrong indices are mostly off
    by a row at most."""
    row = max(strides) if strides else shape[-1] if len(shape) > 1 else 0
    return ZONE_BYTES + row * ITEM_BYTES[dtype]


def view(
    memory: torch.Tensor, offset: int, shape: Sequence[int], dtype: DType, strides: Sequence[int] = ()
) -> torch.Tensor:
    """Return a tensor `offset` bytes into flat memory: contiguous, or with these strides, in elements."""
    flat = memory[offset : offset + size_of(shape, dtype, strides)].view(torch_dtype(dtype))
    return flat.as_strided(tuple(shape), tuple(strides)) if strides else flat.view(*shape)


def nan_word() -> int:
    """Return 32 secret bits that are NaN as float32 and twice NaN as float16 and bfloat16. The two halves differ only
    in their payloads."""
    halves = [0x7F81 + secrets.randbelow(0x7F) for _ in range(2)]
    return halves[0] << 16 | halves[1]


def layout(sizes: Sequence[int], zones: Sequence[int], distances: Sequence[int]) -> tuple[list[Extent], int]:
    """Return the extents of tensors, and the bytes that all of them take. Tensor i starts at least `zones[i]` bytes,
    and at least the zone of the tensor before, behind that tensor's end, plus `distances[i]` lines."""
    spans: list[Extent] = []
    end, before = 0, 0
    for size, around, lines in zip(sizes, zones, distances, strict=True):
        start = -(-(end + max(before, around)) // LINE) * LINE + lines * LINE
        spans.append(Extent(start, start + size))
        end, before = start + size, around
    return spans, -(-(end + before) // LINE) * LINE


class Guards:
    """The guard zones in flat `memory`: all bytes of its whole lines that belong to no tensor, filled with `word`, 32
    bits.

    `spans` are the tensors, in ascending order. A line wholly outside of tensors is compared by words; a line in which
    a tensor ends is compared byte by byte behind that end.
    """

    def __init__(self, memory: torch.Tensor, spans: Sequence[Extent], word: int) -> None:
        self._lines = memory[: len(memory) // LINE * LINE].view(torch.int32).view(-1, LINE // 4)
        self._word = word - (1 << 32) if word >= 1 << 31 else word
        self._spans = spans
        free: list[torch.Tensor] = []
        partial: list[tuple[int, int]] = []
        at = 0
        for span in [*spans, Extent(len(self._lines) * LINE, 0)]:
            free.append(torch.arange(at, span.start // LINE))
            if span.end % LINE:
                partial.append((span.end // LINE, span.end % LINE))
            at = -(-span.end // LINE)
        self._free = torch.cat(free).to(memory.device)
        self._partial = torch.tensor([line for line, _ in partial], dtype=torch.int64).to(memory.device)
        begin = torch.tensor([used for _, used in partial], dtype=torch.int64)
        self._guarded = (torch.arange(LINE) >= begin[:, None]).to(memory.device)
        pattern = (word & (1 << 32) - 1).to_bytes(4, "little") * (LINE // 4)
        self._pattern = torch.frombuffer(bytearray(pattern), dtype=torch.uint8).to(memory.device)

    def write(self) -> None:
        self._lines.index_fill_(0, self._free, self._word)
        kept = self._lines.index_select(0, self._partial).view(torch.uint8)
        self._lines.index_copy_(0, self._partial, torch.where(self._guarded, self._pattern, kept).view(torch.int32))

    def overruns(self) -> list[int]:
        """Return the indices of the spans beside which the guard zone has changed."""
        whole = (self._lines.index_select(0, self._free) != self._word).any(1)
        ends = self._lines.index_select(0, self._partial).view(torch.uint8)
        behind = ((ends != self._pattern) & self._guarded).any(1)
        if not bool(torch.cat([whole, behind]).any()):
            return []
        # A zone belongs to both of its neighbours: report the nearer one.
        middles = torch.tensor([(a.end + b.start) // 2 for a, b in pairwise(self._spans)], dtype=torch.int64)
        at = torch.cat([self._free[whole], self._partial[behind]]).cpu() * LINE
        return sorted(set(torch.bucketize(at, middles).tolist()))
