"""Which addresses a launch may touch: the storages of the tensors passed to it, and nothing else.

A pointer carries the region it came from through its arithmetic, so an access is judged against its own tensor even
where it would land in another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .faults import OutOfBounds

Addresses = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Region:
    """The bytes from `start` up to, not including, `end`; `name` is the kernel's parameter."""

    name: str
    start: int
    end: int

    def distance(self, address: int) -> int:
        """How many bytes `address` lies outside; 0 inside."""
        return max(self.start - address, address - self.end + 1, 0)


class Memory:
    """The regions of one launch.

    `foreign` is set once the kernel makes a pointer from an integer: such a pointer may name any tensor that is
    alive, so pointers of unknown origin are no longer judged.
    """

    def __init__(self) -> None:
        self.regions: list[Region] = []
        self.foreign = False

    def add(self, name: str, start: int, size: int) -> Region:
        """The region of a tensor's storage of `size` bytes; tensors that share a storage share its bounds."""
        region = Region(name, start, start + size)
        self.regions.append(region)
        return region

    def check(
        self, pointers: Addresses, bounds: tuple[int, int], mask: Mask | None, width: int, origin: Region | None,
        action: str, place: Any,
    ) -> None:
        """Raise OutOfBounds if an active lane touches a byte outside its region.

        `bounds` encloses all pointers, masked ones too; `width` is the size of an element in bytes; `place()` tells
        the line, asked only on a fault.
        """
        low, high = bounds
        candidates = (origin,) if origin is not None else self.regions
        if any(low >= r.start and high + width <= r.end for r in candidates):
            return
        if origin is None and self.foreign:
            return
        active = pointers.reshape(-1) if mask is None else pointers[mask]
        if not active.size:
            return
        inside = np.zeros(active.shape, dtype=bool)
        for region in candidates:
            if region.end - region.start >= width:
                inside |= (active >= np.uint64(region.start)) & (active <= np.uint64(region.end - width))
        if inside.all():
            return
        outside = active[~inside]
        raise OutOfBounds(self._describe(outside, active.size, width, origin, action, place()))

    def _describe(
        self, outside: Addresses, lanes: int, width: int, origin: Region | None, action: str, place: str
    ) -> str:
        first, last = int(outside.min()), int(outside.max())
        where = f"{place}: {action} out of bounds"
        region = origin or min(self.regions, key=lambda r: min(r.distance(first), r.distance(last)), default=None)
        if region is None:
            return f"{where}: the launch was given no tensor, so there is no memory it may touch."
        if last + width > region.end:
            far = -(-(last + width - region.end) // width)
            far_text = f"up to {far:,} element{'s' * (far != 1)} past the end of `{region.name}`"
        else:
            far = -(-(region.start - first) // width)
            far_text = f"up to {far:,} element{'s' * (far != 1)} before the start of `{region.name}`"
        return (
            f"{where}: {outside.size:,} of {lanes:,} active lanes reach {far_text}. "
            "Mask the lanes that lie outside: mask=offsets < n."
        )
