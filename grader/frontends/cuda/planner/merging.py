"""Copies of single pieces in a loop, as copies of many pieces: only where a plan has no room for each.

A plan keeps what host code does as it is, so that its time can be taken. No plan that is timed has so many pieces.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.plan.plan import ITEM_BYTES, MOST_OPERATIONS, Copy, Operation, View


def within(operations: Sequence[Operation]) -> Sequence[Operation]:
    """The operations, with copies merged if there are more than a plan has."""
    if len(operations) <= MOST_OPERATIONS:
        return operations
    found: list[Operation] = []
    index = 0
    while index < len(operations):
        last = index + 1
        first = operations[index]
        if isinstance(first, Copy) and last < len(operations) and (step := _step(first, operations[last])) is not None:
            last += 1
            while last < len(operations) and _step(operations[last - 1], operations[last]) == step:
                last += 1
            found.append(_merged(first, step, last - index))
        else:
            found.append(first)
        index = last
    return found


def _step(one: Copy | Operation, other: Operation) -> tuple[int, int] | None:
    """How far the source and the target of a copy lie behind those of the one before, in elements; None for what is no
    copy of another such piece."""
    if not isinstance(one, Copy) or not isinstance(other, Copy) or one.line != other.line:
        return None
    steps = []
    for a, b in ((one.source, other.source), (one.target, other.target)):
        item = ITEM_BYTES[a.dtype]
        distance = b.offset - a.offset
        if a.model_copy(update={"offset": b.offset}) != b or distance < 0 or distance % item:
            return None
        steps.append(distance // item)
    # Pieces that overlap would not all be written.
    return (steps[0], steps[1]) if steps[1] >= _extent(one.target) else None


def _extent(view: View) -> int:
    return sum((size - 1) * stride for size, stride in zip(view.shape, view.strides, strict=True)) + 1


def _merged(first: Copy, step: tuple[int, int], count: int) -> Copy:
    source, target = (
        view.model_copy(update={"shape": [count, *view.shape], "strides": [stride, *view.strides]})
        for view, stride in ((first.source, step[0]), (first.target, step[1])))
    return first.model_copy(update={"source": source, "target": target})
