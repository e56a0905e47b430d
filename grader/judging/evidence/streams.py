"""Search for operations of a call that nothing orders on a GPU, though the answer depends on their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import or_

from grader.plan.findings import MOST_ACCESSES, Access, Undefined
from grader.plan.plan import Launch, Operation, Plan, named

# Most streams that are tried ahead of the others, one by one, and most operations that are tried as partners of a wrong
# one.
MOST_STREAMS, MOST_PAIRS = 4, 8


def unordered(
    plan: Plan, call: int, accesses: Sequence[Access], wrong: Callable[[Plan], bool]
) -> Undefined | None:
    """Return the first two operations of a call that a GPU may run in either order, where that makes the answer wrong.
    `accesses` are the loads and stores of the call, `wrong` runs the plan with the call in another order."""
    if all(one.after is None for one in plan.call(call)):
        return None
    asked = _AskedOperations(plan, call, accesses)

    def goes_wrong(order: Sequence[int]) -> bool:
        part = "steady" if call and plan.steady is not None else "first"
        return wrong(plan.model_copy(update={part: [asked.operations[number] for number in order]}))

    for early in asked.streams():
        if not goes_wrong(asked.ahead(early)):
            continue
        right, bad = 0, len(early)
        while bad - right > 1:
            middle = (right + bad) // 2
            right, bad = (right, middle) if goes_wrong(asked.ahead(early[:middle])) else (middle, bad)
        later = early[bad - 1]
        for earlier in [*_bits(asked.against[later])][:MOST_PAIRS]:
            if goes_wrong(asked.exchanged(earlier, later)):
                return asked.told(earlier, later)
    return None


class _AskedOperations:
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
                or_, (self.before[one] | 1 << one for one in after), 0))
            own = self._written(operation)
            met = reduce(or_, ((used if one in own else written).get(one, 0) for one in named(operation)), 0)
            if against := met & ~self.before[number]:
                self.against[number] = against
            for one in named(operation):
                used[one] = used.get(one, 0) | 1 << number
                written[one] = written.get(one, 0) | (one in own) << number

    def streams(self) -> list[list[int]]:
        """Return lists of operations to run as early as they may, one list in each run: the operations of a stream,
        which follow one another. If there are more than MOST_STREAMS, return one list, the last operation first."""
        found: list[list[int]] = []
        for number in self.against:
            own = next((one for one in found if self.before[number] >> one[-1] & 1), None)
            if own is not None:
                own.append(number)
            elif len(found) == MOST_STREAMS:
                return [sorted(self.against, reverse=True)]
            else:
                found.append([number])
        return found

    def ahead(self, early: Sequence[int]) -> list[int]:
        """Return an order of the call's operations in which those of `early` come as early as they may, one after
        another."""
        found, done = list[int](), 0
        for number in early:
            found += _bits((self.before[number] | 1 << number) & ~done)
            done |= self.before[number] | 1 << number
        return [*found, *_bits((1 << len(self.operations)) - 1 & ~done)]

    def exchanged(self, earlier: int, later: int) -> list[int]:
        """Return an order in which the operation `earlier`, and the operations up to `later` that have to follow it,
        come right after `later`."""
        held = [one for one in range(earlier, later) if one == earlier or self.before[one] >> earlier & 1]
        return sorted(range(len(self.operations)), key=lambda one: later + 0.5 if one in held else one)

    def told(self, earlier: int, later: int) -> Undefined:
        pair = [self.operations[earlier], self.operations[later]]
        shared = named(pair[0]) & named(pair[1])
        buffer = min(shared & (self._written(pair[0]) | self._written(pair[1])))
        kernels = [self._plan.kernels[one.kernel].name for one in pair if isinstance(one, Launch)]
        tensor = next((one.tensor for one in self._accesses if one.buffer == buffer and one.kernel in kernels), "")
        places = {self._plan.buffers[one].place for one in named(pair[1])}
        on_host = pair[1].op != "launch" and "device" not in places
        return Undefined(
            what="pinned" if on_host else "streams", kernel=kernels[-1] if kernels else "", line=pair[1].line,
            earlier=pair[0].line, tensor=tensor, given=self._plan.buffers[buffer].given)

    def _written(self, operation: Operation) -> set[int]:
        """Return the buffers that an operation writes; all its buffers for a launch whose accesses are not all
        known."""
        if operation.op == "data":
            return {operation.buffer}
        if operation.op != "launch":
            return {operation.target.buffer}
        name = self._plan.kernels[operation.kernel].name
        stored = {one.buffer for one in self._accesses if one.kernel == name and one.access != "load"}
        return named(operation) if len(self._accesses) >= MOST_ACCESSES else named(operation) & stored


def _bits(found: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, ascending."""
    while found:
        yield (low := found & -found).bit_length() - 1
        found ^= low
