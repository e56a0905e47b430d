"""Work of the copy engine and the tensor cores on behalf of threads: elements that they access, and what is under
way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.plan.traffic import Kind
from grader.simulation.findings import MemoryNames
from grader.simulation.ptx.lanes import Array
from grader.simulation.ptx.regions import APART, PARAM, Region, ResolvedAccess, whole

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Machine


Copy = Callable[["Machine", "ThreadIndices"], None]


class ThreadIndices(NamedTuple):
    """Threads on whose behalf memory is accessed: indices of blocks and of threads in the part of the chunk that
    runs."""

    blocks: Array
    threads: Array


def active(m: Machine) -> ThreadIndices:
    return ThreadIndices(*np.nonzero(np.broadcast_to(True if m.mask is None else m.mask, m.shape)))


def of_first(value: Array, m: Machine, who: ThreadIndices) -> int:
    """Return a register's value in the first of the threads."""
    return int(np.broadcast_to(value, m.shape)[who.blocks[0], who.threads[0]])


def shared_place(m: Machine, who: ThreadIndices, addresses: Array, item: int, way: Kind) -> Elements:
    """Return elements of `item` bytes in the shared memory of blocks, at `addresses` of the shape (threads, …). Records
    those outside."""
    space = m.spaces.shared
    within = np.clip(addresses, 0, space.bytes - item)
    inside = (within == addresses) & space.valid[within] & space.valid[within + item - 1]
    if not inside.all():
        begin, end, name = space.array(int(addresses[~inside][0]))
        outside(m, who, way, MemoryNames(name, shared=True), (end - begin) // item, (addresses - begin) // item, inside)
    rows = m.spaces.rows[who.blocks].reshape(-1, *[1] * (addresses.ndim - 1))
    return Elements(space.region, np.where(inside, (within + rows) // item, 0), inside)


def global_place(
    m: Machine, who: ThreadIndices, address: int, offsets: Array, wanted: Array, item: int, way: Kind
) -> Elements:
    """Return elements at `offsets`, in bytes, from an address, for one thread. Elements that are not `wanted` are not
    inside; wanted ones outside of memory are recorded."""
    address = min(address, 1 << 62)
    # A tensor map may be a parameter.
    region = m.spaces.parameters if address >= PARAM else m.spaces.region_around(address)
    at = (address - region.base + offsets)[None]
    inside = (at >= 0) & (at + item <= region.raw.size)
    if not (inside | ~wanted).all():
        outside(m, who, way, region.named, region.raw.size // item, at // item, inside | ~wanted)
    inside &= wanted
    return Elements(region, np.where(inside, at // item, 0), inside)


def aligned(m: Machine, who: ThreadIndices, address: int, to: int, way: Kind, named: MemoryNames) -> int:
    """Return an address, rounded down to a multiple of `to`. Records an address that is no multiple."""
    if address % to:
        m.findings.misaligned(m.site(), way, named, to, address % (1 << APART), int(who.blocks[0]))
    return address - address % to


def load(m: Machine, who: ThreadIndices, place: Elements, item: int) -> Array:
    """Return the elements of a place, zeros for those that are not inside. Records elements that nothing has written,
    and elements of copies for which no thread has waited."""
    region, kind = place.region, np.dtype(f"u{item}")
    if region.written is not None:
        known = (region.marks(item).take(place.index, mode="clip") == whole(item)) | ~place.inside
        if not known.all():
            first = int(np.argmin(known.reshape(len(known), -1).all(1)))
            offset = int(place.index[~known][0]) * item
            named, _ = m.spaces.place(region, offset, item)
            loaded = place.index[first][place.inside[first]] * item
            m.findings.unwritten(m.site(), named, int((~known[first]).sum()), int(who.blocks[first]),
                                 stored=m.spaces.stored_rows(region, loaded, int(who.blocks[first])))
        if m.spaces.copies.pending and region is m.spaces.shared.region:
            early = (m.spaces.copies.is_pending(place.index * item >> 2) & place.inside).reshape(len(known), -1).any(1)
            if early.any():
                block = int(who.blocks[int(np.argmax(early))])
                m.findings.undefined(m.site(), "pending", numbers=[int(m.numbers_here()[block])])
    view = region.view(kind)
    return np.where(place.inside, view.take(place.index, mode="clip") if view.size else kind.type(0), kind.type(0))


def outside(
    m: Machine, who: ThreadIndices, way: Kind, named: MemoryNames, elements: int, offsets: Array, inside: Array
) -> None:
    """Record threads with elements that are not inside."""
    every, bad, at = np.zeros((3, *m.shape), np.int64)
    flat, far = inside.reshape(len(inside), -1), offsets.reshape(len(offsets), -1)
    every[who], bad[who] = 1, ~flat.all(1)
    at[who] = far[np.arange(len(far)), flat.argmin(1)]
    m.findings.out_of_bounds(m.site(), way, named, elements, at, bad != 0, every != 0)


FIELD = np.uint64(20)
PENDING = np.uint64((1 << 20) - 1)
PHASE = np.uint64(1 << 63)
_BYTES, _AT = (1 << 22) - 1, np.uint64(40)
"""The mask of the field that counts bytes in a barrier in memory, and the field's lowest bit."""


def after(words: Array, arrived: Array, due: Array) -> Array:
    """Return barriers, as in `grader.simulation.ptx.instructions.copies`, after `arrived` arrivals, with `due` more
    bytes to come. Arrivals beyond those that a phase expects count for the next one."""
    pending, expected = ((words >> at & PENDING).astype(np.int64) for at in (np.uint64(0), FIELD))
    bytes_ = ((words >> _AT).astype(np.int64) + due) & _BYTES
    over = arrived - pending
    ends = (over >= 0) & (bytes_ == 0)
    most = np.maximum(expected, 1)
    phase = np.where(ends & (over // most % 2 == 0), words ^ PHASE, words) & PHASE
    pending = np.where(ends, expected - over % most, np.maximum(-over, 0))
    return phase | bytes_.astype(np.uint64) << _AT | expected.astype(np.uint64) << FIELD | pending.astype(np.uint64)


class Elements(NamedTuple):
    """Elements of a region by their `index`, with a mask of those `inside` the region; the index of others is 0."""

    region: Region
    index: Array
    inside: Array

    def put(self, values: Array) -> None:
        """Store elements without a thread: their last touches stay as they are."""
        at, size = self.index[self.inside], values.dtype.itemsize
        region = self.region
        region.view(values.dtype)[at] = values[self.inside]
        if region.written is not None:
            region.marks(size)[at] = whole(size)

    def forget(self, unit: int, size: int) -> None:
        """Clear the last touches of elements of `size` bytes; a word has 2^unit bytes."""
        if (touched := self.region.touched) is not None:
            words = self.index[self.inside] * size >> unit
            for step in range(max(1, size >> unit)):
                for stamps in (touched.writer, *touched.readers):
                    stamps[words + step] = 0


class Transfers:
    """Bulk copies that are `due` at each barrier: by the index of its word in the shared memory of a chunk. See
    "Asynchronous copy" of the PTX ISA (9.0, 9.7.9.25).

    Data arrives when a thread tests the barrier, as late as a GPU may have it: threads that do not test find the old
    contents.
    """

    def __init__(self) -> None:
        self.due: dict[int, list[tuple[Elements, Array, int]]] = {}

    def start(self, barrier: int, place: Elements, values: Array, bytes_: int) -> None:
        self.due.setdefault(barrier, []).append((place, values, bytes_))

    def arrive(self, m: Machine, barriers: ResolvedAccess, unit: int) -> None:
        """Let all data arrive that is due at barriers."""
        if not barriers.region.named.shared:
            return
        index = np.broadcast_to(barriers.offsets >> 3, m.shape)
        words = barriers.region.view(np.dtype(np.uint64))
        index = index if barriers.mask is None else index[np.broadcast_to(barriers.mask, m.shape)]
        for at in np.unique(index).tolist():
            for place, values, bytes_ in self.due.pop(at, ()):
                place.forget(unit, values.itemsize)
                place.put(values)
                words[at] = after(words[at], np.int64(0), np.int64(-bytes_))
                m.version += 1


class _PendingCopy(NamedTuple):
    """Words of shared memory that one instruction copies, with the copying thread and the group of each."""

    number: int
    words: Array
    threads: Array
    groups: Array


class Copies:
    """Copies of a chunk by `cp.async` that are under way. Words are indices in its shared memory, threads are indices
    of its threads; `started` is the number of copies so far. With 0 words nothing is recorded.

    The simulator copies at once, so values do not depend on when copies arrive. On a GPU a copy may arrive as late as
    the copying thread's wait for its group: an earlier load is reported, and the race detector takes the wait for the
    store.
    """

    def __init__(self) -> None:
        self.begin(0, 0)

    def begin(self, words: int, threads: int) -> None:
        self.pending: list[_PendingCopy] = []
        # The number of the last pending copy to each word, 0 for none, and the group of each thread's next copy.
        self._by, self._group = np.zeros(words, np.int32), np.zeros(threads, np.int32)
        self.started = 0

    def start(self, words: Array, threads: Array) -> None:
        """Record words that threads begin to copy."""
        if self._by.size and words.size:
            self.started += 1
            self._by[words] = self.started
            self.pending.append(_PendingCopy(self.started, words, threads, self._group[threads]))

    def commit(self, threads: Array) -> None:
        """End the group of each of these threads."""
        if self._by.size:
            self._group[threads] += 1

    def wait(self, threads: Array, left: int | None) -> tuple[Array, Array]:
        """Let threads wait for all their groups but the last `left`, or for all their copies if it is None. Returns the
        words that have arrived, and the thread that has copied each."""
        waits = np.zeros(self._group.size, bool)
        waits[threads] = True
        completed, kept = [(np.zeros(0, np.int64), np.zeros(0, np.int64))], []
        for copy in self.pending:
            over = waits[copy.threads]
            if left is not None:
                over &= copy.groups < self._group[copy.threads] - left
            there = copy.words[over]
            last = self._by[there] == copy.number
            self._by[there[last]] = 0
            completed.append((there[last], copy.threads[over][last]))
            if not over.all():
                kept.append(copy._replace(words=copy.words[~over], threads=copy.threads[~over],
                                            groups=copy.groups[~over]))
        self.pending = kept
        words, who = zip(*completed, strict=True)
        return np.concatenate(words), np.concatenate(who)

    def is_pending(self, words: Array) -> Array:
        """Return a mask of the words whose copies no thread has waited for."""
        pending: Array = self._by.take(words, mode="clip") != 0
        return pending


class PendingSums:
    """Sums of `wgmma` under way: no thread may use them before `wgmma.wait_group`. `groups` has, by
    slot, the group of the last product in a register, for each thread of the chunk. `now` is the group of a thread's
    next product; its groups before `over` are known to have ended. `owner` is the activation of the function that has
    these registers."""

    def __init__(self) -> None:
        self.groups: dict[int, Array] = {}
        self.slots = 0
        self.now = self.over = np.ones((1, 1), np.int32)
        self.owner: object = None

    def start(self, m: Machine, slots: list[int]) -> None:
        """Record a product in registers."""
        mask, none, known = _mask(m), self.now * 0, dict[int, Array]()
        for slot in slots:
            before = self.groups.get(slot, none)
            if id(before) not in known:
                known[id(before)] = np.where(mask, self.now, before)
            self.groups[slot] = known[id(before)]
            self.slots |= 1 << slot

    def commit(self, m: Machine) -> None:
        # Groups count from 1; 0 is no group.
        self.now = np.where(_mask(m), self.now + 1, self.now)

    def wait(self, m: Machine, left: int) -> None:
        """End all groups of threads but the last `left`."""
        self.over = np.where(_mask(m), np.maximum(self.over, self.now - left), self.over)
        known = {id(group): bool((group >= self.over).any()) for group in self.groups.values()}
        self._keep({slot: group for slot, group in self.groups.items() if known[id(group)]})

    def check(self, m: Machine, name: str, reads: int, writes: int, owner: object) -> None:
        """Check an instruction of this name before it runs: the slots that it reads and writes, as bits."""
        if name == "wgmma":
            self.owner = owner
            return
        if owner is not self.owner or not (reads | writes) & self.slots:
            return
        mask = _mask(m)
        read = list(_bits(reads & self.slots))
        written = list(_bits(writes))
        if name == "mov" and len(read) == len(written) == 1:
            # A compiler may copy a register, which then holds the same sum.
            self.groups[written[0]] = np.where(mask, self.groups[read[0]], self.groups.get(written[0], self.now * 0))
            self.slots |= 1 << written[0]
            return
        for slot in read:
            early = mask & (self.groups[slot] >= self.over)
            if early.any():
                block = int(np.argmax(np.broadcast_to(early, m.whole).any(1)))
                m.findings.undefined(m.site(), "pending", numbers=[int(m.numbers[block])])
                break
        self._keep({slot: group if slot not in written else np.where(mask, self.over - 1, group)
                    for slot, group in self.groups.items()})

    def _keep(self, groups: dict[int, Array]) -> None:
        self.groups, self.slots = groups, sum(1 << slot for slot in groups)


def _mask(m: Machine) -> Array:
    mask = m.active
    return m.to_chunk(mask if m.frame.full else np.broadcast_to(mask, m.shape))


def _bits(slots: int) -> Iterator[int]:
    while slots:
        low = slots & -slots
        yield low.bit_length() - 1
        slots ^= low
