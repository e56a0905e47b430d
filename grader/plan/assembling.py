"""Assembly of plans from recorded operations: the selection of those that a call needs, and new numbers for buffers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from grader.plan.plan import Argument, Operation, View, named


def needed(setup: Sequence[Operation], used: Collection[int]) -> list[Operation]:
    """Return the operations of `setup` (a file's import) that may write the `used` buffers, directly or through other
    buffers, in their order. Calls that overwrite these buffers later make no difference."""
    wanted, kept = set(used), []
    for operation in reversed(setup):
        names = named(operation)
        if wanted & ({operation.target.buffer} if operation.op == "copy" else names):
            wanted |= names
            kept.append(operation)
    return kept[::-1]


def counted(operations: Sequence[Operation]) -> tuple[list[Operation], list[int]]:
    """Return the operations without `after` and with buffers numbered in the order of their first use, and the old
    numbers of these buffers in the same order."""
    seen: dict[int, int] = {}
    return [
        renumbered(operation, lambda number: seen.setdefault(number, len(seen)), lambda kernel: kernel).model_copy(
            update={"after": None})
        for operation in operations], list(seen)


def renumbered(operation: Operation, buffer: Callable[[int], int], kernel: Callable[[int], int]) -> Operation:
    """Return the operation with its buffers renumbered by `buffer`, and its kernel by `kernel`."""

    def view(view: View) -> View:
        return view.model_copy(update={"buffer": buffer(view.buffer)})

    def argument(argument: Argument) -> Argument:
        if argument.kind == "pointer":
            return argument.model_copy(update={"buffer": buffer(argument.buffer)})
        if argument.kind == "descriptor":
            return argument.model_copy(update={"view": view(argument.view)})
        if argument.kind == "structure":
            return argument.model_copy(update={"pointers": [
                inner.model_copy(update={"buffer": buffer(inner.buffer)}) for inner in argument.pointers]})
        return argument

    if operation.op == "fill":
        return operation.model_copy(update={"target": view(operation.target)})
    if operation.op == "data":
        return operation.model_copy(update={"buffer": buffer(operation.buffer)})
    if operation.op == "copy":
        return operation.model_copy(update={"source": view(operation.source), "target": view(operation.target)})
    return operation.model_copy(update={
        "kernel": kernel(operation.kernel), "arguments": [argument(operand) for operand in operation.arguments]})
