"""Search for operations of a call that nothing orders on a GPU, though the answer depends on their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import or_

from grader.plan.findings import MOST_ACCESSES, Access, UndefinedBehaviour
from grader.plan.plan import Launch, Operation, Plan, touched_buffers

# Most streams that are tried ahead of the others, one by one, and most operations that are tried as partners of a wrong
# one.
MOST_STREAMS, MOST_PAIRS = 4, 8


def unordered(
    plan: Plan, call: int, accesses: Sequence[Access], wrong: Callable[[Plan], bool]
) -> UndefinedBehaviour | None:
    """Return the first two operations of a call that a GPU may run in either order, with a wrong answer in one of the
    orders. `accesses` are the loads and stores of the call, `wrong` runs the plan with the call in another order."""
    if all(operation.after is None for operation in plan.call(call)):
        return None
    operations = _UnorderedOperations(plan, call, accesses)

    def goes_wrong(order: Sequence[int]) -> bool:
        part = "steady" if call and plan.steady is not None else "first"
        return wrong(plan.model_copy(update={part: [operations.operations[number] for number in order]}))

    for early in operations.streams():
        if not goes_wrong(operations.order_ahead(early)):
            continue
        right, bad = 0, len(early)
        while bad - right > 1:
            middle = (right + bad) // 2
            right, bad = (right, middle) if goes_wrong(operations.order_ahead(early[:middle])) else (middle, bad)
        later = early[bad - 1]
        for earlier in [*_bits(operations.against[later])][:MOST_PAIRS]:
            if goes_wrong(operations.exchanged(earlier, later)):
                return operations.finding(earlier, later)
    return None


class _UnorderedOperations:
    """The operations of a call. A set of operations is an integer with a bit for each. `before[n]` are the operations
    that operation n has to follow. `against[n]` are earlier ones that n need not follow, though both use memory that
    one of them writes."""

    def __init__(self, plan: Plan, call: int, accesses: Sequence[Access]) -> None:
        self._plan, self._accesses, self.operations = plan, accesses, plan.call(call)
        self.before: list[int] = []
        self.against: dict[int, int] = {}
        used, written = dict[int, int](), dict[int, int]()
        for number, operation in enumerate(self.operations):
            after = operation.after
            self.before.append((1 << number) - 1 if after is None else reduce(
                or_, (self.before[earlier] | 1 << earlier for earlier in after), 0))
            own = self._written_buffers(operation)
            met = reduce(or_, ((used if buffer in own else written).get(buffer, 0)
                               for buffer in touched_buffers(operation)), 0)
            if against := met & ~self.before[number]:
                self.against[number] = against
            for buffer in touched_buffers(operation):
                used[buffer] = used.get(buffer, 0) | 1 << number
                written[buffer] = written.get(buffer, 0) | (buffer in own) << number

    def streams(self) -> list[list[int]]:
        """Return lists of operations to run as early as they may, one list in each run: the operations of a stream,
        which follow one another. If there are more than MOST_STREAMS, return one list, the last operation first."""
        streams: list[list[int]] = []
        for number in self.against:
            own = next((stream for stream in streams if self.before[number] >> stream[-1] & 1), None)
            if own is not None:
                own.append(number)
            elif len(streams) == MOST_STREAMS:
                return [sorted(self.against, reverse=True)]
            else:
                streams.append([number])
        return streams

    def order_ahead(self, early: Sequence[int]) -> list[int]:
        """Return an order of the call's operations in which those of `early` come as early as they may, one after
        another."""
        order, done = list[int](), 0
        for number in early:
            order += _bits((self.before[number] | 1 << number) & ~done)
            done |= self.before[number] | 1 << number
        return [*order, *_bits((1 << len(self.operations)) - 1 & ~done)]

    def exchanged(self, earlier: int, later: int) -> list[int]:
        """Return an order in which the operation `earlier`, and the operations up to `later` that have to follow it,
        come right after `later`."""
        held = {number for number in range(earlier, later) if number == earlier or self.before[number] >> earlier & 1}
        return sorted(range(len(self.operations)), key=lambda number: later + 0.5 if number in held else number)

    def finding(self, earlier: int, later: int) -> UndefinedBehaviour:
        pair = [self.operations[earlier], self.operations[later]]
        shared = touched_buffers(pair[0]) & touched_buffers(pair[1])
        buffer = min(shared & (self._written_buffers(pair[0]) | self._written_buffers(pair[1])))
        kernels = [self._plan.kernels[operation.kernel].name for operation in pair if isinstance(operation, Launch)]
        tensor = next((access.tensor for access in self._accesses
                       if access.buffer == buffer and access.kernel in kernels), "")
        places = {self._plan.buffers[buffer].place for buffer in touched_buffers(pair[1])}
        on_host = pair[1].op != "launch" and "device" not in places
        return UndefinedBehaviour(
            what="pinned" if on_host else "streams", kernel=kernels[-1] if kernels else "", line=pair[1].line,
            earlier=pair[0].line, tensor=tensor, given=self._plan.buffers[buffer].given)

    def _written_buffers(self, operation: Operation) -> set[int]:
        """Return the buffers that an operation writes; all its buffers for a launch whose accesses are not all
        known."""
        if operation.op == "data":
            return {operation.buffer}
        if operation.op != "launch":
            return {operation.target.buffer}
        name = self._plan.kernels[operation.kernel].name
        stored = {access.buffer for access in self._accesses if access.kernel == name and access.access != "load"}
        touched = touched_buffers(operation)
        return touched if len(self._accesses) >= MOST_ACCESSES else touched & stored


def _bits(bits: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, ascending."""
    while bits:
        yield (low := bits & -bits).bit_length() - 1
        bits ^= low
