"""Assembly of a plan from the operations of two calls: buffers get new numbers, and what no call needs is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from grader.host.record import Memory, Session, TooLargeError
from grader.plan.assembling import Numbering, alike, needed_operations
from grader.plan.plan import MOST_BUFFERS, MOST_KERNELS, Buffer, Kernel, Operation, Plan, Tuner, touched_buffers


class PlannedKernel(Protocol):
    """A kernel that host code may launch. `guessed` are the calls in which host code asked for resources of it that
    are not known yet."""

    plan: Kernel
    guessed: set[int]


def is_earlier(session: Session, calls: Iterable[list[Operation]]) -> bool:
    """Return whether operations of the last two calls name memory that earlier cases made or wrote, and that filling it
    once more does not restore."""
    now = {session.call - 1, session.call} | session.repeatable
    return any(
        (session.named[number].given and session.named[number].made_in < session.call - 1)
        or not {session.named[number].made_in, *session.named[number].calls} <= now
        for operations in calls for operation in operations for number in touched_buffers(operation))


class Assembly:
    """Assembly of one case's plan. `given` is the memory of the parameters in each of the two calls."""

    def __init__(
        self, session: Session, kernels: Sequence[PlannedKernel], given: tuple[list[Memory], list[Memory]]
    ) -> None:
        self._session = session
        self._compiled = kernels
        self._numbering = Numbering(self._buffer)
        for memory, later in zip(*given, strict=True):
            self._numbering.give(Buffer(bytes=memory.bytes, place=memory.place, given=memory.given),
                                 session.number(memory), session.number(later))
        self._stale = {session.number(memory) for memory in given[0]}

    def plan(
        self, setup: list[Operation], first: list[Operation], second: list[Operation], tuners: list[Tuner],
        returned: Literal["nothing", "out", "tensor", "other"],
    ) -> Plan:
        session, numbering, memories = self._session, self._numbering, self._session.named
        survivors = any(
            memories[number].made_in != session.call for operation in second
            for number in touched_buffers(operation) if number not in self._stale and not memories[number].given)
        stale = any(number in self._stale for operation in second for number in touched_buffers(operation))
        if not stale and alike(_without_initial(session, first), second, self._described):
            session.repeatable |= {session.call - 1, session.call}
        used = {n for operation in (*first, *second) for n in touched_buffers(operation)}
        kept = needed_operations(setup, used)
        used |= {number for operation in kept for number in touched_buffers(operation)}
        made_setup = numbering.renumbered(kept + self._refilled(used))
        made_first = numbering.renumbered(first)
        made_second = None
        if survivors or stale or not alike(first, second, self._described):
            for number in self._stale:
                # The tensors of the first call are gone: each gets a new buffer, which nothing has written.
                del numbering.numbers[number]
            made_second = numbering.renumbered(second)
        now = {session.call - 1, session.call}
        if len(numbering.buffers) > MOST_BUFFERS:
            raise TooLargeError(f"{len(numbering.buffers):,} tensors in one call")
        if len(numbering.kernels) > MOST_KERNELS:
            raise TooLargeError(f"{len(numbering.kernels)} kernels in one call", "too_many_kernels")
        queries = [
            numbering.kernel(index) for index, kernel in enumerate(self._compiled)
            if kernel.guessed & now or (kernel.guessed and index in numbering.kernels)]
        return Plan(
            buffers=numbering.buffers, kernels=[self._compiled[index].plan for index in numbering.kernels],
            setup=made_setup, first=made_first, steady=made_second, tuners=tuners, resource_queries=queries,
            returned=returned)

    def _refilled(self, used: set[int]) -> list[Operation]:
        """Return the operations by which calls of earlier cases have filled memory that this case uses."""
        now = {0, self._session.call - 1, self._session.call}
        return [
            operation for number in sorted(used) if not self._session.named[number].given
            for call, operation in self._session.named[number].initial if call not in now]

    def _buffer(self, number: int) -> Buffer:
        memory = self._session.named[number]
        return Buffer(
            bytes=memory.bytes, place=memory.place, line=memory.line, kept=memory.made_in < self._session.call - 1)

    def _described(self, number: int) -> tuple[int, str, str]:
        memory = self._session.named[number]
        return memory.bytes, memory.place, memory.given


def _without_initial(session: Session, operations: list[Operation]) -> list[Operation]:
    """Return the first call's operations without the initial fills of memory that the second call uses again: it need
    not repeat them."""
    kept = {
        id(operation) for memory in session.named if session.call in memory.calls and memory.made_in != session.call
        for _, operation in memory.initial}
    return [operation for operation in operations if id(operation) not in kept]
