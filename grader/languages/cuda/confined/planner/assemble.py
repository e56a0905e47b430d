"""Assembly of a plan from the operations of loading and of two calls: buffers are renumbered, unneeded ones left
out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from grader.languages.cuda.confined.built import BuiltEntry
from grader.languages.cuda.confined.planner import outcomes
from grader.languages.cuda.confined.planner.memories import RecordedMemory
from grader.plan.assembling import Numbering, alike, needed_operations
from grader.plan.messages import Given, GivenTensor
from grader.plan.plan import (
    MOST_BUFFERS,
    MOST_KERNELS,
    MOST_OPERATIONS,
    Buffer,
    Kernel,
    Operation,
    Plan,
    touched_buffers,
)  # fmt: skip

LANGUAGE = "cuda"


@dataclass(frozen=True)
class RecordedCalls:
    """Operations whose buffers are indices of `memories`. `setup` sets the variables of modules; then it holds the
    operations of loading, and those of an earlier call that do not depend on its tensors. `resource_queries` are
    kernels about whose resources host code asked, and got a guess."""

    setup: Sequence[Operation]
    first: Sequence[Operation]
    second: Sequence[Operation]
    memories: Sequence[RecordedMemory]
    resource_queries: Collection[int]


def kernel_of(entry: BuiltEntry) -> Kernel:
    return Kernel(language=LANGUAGE, name=entry.name, symbol=entry.symbol, line=entry.line, text=entry.text,
                  signature=entry.signature)


class PlanAssembly:
    """Plan of one case while it is assembled."""

    def __init__(self, recorded: RecordedCalls, entries: Sequence[BuiltEntry], given: Sequence[Given]) -> None:
        self._recorded, self._entries, self._numbering = recorded, entries, Numbering(self._buffer)
        for index, parameter in enumerate(given):
            if isinstance(parameter, GivenTensor):
                own = [memory for memory in recorded.memories if memory.given == index and memory.call in (0, 1)]
                self._numbering.give(Buffer(bytes=own[-1].bytes, place=own[-1].place, given=parameter.name),
                                     *(memory.number for memory in own))

    def plan(self) -> Plan:
        """Return the plan of the case. Raises NoPlan if it exceeds the limits of a plan."""
        recorded, numbering = self._recorded, self._numbering
        first, second = recorded.first, recorded.second
        used = {number for operation in (*first, *second) for number in touched_buffers(operation)}
        setup = needed_operations(recorded.setup, used)
        # The second call may use memory of loading, or of an earlier call.
        touched = {number for operation in second for number in touched_buffers(operation)}
        same = (all(recorded.memories[number].call == 1 for number in touched)
                and not any(touched_buffers(operation) & used for operation in setup)
                and alike(first, second, self._described))
        made_setup, made_first, made_second = numbering.renumbered(setup), numbering.renumbered(first), None
        if not same:
            # A tensor of the first call is gone in the second: a new buffer that nothing has written takes its place.
            for memory in recorded.memories:
                if memory.is_given and memory.call == 0:
                    numbering.numbers.pop(memory.number, None)
            made_second = numbering.renumbered(second)
        queries = [numbering.kernel(index) for index in sorted(recorded.resource_queries) if index < len(self._entries)]
        self._check(made_setup, made_first, made_second or [])
        return Plan(
            buffers=numbering.buffers, kernels=[kernel_of(self._entries[index]) for index in numbering.kernels],
            setup=made_setup, first=made_first, steady=made_second, resource_queries=queries, returned="nothing")

    def _check(self, *phases: Sequence[Operation]) -> None:
        most = max(map(len, phases))
        for many, limit, what in (
                (len(self._numbering.buffers), MOST_BUFFERS, "allocations in one call; a plan has {} at most: allocate "
                                                             "once"),
                (len(self._numbering.kernels), MOST_KERNELS, "kernels in one call; a plan has {} at most"),
                (most, MOST_OPERATIONS, "launches and copies in one call; a plan has {} at most: do more in each")):
            if many > limit:
                raise outcomes.failed("too_large", f"{many:,} {what.format(f'{limit:,}')}")

    def _described(self, number: int) -> tuple[int, str, int]:
        memory = self._recorded.memories[number]
        return memory.bytes, memory.place, memory.given

    def _buffer(self, number: int) -> Buffer:
        memory = self._recorded.memories[number]
        return Buffer(bytes=memory.bytes, place=memory.place, line=memory.line, kept=memory.is_kept)
