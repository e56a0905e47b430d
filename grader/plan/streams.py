"""The order of a call's operations on a GPU: those of one stream follow one another, others only where one waits.

Planners write this order into their plans; the judge finds out whether an answer depends on what the order leaves open.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Literal

from grader.plan.plan import MOST_AFTER, Operation, Place, touched_buffers

NON_BLOCKING = 8
"""The bit that marks the number of a non-blocking stream: it and the default stream (0) do not wait for each other."""

Step = Literal["record", "wait", "finish_stream", "finish_event", "finish_all", "begin_graph", "end_graph"]
"""A request that orders operations. `record`: the event stands for all that the stream has been asked for so far.
`wait`: the next operations of the stream follow the event. `finish_…`: host code waits. The operations of a graph stand
between `begin_graph` and `end_graph`: they follow the earlier operations of the graph's stream, and precede its next.
"""

Front = dict[int, int]
"""The operations that something follows directly. The key is an operation's number; the value has a bit for each
operation that this one follows itself. An operation that another one of the front follows is left out."""


def _joined(*fronts: Front) -> Front:
    joined = {number: before for front in fronts for number, before in front.items()}
    before = reduce(or_, joined.values(), 0)
    return {number: bits for number, bits in joined.items() if not before >> number & 1}


class StreamOrder:
    """The order of a call's operations, as host code asks for them. An operation of host code itself, on its own
    memory, is done before host code asks for the next one."""

    def __init__(self) -> None:
        self._count = 0
        self._host: Front = {}
        self._streams: dict[int, Front] = {}
        self._events: dict[int, Front] = {}
        self._outer: list[tuple[int, Front, dict[int, Front]]] = []

    def order(
        self, operation: Operation, place: Callable[[int], Place], stream: int, *, asynchronous: bool
    ) -> Operation:
        """Return the next operation, with `after` set. `asynchronous`: host code does not wait for it, unless it copies
        from or to memory that is not pinned. A copy within the device is always asynchronous."""
        places = {place(number) for number in touched_buffers(operation)}
        on_host = operation.op != "launch" and "device" not in places
        front = self._host if on_host else self._front(stream)
        whole = (1 << self._count) - 1
        before = whole if len(front) > MOST_AFTER else reduce(
            or_, (bits | 1 << number for number, bits in front.items()), 0)
        own = {self._count: before}
        if operation.op == "copy":
            asynchronous = places == {"device"} or (asynchronous and "host" not in places)
        if on_host:
            self._host = own
        else:
            self._streams[stream] = own
            self._host = self._host if asynchronous else _joined(self._host, own)
        self._count += 1
        return operation if before == whole else operation.model_copy(update={"after": sorted(front)})

    def note(self, step: Step, stream: int = 0, event: int = 0) -> None:
        """Note a step, which orders the operations before and after it."""
        match step:
            case "record":
                self._events[event] = self._front(stream)
            case "wait":
                self._streams[stream] = _joined(self._streams.get(stream, {}), self._events.get(event, {}))
            case "finish_stream":
                self._host = _joined(self._host, self._front(stream))
            case "finish_event":
                self._host = _joined(self._host, self._events.get(event, {}))
            case "finish_all":
                self._host = _joined(self._host, *self._streams.values())
            case "begin_graph":
                self._outer.append((stream, self._host, self._streams))
                self._host, self._streams = self._front(stream), {}
            case "end_graph" if self._outer:
                done = _joined(self._host, *self._streams.values())
                stream, self._host, self._streams = self._outer.pop()
                self._streams[stream] = done

    def _front(self, stream: int) -> Front:
        """Return the operations that the next operation of a stream follows."""
        fronts = [self._host, self._streams.get(stream, {})]
        if not stream:
            fronts += [front for number, front in self._streams.items() if not number & NON_BLOCKING]
        elif not stream & NON_BLOCKING:
            fronts.append(self._streams.get(0, {}))
        return _joined(*fronts)
