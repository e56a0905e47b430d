"""The operations that another one follows, by what host code asks of streams, events and graphs."""

from typing import Any

from grader.plan.plan import MOST_AFTER, Copy, Fill, Operation, Place, View
from grader.plan.streams import NON_BLOCKING, StreamOrder
from tests.rows import each_row

PLACES: list[Place] = ["device", "pinned", "host"]
DEVICE, PINNED, HOST = range(3)
A, B = 16 + NON_BLOCKING, 32 + NON_BLOCKING
BLOCKING = 16
EVENT = 64


def view(buffer: int) -> View:
    return View(buffer=buffer, shape=[1], strides=[1], dtype="float32")


FILL, WRITE = Fill(target=view(DEVICE), value=0), Fill(target=view(PINNED), value=0)
UPLOAD, DOWNLOAD, PAGEABLE, WITHIN = (
    Copy(source=view(source), target=view(target))
    for source, target in ((PINNED, DEVICE), (DEVICE, PINNED), (HOST, DEVICE), (DEVICE, DEVICE)))
GradeOptions = tuple[Operation, int, bool]


def fill(stream: int) -> GradeOptions:
    return FILL, stream, True


def copy(operation: Operation, stream: int, asynchronous: bool = True) -> GradeOptions:
    return operation, stream, asynchronous


def followed(asked: list[Any]) -> list[list[int] | None]:
    order, found = StreamOrder(), []
    for one in asked:
        if isinstance(one[0], str):
            order.note(*one)
        else:
            operation, stream, asynchronous = one
            found.append(order.order(operation, PLACES.__getitem__, stream, asynchronous=asynchronous).after)
    return found


host: GradeOptions = WRITE, 0, True


@each_row(("asked", "after"), [
    # One stream is the plan's own order, whatever waits in it.
    ([fill(0), fill(0), ("finish_all",), fill(0)], [None] * 3),
    ([fill(A), fill(A), host, fill(A)], [None, None, [], None]),
    ([fill(A), fill(B), fill(A), fill(B)], [None, [], [0], [1]]),
    # Two streams do not order what is behind them, unless it waits for both.
    ([fill(A), fill(B), ("record", B, EVENT), ("wait", A, EVENT), fill(A), fill(B)], [None, [], None, [1]]),
    # An event is what its stream was asked for before.
    ([fill(A), ("record", A, EVENT), fill(A), ("wait", B, EVENT), fill(B)], [None, None, [0]]),
    ([fill(A), ("wait", B, EVENT), fill(B)], [None, []]),
    ([fill(A), fill(B), ("finish_stream", A), fill(B), ("finish_all",), fill(0)], [None, [], None, None]),
    ([fill(A), ("record", A, EVENT), fill(A), fill(B), ("finish_event", 0, EVENT), fill(0)],
     [None, None, [], [0]]),
    # The default stream waits for those that block and the other way round, as do events in it.
    ([fill(BLOCKING), fill(0), fill(BLOCKING)], [None] * 3),
    ([fill(A), fill(0), fill(A)], [None, [], [0]]),
    ([fill(BLOCKING), fill(BLOCKING + 16)], [None, []]),
    ([fill(BLOCKING), ("record", 0, EVENT), ("wait", A, EVENT), fill(A)], [None, None]),
    # A copy that host code does not wait for, and those of which it does.
    ([copy(UPLOAD, A), host, fill(A)], [None, [], None]),
    ([copy(UPLOAD, A, False), host], [None, None]),
    ([copy(DOWNLOAD, A), host], [None, []]),
    ([copy(PAGEABLE, A), host, fill(B)], [None] * 3),
    ([copy(WITHIN, A, False), fill(B)], [None, []]),
    # A graph begins after its stream, and what comes next in the stream follows all of it.
    ([fill(A), ("begin_graph", A), fill(B), ("record", B, EVENT), fill(BLOCKING), ("end_graph",), fill(A), fill(B)],
     [None, None, [0], None, []]),
    ([("end_graph",), fill(A)], [None]),
    # More than a plan says is no order at all: none is held to be open then.
    ([*(fill(A + 16 * number) for number in range(MOST_AFTER + 1)),
      *((step, A + 16 * number, number) for number in range(MOST_AFTER + 1) for step in ("finish_stream",)),
      fill(0), fill(A)], [None, *([[]] * MOST_AFTER), None, None]),
])
def test_an_operation_follows_what_something_orders(asked: list[Any], after: list[list[int] | None]) -> None:
    assert followed(asked) == after
