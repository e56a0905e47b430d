"""Assembly of a plan from the operations of two calls: buffers get new numbers, and what no call needs is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from grader.host.record import Memory, Session, TooLargeError
from grader.plan.assembling import counted, needed, renumbered
from grader.plan.plan import MOST_BUFFERS, MOST_KERNELS, Buffer, Kernel, Operation, Plan, Tuner, named


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
        (session.named[number].given and session.named[number].born < session.call - 1)
        or not {session.named[number].born, *session.named[number].calls} <= now
        for operations in calls for operation in operations for number in named(operation))


class Assembly:
    """Assembly of one case's plan. `given` is the memory of the parameters in each of the two calls."""

    def __init__(
        self, session: Session, kernels: Sequence[PlannedKernel], given: tuple[list[Memory], list[Memory]]
    ) -> None:
        self._session = session
        self._compiled = kernels
        self._numbers: dict[int, int] = {}
        self._buffers: list[Buffer] = []
        self._kernels: dict[int, int] = {}
        first, second = given
        for one, other in zip(first, second, strict=True):
            index = len(self._buffers)
            self._buffers.append(Buffer(bytes=one.bytes, place=one.place, given=one.given))
            self._numbers[session.number(one)] = index
            self._numbers[session.number(other)] = index
        self._stale = {session.number(one) for one in first}

    def plan(
        self, setup: list[Operation], first: list[Operation], second: list[Operation], tuners: list[Tuner],
        returned: Literal["nothing", "out", "tensor", "other"],
    ) -> Plan:
        survivors = any(
            self._session.named[number].born != self._session.call for operation in second
            for number in named(operation) if number not in self._stale and not self._is_given(number))
        stale = any(number in self._stale for operation in second for number in named(operation))
        if not stale and self._shape(_without_initial(self._session, first)) == self._shape(second):
            self._session.repeatable |= {self._session.call - 1, self._session.call}
        used = {n for operation in (*first, *second) for n in named(operation)}
        kept = needed(setup, used)
        used |= {number for operation in kept for number in named(operation)}
        made_setup = [self._renumbered(operation) for operation in kept + self._refilled(used)]
        made_first = [self._renumbered(operation) for operation in first]
        same = not survivors and not stale and self._shape(first) == self._shape(second)
        made_second = None
        if not same:
            for number in self._stale:
                # The tensors of the first call are gone: each gets a new buffer, which nothing has written.
                del self._numbers[number]
            made_second = [self._renumbered(operation) for operation in second]
        now = {self._session.call - 1, self._session.call}
        if len(self._buffers) > MOST_BUFFERS:
            raise TooLargeError(f"{len(self._buffers):,} tensors in one call")
        if len(self._kernels) > MOST_KERNELS:
            raise TooLargeError(f"{len(self._kernels)} kernels in one call", "too_many_kernels")
        asked = [
            self._kernel(index) for index, one in enumerate(self._compiled)
            if one.guessed & now or (one.guessed and index in self._kernels)]
        return Plan(
            buffers=self._buffers, kernels=[self._compiled[index].plan for index in self._kernels], setup=made_setup,
            first=made_first, steady=made_second, tuners=tuners, asked=asked, returned=returned)

    def _refilled(self, used: set[int]) -> list[Operation]:
        """Return the operations by which calls of earlier cases have filled memory that this case uses."""
        now = {0, self._session.call - 1, self._session.call}
        return [
            operation for number in sorted(used) if not self._is_given(number)
            for call, operation in self._session.named[number].initial if call not in now]

    def _is_given(self, number: int) -> bool:
        return bool(self._session.named[number].given)

    def _buffer(self, number: int) -> int:
        if number not in self._numbers:
            memory = self._session.named[number]
            self._numbers[number] = len(self._buffers)
            self._buffers.append(Buffer(
                bytes=memory.bytes, place=memory.place, line=memory.line, kept=memory.born < self._session.call - 1))
        return self._numbers[number]

    def _renumbered(self, operation: Operation) -> Operation:
        return renumbered(operation, self._buffer, self._kernel)

    def _kernel(self, index: int) -> int:
        return self._kernels.setdefault(index, len(self._kernels))

    def _shape(self, operations: list[Operation]) -> tuple[list[Operation], list[tuple[int, str, str]]]:
        """Return the operations with buffers numbered in the order of use, and size, place and parameter of each
        buffer: equal for calls that do the same."""
        made, seen = counted(operations)
        named = self._session.named
        return made, [(named[n].bytes, named[n].place, named[n].given) for n in seen]


def _without_initial(session: Session, operations: list[Operation]) -> list[Operation]:
    """Return the first call's operations without the initial fills of memory that the second call uses again: it need
    not repeat them."""
    kept = {
        id(operation) for memory in session.named if session.call in memory.calls and memory.born != session.call
        for _, operation in memory.initial}
    return [operation for operation in operations if id(operation) not in kept]
