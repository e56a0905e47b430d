"""Memory that a kernel sees: the plan's buffers, and the memory of its blocks and threads.

Buffers lie so far apart that an address outside of a buffer shows for which one it is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.plan.limits import Limit
from grader.plan.traffic import Kind
from grader.simulation.findings import MemoryNames
from grader.simulation.ptx.engines import Copies, Transfers
from grader.simulation.ptx.lanes import Array, Frame, Unsupported, spread
from grader.simulation.ptx.races import Races, Synced
from grader.simulation.ptx.regions import (
    APART,
    LOCAL,
    MOST_LOCAL,
    PARAM,
    SHARED,
    LaunchMemory,
    LocalSpace,
    Region,
    ResolvedAccess,
    SharedSpace,
    whole,
)

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Machine

GAP = 256
"""The bytes after each shared array that belong to none."""
ROW = 16
"""The bytes of a row of a matrix of 8 × 8 halves."""
MOST_REGIONS = 64
_HALF = np.uint64(1 << (APART - 1))
_APART = np.uint64(APART)


class Spaces:
    """All memory of a launch. `regions` are the plan's buffers by their numbers, and other regions from TABLES - 1 on.
    `rows` (blocks, 1) are the bytes at which the shared memory of each running block begins."""

    def __init__(self, regions: dict[int, Region], shared: SharedSpace, launched: LaunchMemory, races: Races) -> None:
        self.regions, self.shared, self.local, self.races = regions, shared, LocalSpace(), races
        self.parameters = Region(launched.parameters, PARAM, MemoryNames("parameters"))
        self.workspace, self.multiprocessors = launched.workspace, launched.multiprocessors
        self.deviations, self.erring = launched.deviations, launched.erring
        self.unset = 0x5A if "bits" in self.deviations else 0xFF
        self.rows, self._threads = shared.rows, self.local.threads
        self.local_base = 0
        self.transfers, self.copies = Transfers(), Copies()
        races.place = self.place

    def begin(self, numbers: Array, threads: int, checked: bool) -> None:
        blocks = numbers.size
        if blocks * self.shared.bytes > MOST_LOCAL:
            raise Limit("memory")
        self.shared.begin(blocks, checked, self.unset)
        self.local.begin(blocks, threads, self.unset)
        self.transfers.due.clear()
        self.copies.begin(*((self.shared.region.raw.size >> 2, blocks * threads) if checked else (0, 0)))
        self.races.begin(numbers, checked)
        self.rows, self._threads = self.shared.rows, self.local.threads

    def select(self, frame: Frame, local: int) -> None:
        """Select the part of the chunk that accesses memory."""
        self.rows = frame.narrow(self.shared.rows)
        self._threads = frame.narrow(self.local.threads)
        self.races.select(frame)
        self.local_base = local

    # Memory at addresses.

    def resolve(self, m: Machine, space: str, address: Array, size: int, way: Kind, item: int) -> list[ResolvedAccess]:
        """Return the memory at the addresses of an access of `size` bytes, in elements of `item` bytes. Threads that
        reach outside of memory are recorded and left out."""
        if not space:
            return self._generic(m, address, size, way, item)
        if space == "shared":
            return self._shared(m, address, size, way, item)
        if space == "local":
            return self._local(m, address, size, way)
        if space == "param":
            return self._inside(m, self.parameters, address, size, way)
        return self._global(m, address, size, way, item)

    def _generic(self, m: Machine, address: Array, size: int, way: Kind, item: int) -> list[ResolvedAccess]:
        low, high = int(address.min()), int(address.max())
        if high < SHARED:
            return self._global(m, address, size, way, item)
        pieces: list[ResolvedAccess] = []
        bounds = ((0, SHARED, "global"), (SHARED, LOCAL, "shared"), (LOCAL, PARAM, "local"), (PARAM, 1 << 63, "param"))
        for begin, end, space in bounds:
            if begin <= low and high < end:
                return self.resolve(m, space, address - np.uint64(begin), size, way, item)
        for begin, end, space in bounds:
            here = (address >= np.uint64(begin)) & (address < np.uint64(end))
            mask = here if m.mask is None else here & m.mask
            if mask.any():
                with m.under(mask):
                    pieces += [piece._replace(partial=True, mask=mask if piece.mask is None else piece.mask)
                               for piece in self.resolve(m, space, address - np.uint64(begin), size, way, item)]
        return pieces

    def _global(self, m: Machine, address: Array, size: int, way: Kind, item: int) -> list[ResolvedAccess]:
        if m.mask is not None and address.shape == m.mask.shape:
            # Addresses of inactive threads may be anything: they get the address of the first active one.
            first = int(m.mask.argmax())
            if m.mask.reshape(-1)[first]:
                address = np.where(m.mask, address, address.reshape(-1)[first])
        low = int(address.min())
        region = self.regions.get(((low + (1 << (APART - 1))) >> APART) - 1)
        if region is not None and region.base <= low and int(address.max()) + size <= region.base + region.raw.size:
            offsets = (address - np.uint64(region.base)).view(np.int64)
            if not _misaligned(offsets, size):
                return [ResolvedAccess(region, offsets, m.mask)]
        return self._global_slowly(m, address, size, way, item)

    def _global_slowly(self, m: Machine, address: Array, size: int, way: Kind, item: int) -> list[ResolvedAccess]:
        """Return the same as `resolve`, for addresses in several buffers, outside of buffers, or not aligned."""
        wide = np.broadcast_to(address, m.shape)
        mask = np.ones(m.shape, bool) if m.mask is None else np.broadcast_to(m.mask, m.shape)
        active = wide[mask]
        if not active.size:
            return []
        numbers = np.unique((active + _HALF) >> _APART).astype(np.int64) - 1
        if numbers.size > MOST_REGIONS:
            raise Unsupported("addresses in more than 64 tensors at once")
        pieces = []
        for number in numbers.tolist():
            here = mask if numbers.size == 1 else mask & (((wide + _HALF) >> _APART).astype(np.int64) - 1 == number)
            region = self.regions.get(number) or Region(np.zeros(0, np.uint8), 0, MemoryNames(""))
            offsets = (wide - np.uint64(region.base)).view(np.int64)
            offsets = self._aligned(m, region, offsets, here, size, way)
            bad = here & ((offsets < 0) | (offsets + size > region.raw.size))
            part = numbers.size > 1
            if bad.any():
                m.findings.out_of_bounds(
                    m.site(), way, region.named, region.raw.size // item, offsets // item, bad, here)
                here, part = here & ~bad, True
            if here.any():
                pieces.append(ResolvedAccess(region, offsets, here, part))
        return pieces

    def _aligned(self, m: Machine, region: Region, offsets: Array, here: Array, size: int, way: Kind) -> Array:
        crooked = here & ((offsets & (size - 1)) != 0)
        if crooked.any():
            first = int(np.argmax(crooked.any(1)))
            m.findings.misaligned(m.site(), way, region.named, size, int(offsets[crooked][0]), first)
            offsets = offsets & ~np.int64(size - 1)
        return offsets

    def region_around(self, address: int) -> Region:
        """Return the region of global memory around an address, which may lie outside of it; an empty one if none is
        near."""
        number = (address + int(_HALF) >> APART) - 1
        return self.regions.get(number) or Region(np.zeros(0, np.uint8), 0, MemoryNames(""))

    def aligned(self, m: Machine, address: Array, size: int, here: Array) -> Array:
        """Return addresses of global memory for loads of the words of `size` bytes. Threads of `here` whose address is
        no multiple of `size` are recorded, and get the multiple before it."""
        crooked = (address & np.uint64(size - 1) != 0) & here
        crooked = np.broadcast_to(crooked if m.mask is None else crooked & m.mask, m.shape)
        if not crooked.any():
            return address
        wide = np.broadcast_to(address, m.shape)
        region = self.region_around(int(wide[crooked][0]))
        self._aligned(m, region, (wide - np.uint64(region.base)).view(np.int64), crooked, size, "load")
        return np.where(crooked, wide & ~np.uint64(size - 1), wide)

    def _inside(self, m: Machine, region: Region, address: Array, size: int, way: Kind) -> list[ResolvedAccess]:
        """Return an access to memory whose bounds any compiled kernel respects. Raises Unsupported outside of it."""
        offsets = address.view(np.int64)
        if m.mask is not None:
            offsets = np.where(m.mask, offsets, 0)
        bad = (offsets < 0) | (offsets + size > region.raw.size) | (offsets & (size - 1) != 0)
        if bad.any():
            raise Unsupported(f"a {way} outside of {region.named.name}")
        return [ResolvedAccess(region, offsets, m.mask)]

    def _shared(self, m: Machine, address: Array, size: int, way: Kind, item: int) -> list[ResolvedAccess]:
        offsets = address.view(np.int64)
        low, high = int(offsets.min()), int(offsets.max())
        space, mask = self.shared, m.mask
        partial = False
        fits = low >= 0 and high + size <= space.bytes and not _misaligned(offsets, size)
        if not fits or not self._valid(offsets, low, high, size):
            wide = np.broadcast_to(offsets, m.shape)
            here = np.ones(m.shape, bool) if mask is None else np.broadcast_to(mask, m.shape)
            name = space.array(int(wide[here][0]) if here.any() else 0)[2]
            meant = Region(np.zeros(0, np.uint8), 0, MemoryNames(name, shared=True))
            offsets = self._aligned(m, meant, wide, here, size, way)
            within = np.clip(offsets, 0, max(0, space.bytes - size))
            bad = here & ((within != offsets) | ~(space.valid[within] & space.valid[within + size - 1]))
            if bad.any():
                begin, end, name = space.array(int(offsets[bad][0]))
                m.findings.out_of_bounds(
                    m.site(), way, MemoryNames(name, shared=True), (end - begin) // item, (offsets - begin) // item,
                    bad, here)
                partial = True
                mask = here & ~bad
                if not mask.any():
                    return []
            offsets = within
        return [ResolvedAccess(space.region, offsets + self.rows, mask, partial)]

    def _valid(self, offsets: Array, low: int, high: int, size: int) -> bool:
        for begin, end, _ in self.shared.arrays:
            if begin <= low < end:
                return high + size <= end or bool(
                    (self.shared.valid[offsets] & self.shared.valid[offsets + size - 1]).all())
        return False

    def _local(self, m: Machine, address: Array, size: int, way: Kind) -> list[ResolvedAccess]:
        offsets = address.view(np.int64)
        if m.mask is not None:
            offsets = np.where(m.mask, offsets, 0)
        if int(offsets.min()) < 0 or int(offsets.max()) + size > self.local.size or _misaligned(offsets, size):
            # Inactive threads have the offset 0, which lies outside of no memory at all.
            bad = np.broadcast_to(
                ((offsets < 0) | (offsets + size > self.local.size)) & (m.mask is None or m.mask), m.shape)
            if not bad.any():
                raise Unsupported("local memory that is not aligned")
            m.findings.out_of_bounds(
                m.site(), way, MemoryNames("", shared=True), self.local.size // 4,
                np.broadcast_to(offsets // 4, m.shape), bad,
                np.broadcast_to(True if m.mask is None else m.mask, m.shape))
            here = ~bad if m.mask is None else m.mask & ~bad
            offsets = np.where(here, offsets, 0)
            if not here.any() or not self.local.size:
                return []
            return [ResolvedAccess(self.local.region, self._spread(offsets), here, True)]
        return [ResolvedAccess(self.local.region, self._spread(offsets), m.mask)]

    def _spread(self, offsets: Array) -> Array:
        return ((offsets >> 3) * self.local.lanes + self._threads) * 8 + (offsets & 7)

    # Loads and stores.

    def load(
        self, m: Machine, space: str, address: Array, dtype: np.dtype[Any], count: int = 1,
        synced: Synced = Synced.PLAIN,
    ) -> list[Array]:
        """Load `count` contiguous elements for each thread, zeros where there is no memory. `synced`: the load orders
        itself."""
        if space == "local" and count > 1:
            return [self.load(m, space, address + np.uint64(k * dtype.itemsize), dtype)[0] for k in range(count)]
        size = dtype.itemsize
        pieces = self.resolve(m, space, address, size * count, "load", size)
        if not pieces:
            return [np.zeros((1, 1), dtype)] * count
        results: list[Array] | None = None
        for piece in pieces:
            index = piece.offsets >> (size.bit_length() - 1)
            if piece.region is self.local.region and count > 1:
                elements = [self._taken(piece, index + self._distance(k, size), dtype) for k in range(count)]
            else:
                elements = [self._taken(piece, index + k if k else index, dtype) for k in range(count)]
            if piece.region.written is not None:
                self._check_written(m, piece, index, size, count)
                if self.copies.pending and piece.region is self.shared.region:
                    self._check_completed(m, piece, size * count)
            if piece.region is not self.local.region and piece.region is not self.parameters:
                unordered = self.races.loaded(m, piece.region, piece.offsets, piece.mask, size * count, size, synced)
                for word, places in unordered.items():
                    k = (word << self.races.unit) // size
                    elements[k] = _as_before(piece.region, index + k, elements[k], places, m.shape)
                if m.observer is not None:
                    m.observer.access(m, "load", piece.region, piece.offsets, piece.mask, size, count)
            if piece.partial:
                assert piece.mask is not None
                before = results or [np.zeros((1, 1), dtype)] * count
                results = [np.where(piece.mask, new, old) for new, old in zip(elements, before, strict=True)]
            else:
                results = elements
        assert results is not None
        return results

    def _distance(self, number: int, size: int) -> int:
        """Return the distance of an element of a vector from the first one, in elements of local memory."""
        at = number * size
        return (at // 8 * self.local.lanes * 8 + at % 8) // size

    def shared_rows(self, address: Array) -> Array | None:
        """Return the four words of rows of shared memory, along a new last axis; `address` is (blocks, …). None if rows
        have to be checked: they lie outside of an array, or the chunk is checked for races."""
        space, offsets = self.shared, address.view(np.int64)
        low, high = int(offsets.min()), int(offsets.max())
        if space.region.written is not None or space.bytes % ROW or low < 0 or high + ROW > space.bytes or (
            _misaligned(offsets, ROW) or not self._valid(offsets, low, high, ROW)
        ):
            return None
        words = space.region.view(np.dtype(np.uint32)).reshape(-1, ROW // 4)
        return words[(offsets + self.rows.reshape(-1, *[1] * (offsets.ndim - 1))) >> 4]

    def _taken(self, piece: ResolvedAccess, index: Array, dtype: np.dtype[Any]) -> Array:
        return piece.region.view(dtype).take(index, mode="clip")

    def _check_written(self, m: Machine, piece: ResolvedAccess, index: Array, size: int, count: int) -> None:
        full = whole(size)
        for k in range(count):
            known = piece.region.marks(size).take(index + k, mode="clip") == full
            if known.all():
                continue
            bad = ~known if piece.mask is None else ~known & piece.mask
            if bad.any():
                bad = np.broadcast_to(bad, m.shape)
                first = int(np.argmax(bad.any(1)))
                named, _ = self.place(piece.region, int(piece.offsets.flat[0]), size)
                loaded = np.broadcast_to(piece.offsets, m.shape)[first][
                    np.broadcast_to(True if piece.mask is None else piece.mask, m.shape)[first]]
                m.findings.unwritten(m.site(), named, int(bad[first].sum()), first,
                                     stored=self.stored_rows(piece.region, loaded, first))
                return

    def _check_completed(self, m: Machine, piece: ResolvedAccess, size: int) -> None:
        words = piece.offsets >> 2
        for step in range(max(1, size >> 2)):
            early = self.copies.is_pending(words + step)
            if piece.mask is not None:
                early = early & piece.mask
            if early.any():
                block = int(np.argmax(np.broadcast_to(early, m.shape).any(1)))
                m.findings.undefined(m.site(), "pending", numbers=[int(m.numbers_here()[block])])
                return

    def running(self, m: Machine) -> Array:
        """Return the indices in the chunk of the threads that take part."""
        return _of_active(m, m.mask, self._threads)

    def wait_for_copies(self, m: Machine, left: int | None) -> None:
        """Let the threads that take part wait for their copies: see `Copies.wait`."""
        if self.copies.pending:
            m.version += 1
            self.races.completed(m, self.shared.region, *self.copies.wait(self.running(m), left))

    def place(self, region: Region, offset: int, size: int) -> tuple[MemoryNames, int]:
        """Return the names of the memory at a byte, and the index of the element of `size` bytes there."""
        if region.named.shared:
            offset %= self.shared.bytes
            begin, _, name = self.shared.array(offset)
            return MemoryNames(name, shared=True), max(0, offset - begin) // size
        return region.named, offset // size

    def stored_rows(self, region: Region, loaded: Array, block: int) -> tuple[int, int] | None:
        """Return the length of the stored rows of a block's shared array, and the distance between their starts, in
        bytes. None if rows are uneven, or if the elements `loaded`, by first bytes, are the same columns of rows at
        that distance."""
        if not region.named.shared or region.written is None:
            return None
        begin, end, _ = self.shared.array(int(loaded[0]) % self.shared.bytes)
        row = int(self.rows.reshape(-1)[block])
        edges = np.flatnonzero(np.diff(region.written[row + begin:row + end] != 0, prepend=False, append=False))
        lengths, apart = edges[1::2] - edges[::2], np.diff(edges[::2])
        if len(apart) < 2 or np.ptp(lengths) or np.ptp(apart):
            return None
        rows, columns = map(np.unique, np.divmod(places := np.unique(loaded - row - begin), apart[0]))
        return None if len(places) == len(rows) * len(columns) else (int(lengths[0]), int(apart[0]))

    def store(
        self, m: Machine, space: str, address: Array, values: Sequence[Array], dtype: np.dtype[Any],
        synced: Synced = Synced.PLAIN, copied: bool = False,
    ) -> None:
        """Store values. `synced`: the store orders itself. `copied`: words arrive in shared memory when their threads
        wait for them, at the latest."""
        count, size = len(values), dtype.itemsize
        if space == "local" and count > 1:
            for k, value in enumerate(values):
                self.store(m, space, address + np.uint64(k * size), [value], dtype)
            return
        m.version += 1
        for piece in self.resolve(m, space, address, size * count, "store", size):
            index = piece.offsets >> (size.bit_length() - 1)
            private = piece.region is self.local.region
            if piece.region is self.parameters:
                raise Unsupported("a store to parameters")
            view = piece.region.view(dtype)
            parts = []
            for k, value in enumerate(values):
                step = self._distance(k, size) if private else k
                parts.append(_lanes(m, piece.mask, index + step if step else index, value))
            if not private:
                self.races.stored(m, piece, size, parts, dtype, synced)
                if m.observer is not None:
                    m.observer.access(m, "store", piece.region, piece.offsets, piece.mask, size, count)
            for at, value in parts:
                view[at] = value
                if piece.region.written is not None:
                    piece.region.marks(size)[at] = whole(size)
                if copied and piece.region is self.shared.region:
                    self.copies.start(at, _of_active(m, piece.mask, self._threads))
            if not private and not synced.orders:
                self.races.settled(m, piece, view, parts)


def _lanes(m: Machine, mask: Array | None, index: Array, value: Array) -> tuple[Array, Array]:
    """Return the indices of the threads that take part, and their values, one after another."""
    return _of_active(m, mask, index), _of_active(m, mask, value)


def _of_active(m: Machine, mask: Array | None, value: Array) -> Array:
    """Return a value of the threads that take part, one after another."""
    value = spread(value, m.shape)
    return value.reshape(-1) if mask is None else value[spread(mask, m.shape)]


def _misaligned(offsets: Array, size: int) -> bool:
    return size > 1 and bool(int(np.bitwise_or.reduce(offsets, axis=None)) & (size - 1))


def _as_before(region: Region, index: Array, found: Array, places: Array, shape: tuple[int, ...]) -> Array:
    """Return the values that a load has `found`, with those from before the launch at `places` of the flattened
    shape."""
    assert region.before is not None
    values = np.broadcast_to(found, shape).copy()
    before = region.before[: region.before.size // found.dtype.itemsize * found.dtype.itemsize].view(found.dtype)
    values.reshape(-1)[places] = before[np.broadcast_to(index, shape).reshape(-1)[places]]
    return values
