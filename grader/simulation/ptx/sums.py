"""Registers with sums of `wgmma` under way: no thread may use them before `wgmma.wait_group`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.simulation.ptx.threads import Threads
from grader.simulation.ptx.types import Array


class Sums:
    """Sums under way. `groups` has, by slot, the group of the last product in a register, for each thread of the chunk.
    `now` is the group of a thread's next product; its groups before `over` are known to have ended. `owner` is the
    activation of the function that has these registers."""

    def __init__(self) -> None:
        self.groups: dict[int, Array] = {}
        self.slots = 0
        self.now = self.over = np.ones((1, 1), np.int32)
        self.owner: object = None

    def start(self, m: Threads, slots: list[int]) -> None:
        """Record a product in registers."""
        mask, none, known = _mask(m), self.now * 0, dict[int, Array]()
        for slot in slots:
            before = self.groups.get(slot, none)
            if id(before) not in known:
                known[id(before)] = np.where(mask, self.now, before)
            self.groups[slot] = known[id(before)]
            self.slots |= 1 << slot

    def commit(self, m: Threads) -> None:
        # Groups count from 1; 0 is no group.
        self.now = np.where(_mask(m), self.now + 1, self.now)

    def wait(self, m: Threads, left: int) -> None:
        """End all groups of threads but the last `left`."""
        self.over = np.where(_mask(m), np.maximum(self.over, self.now - left), self.over)
        known = {id(group): bool((group >= self.over).any()) for group in self.groups.values()}
        self._keep({slot: group for slot, group in self.groups.items() if known[id(group)]})

    def look(self, m: Threads, name: str, reads: int, writes: int, owner: object) -> None:
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
                m.findings.undefined(m.spot(), "pending", numbers=[int(m.numbers[block])])
                break
        self._keep({slot: group if slot not in written else np.where(mask, self.over - 1, group)
                    for slot, group in self.groups.items()})

    def _keep(self, groups: dict[int, Array]) -> None:
        self.groups, self.slots = groups, sum(1 << slot for slot in groups)


def _mask(m: Threads) -> Array:
    mask = m.active
    return m.out(mask if m.frame.full else np.broadcast_to(mask, m.shape))


def _bits(slots: int) -> Iterator[int]:
    while slots:
        low = slots & -slots
        yield low.bit_length() - 1
        slots ^= low
