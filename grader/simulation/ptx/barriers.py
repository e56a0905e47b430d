"""Threads that wait for each other: at barriers of their block, or for the lanes of their warp."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.code import PtxBlock
from grader.simulation.ptx.lanes import WARP, Array, Unsupported, per_block, unwarped, warps
from grader.simulation.ptx.program import ThreadInstruction

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Machine, Path, WaitingThreads

EVERY_LANE = 0xFFFFFFFF
_WHOLE = frozenset({"mma", "wmma", "wgmma", "ldmatrix", "stmatrix", "movmatrix", "tensormap"})
"""Instructions that all lanes of a warp execute together."""


class Barriers:
    """Barriers of a machine, which decide which waiting threads can go on. `arrived` counts, by barrier, the threads of
    each block that have arrived there without waiting."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.arrived: dict[int, Array] = {}

    def begin(self) -> None:
        self.arrived = {}

    def arrive(self, number: int, mask: Array, count: int) -> None:
        m = self.machine
        before = self.arrived.get(number, np.zeros(m.whole[0], np.int64))
        # As many as the barrier counts complete it, though nobody waits there.
        self.arrived[number] = (before + per_block(mask, m.whole)) % count
        m.clock += 1
        m.spaces.races.signalled(mask, m.clock, "arrive")

    # Barriers of a block.

    def release_block(self, path: Path) -> bool:
        """Release the threads of blocks whose barrier is complete, and return whether there are any."""
        m = self.machine
        entry = m.waiting[path]
        for number in self._numbers(entry):
            group = {place: mask for place, threads in m.waiting.items()
                     if self._block(threads).waits == "block" and (mask := self._at(threads, number)).any()}
            wanted = self._expected_threads(entry, group[path])
            total = np.zeros(m.whole[0], np.int64)
            for mask in group.values():
                total += per_block(mask, m.whole)
            need = per_block(m.alive, m.whole) if wanted is None else np.full(m.whole[0], wanted)
            need = need - self.arrived.get(number, 0)
            done = (total >= need) & (per_block(group[path], m.whole) > 0)
            if done.any():
                if (total > need).any():
                    group = self._first_waiting(group, need)
                if number in self.arrived:
                    self.arrived[number] = np.where(done, 0, self.arrived[number])
                    for mask in group.values():
                        m.spaces.races.signalled(mask & done[:, None], m.clock, "wait")
                self._release(group, done)
                return True
        return False

    def _first_waiting(self, group: dict[Path, Array], most: Array) -> dict[Path, Array]:
        """Return the first `most` of each block's threads that wait at a barrier, where more wait than it counts. Any
        of them may be the first: every second warp is, and then the others."""
        whole = self.machine.whole
        waiting = sum(warps(mask, whole).sum(2) for mask in group.values())
        ahead = np.argsort(np.cumsum(waiting > 0, axis=1) % 2 == 0, axis=1, kind="stable")
        counts = np.take_along_axis(waiting, ahead, 1)
        first = np.zeros(waiting.shape, bool)
        np.put_along_axis(first, ahead, np.cumsum(counts, axis=1) - counts < np.maximum(most, 1)[:, None], 1)
        passing = unwarped(first[..., None], whole)
        return {path: mask & passing for path, mask in group.items()}

    def _release(self, masks: dict[Path, Array], done: Array) -> None:
        """Release the waiting threads of the blocks `done`: those of `masks`, which has a mask for each place."""
        m = self.machine
        rows = np.ones((1, 1), bool) if done.all() else done[:, None]
        # Threads of some places may all belong to blocks that still wait.
        passing = {path: mask & rows for path, mask in masks.items() if (mask & rows).any()}
        group = {path: m.waiting[path] for path in passing}
        results = {path: self._result(path, group, passing) for path in passing}
        everybody = np.zeros((1, 1), bool)
        for path, mask in passing.items():
            everybody = everybody | mask
            entry = group[path]
            entry.last = m.clock
            rest = entry.mask & ~mask
            self._write_result(entry, mask, results[path])
            if rest.any():
                entry.mask = rest
            else:
                del m.waiting[path]
        if len(group) > 1:
            self._compare(group, passing)
        self._check_ended(group, everybody, rows)
        m.spaces.races.met(everybody, m.clock, True)
        if m.warps is not None:
            m.warps.met(m, everybody)
        for path, mask in passing.items():
            m.wait_before(group[path].activation, group[path].number + 1, mask)

    def _compare(self, group: dict[Path, WaitingThreads], passing: dict[Path, Array]) -> None:
        """Record lanes of one warp that wait at different barriers. The finding names the first barrier, which some
        have passed."""
        seen: list[tuple[Path, Array]] = []
        for path in sorted(group):
            here = warps(passing[path], self.machine.whole).any(2)
            for first, there in seen:
                if (both := there & here).any():
                    self._divergent(group[first], int(np.argmax(both.any(1))))
                    break
            seen.append((path, here))

    def _check_ended(self, group: dict[Path, WaitingThreads], passing: Array, rows: Array) -> None:
        """Record lanes that have ended while others of their warp wait: a GPU allows that, the language does not."""
        m = self.machine
        if m.alive.size == 1:
            return
        passed, alive = warps(passing, m.whole), warps(m.alive, m.whole)
        real = warps(np.ones((1, 1), bool), m.whole)
        mixed = passed.any(2) & (real & ~alive).any(2)
        if mixed.any():
            self._divergent(group[min(group)], int(np.argmax(mixed.any(1))), certain=False)

    def _divergent(self, entry: WaitingThreads, block: int, certain: bool = True) -> None:
        m = self.machine
        site = m.site_of(self._instruction(entry), entry.activation)
        m.findings.undefined(site, "divergent", numbers=[int(m.numbers[block])], certain=certain)

    def _result(self, path: Path, group: dict[Path, WaitingThreads], passing: dict[Path, Array]) -> Array | None:
        """Return the result of a barrier that counts or combines a predicate of its threads, some of which may pass it
        at other places of the code; None if it has none."""
        instruction, mask = self._instruction(group[path]), passing[path]
        if "red" not in instruction.modifiers:
            return None
        m, blocks = self.machine, np.broadcast_to(mask, self.machine.whole).any(1, keepdims=True)
        m.write_back()
        value, everybody = np.zeros((2, *m.whole), bool)
        for place, there in passing.items():
            if not (here := there & blocks).any():
                continue
            if self._instruction(group[place]).modifiers != instruction.modifiers:
                raise Unsupported("barriers of one number, some of which have a result")
            operand, activation = self._instruction(group[place]).operands[-1], group[place].activation
            given = activation.regs[activation.code.slots[operand.lstrip("! ")]]
            holds = np.zeros((1, 1), bool) if given is None else given
            value |= (~holds if operand.startswith("!") else holds) & here
            everybody |= here
        if "popc" in instruction.modifiers:
            return value.sum(1, dtype=np.uint32, keepdims=True)
        return (value | ~everybody).all(1, keepdims=True) if "and" in instruction.modifiers else (
            value.any(1, keepdims=True))

    def _write_result(self, entry: WaitingThreads, mask: Array, result: Array | None) -> None:
        """Write the result of a barrier, if it has one, for the threads that pass."""
        if result is None:
            return
        regs, slot = entry.activation.regs, entry.activation.code.slots[self._instruction(entry).operands[0]]
        old = regs[slot]
        regs[slot] = np.where(mask, result, np.zeros((1, 1), result.dtype) if old is None else old.view(result.dtype))

    # Lanes of a warp.

    def warps_ready(self, entry: WaitingThreads) -> Array | None:
        """Return the threads of an entry whose warps are complete; None if there are none."""
        m = self.machine
        if len(m.waiting) == 1:
            return entry.mask
        here, alive = warps(entry.mask, m.whole), warps(m.alive, m.whole)
        need = alive & self._members(entry, here)
        ready = here.any(2) & ~(need & ~here).any(2)
        if not ready.any():
            return None
        mask = unwarped(here & ready[..., None], m.whole)
        return entry.mask if np.array_equal(mask, np.broadcast_to(entry.mask, m.whole)) else mask

    def _members(self, entry: WaitingThreads, here: Array) -> Array:
        """Return the lanes that an instruction names, for each warp."""
        m, instruction = self.machine, self._instruction(entry)
        if instruction.name in _WHOLE or not instruction.operands:
            return np.ones((1, 1, 1), bool)
        operand = instruction.operands[0 if instruction.name in ("bar", "barrier") else -1]
        if instruction.name not in ("bar", "barrier") and "sync" not in instruction.modifiers:
            return here
        slot = entry.activation.code.slots.get(operand)
        if slot is None:
            members = int(operand, 0) & EVERY_LANE
            if members == EVERY_LANE:
                return np.ones((1, 1, 1), bool)
            named = np.full((1, 1, 1), members, np.uint32)
        else:
            m.write_back()
            given = entry.activation.regs[slot]
            value = np.full((1, 1), EVERY_LANE, np.uint32) if given is None else given.view(np.uint32)
            named = np.take_along_axis(warps(value, m.whole), here.argmax(2)[..., None], 2)
        return (named >> np.arange(WARP, dtype=np.uint32)) & np.uint32(1) != 0

    # Stuck threads.

    def release_stuck(self) -> Path | None:
        """Record that threads wait for others that never come, and release the first of the waiting ones."""
        m = self.machine
        path = min(m.waiting, key=lambda place: (self._block(m.waiting[place]).waits != "warp", place))
        entry = m.waiting[path]
        block = int(np.argmax(np.broadcast_to(entry.mask, m.whole).any(1)))
        self._divergent(entry, block)
        if self._block(entry).waits == "warp":
            return path
        self._release({path: entry.mask}, np.broadcast_to(entry.mask.any(1), m.whole[0]))
        return None

    def _block(self, entry: WaitingThreads) -> PtxBlock:
        return entry.activation.code.blocks[entry.number]

    def _instruction(self, entry: WaitingThreads) -> ThreadInstruction:
        return self._block(entry).steps[0].instruction

    def _operands(self, entry: WaitingThreads) -> tuple[str, ...]:
        """Return a barrier's number and, unless it is for all of the block, the number of threads that it waits for."""
        instruction = self._instruction(entry)
        operands = instruction.operands[1:-1] if "red" in instruction.modifiers else instruction.operands
        if not 1 <= len(operands) <= 2:
            raise Malformed(f"{instruction} with other operands")
        return operands

    def _value(self, entry: WaitingThreads, operand: str) -> Array:
        slot = entry.activation.code.slots.get(operand)
        if slot is None:
            return np.full((1, 1), int(operand, 0))
        self.machine.write_back()
        given = entry.activation.regs[slot]
        return np.zeros((1, 1), np.int64) if given is None else given

    def _numbers(self, entry: WaitingThreads) -> list[int]:
        """Return the barriers that an entry's threads wait at."""
        numbers = self._value(entry, self._operands(entry)[0])
        if numbers.size == 1:
            return [int(numbers.item())]
        whole = self.machine.whole
        return list(map(int, np.unique(np.broadcast_to(numbers, whole)[np.broadcast_to(entry.mask, whole)])))

    def _at(self, entry: WaitingThreads, number: int) -> Array:
        """Return the threads of an entry that wait at a barrier."""
        return entry.mask & (self._value(entry, self._operands(entry)[0]) == number)

    def _expected_threads(self, entry: WaitingThreads, mask: Array) -> int | None:
        """Return the number of threads that the barrier of the threads `mask` waits for; None for all of the block."""
        operands, whole = self._operands(entry), self.machine.whole
        if len(operands) == 1:
            return None
        wanted = np.broadcast_to(self._value(entry, operands[1]), whole)[np.broadcast_to(mask, whole)]
        if (wanted != wanted[0]).any():
            raise Unsupported("a barrier whose threads wait for different numbers of others")
        return int(wanted[0])
