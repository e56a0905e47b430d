"""Assembly of a plan from the operations of loading and of two calls: buffers are renumbered, unneeded ones left
out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from grader.languages.cuda.confined.built import BuiltEntry
from grader.languages.cuda.confined.planner import outcomes
from grader.languages.cuda.confined.planner.memories import LOADING, TakenMemory
from grader.plan.assembling import counted, needed, renumbered
from grader.plan.messages import Given, GivenTensor
from grader.plan.plan import (
    MOST_BUFFERS,
    MOST_KERNELS,
    MOST_OPERATIONS,
    Buffer,
    Kernel,
    Operation,
    Plan,
    named,
)  # fmt: skip

LANGUAGE = "cuda"


@dataclass(frozen=True)
class RecordedCalls:
    """Operations whose buffers are indices of `memories`. `setup` sets the variables of modules; then it holds the
    operations of loading, and those of an earlier call that do not depend on its tensors. `asked` are kernels about
    whose resources host code asked, and got a guess."""

    setup: Sequence[Operation]
    first: Sequence[Operation]
    second: Sequence[Operation]
    memories: Sequence[TakenMemory]
    asked: Collection[int]


def kernel_of(entry: BuiltEntry) -> Kernel:
    return Kernel(language=LANGUAGE, name=entry.name, symbol=entry.symbol, line=entry.line, text=entry.text,
                  signature=entry.signature)


class PlanAssembly:
    """Plan of one case while it is assembled."""

    def __init__(self, recorded: RecordedCalls, entries: Sequence[BuiltEntry], given: Sequence[Given]) -> None:
        self._recorded, self._entries = recorded, entries
        self._numbers: dict[int, int] = {}
        self._buffers: list[Buffer] = []
        self._kernels: dict[int, int] = {}
        tensors = [index for index, one in enumerate(given) if isinstance(one, GivenTensor)]
        self._given = {index: number for number, index in enumerate(tensors)}
        by_parameter = {memory.given: memory for memory in recorded.memories if memory.is_given}
        for index in tensors:
            memory, one = by_parameter[index], given[index]
            self._buffers.append(Buffer(bytes=memory.bytes, place=memory.place, given=one.name))

    def plan(self) -> Plan:
        """Return the plan of the case. Raises NoPlan if it exceeds the limits of a plan."""
        recorded = self._recorded
        first, second = recorded.first, recorded.second
        used = {number for operation in (*first, *second) for number in named(operation)}
        setup = needed(recorded.setup, used)
        same = not self._lasting(second) and self._shape(first) == self._shape(second)
        if {number for operation in setup for number in named(operation)} & used:
            same = False
        made_setup = [self._renumbered(operation, LOADING) for operation in setup]
        made_first = [self._renumbered(operation, 0) for operation in first]
        made_second = None if same else [self._renumbered(operation, 1) for operation in second]
        asked = [self._kernel(index) for index in sorted(recorded.asked) if index < len(self._entries)]
        self._check(made_setup, made_first, made_second or [])
        return Plan(
            buffers=self._buffers, kernels=[kernel_of(self._entries[index]) for index in self._kernels],
            setup=made_setup, first=made_first, steady=made_second, asked=asked, returned="nothing")

    def _check(self, *phases: Sequence[Operation]) -> None:
        if len(self._buffers) > MOST_BUFFERS:
            raise outcomes.failed("too_large", f"{len(self._buffers):,} allocations in one call; a plan has "
                                               f"{MOST_BUFFERS:,} at most: allocate once")
        if len(self._kernels) > MOST_KERNELS:
            raise outcomes.failed("too_large", f"{len(self._kernels)} kernels in one call; a plan has {MOST_KERNELS} "
                                               "at most")
        if (most := max(map(len, phases))) > MOST_OPERATIONS:
            raise outcomes.failed("too_large", f"{most:,} launches and copies in one call; a plan has "
                                               f"{MOST_OPERATIONS:,} at most: do more in each")

    def _lasting(self, second: Sequence[Operation]) -> bool:
        """Return whether the second call uses memory that was there before it: of loading, or of an earlier call."""
        memories = self._recorded.memories
        return any(memories[number].call != 1 for operation in second for number in named(operation))

    def _shape(self, operations: Sequence[Operation]) -> tuple[list[Operation], list[tuple[int, str, int]]]:
        """Return operations with buffers numbered in order of use, and each buffer's bytes, place and parameter. Both
        are equal for calls that do the same."""
        made, seen = counted(operations)
        memories = self._recorded.memories
        return made, [(memories[n].bytes, memories[n].place, memories[n].given) for n in seen]

    def _renumbered(self, operation: Operation, call: int) -> Operation:
        return renumbered(operation, lambda number: self._buffer(number, call), self._kernel)

    def _buffer(self, number: int, call: int) -> int:
        memory = self._recorded.memories[number]
        if memory.is_given and memory.call == call:
            return self._given[memory.given]
        # A tensor of the first call is gone in the second: a new buffer that nothing has written takes its place.
        if number not in self._numbers:
            self._numbers[number] = len(self._buffers)
            self._buffers.append(Buffer(
                bytes=memory.bytes, place=memory.place, line=memory.line, kept=memory.is_kept))
        return self._numbers[number]

    def _kernel(self, index: int) -> int:
        return self._kernels.setdefault(index, len(self._kernels))
