"""Assembly of plans from recorded operations: the selection of a call's operations, and new numbers for buffers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from grader.plan.plan import Argument, Buffer, Operation, View, touched_buffers


def needed_operations(setup: Sequence[Operation], used: Collection[int]) -> list[Operation]:
    """Return the operations of `setup` (a file's import) that may write the `used` buffers, directly or through other
    buffers, in their order. Calls that overwrite these buffers later make no difference."""
    wanted, kept = set(used), []
    for operation in reversed(setup):
        names = touched_buffers(operation)
        if wanted & ({operation.target.buffer} if operation.op == "copy" else names):
            wanted |= names
            kept.append(operation)
    return kept[::-1]


class Numbering:
    """The buffers and kernels of a plan while it is assembled, numbered in the order of their first use. `buffer_of`
    returns the plan's buffer for one of the recording; `numbers` are the new numbers of buffers by their old ones."""

    def __init__(self, buffer_of: Callable[[int], Buffer]) -> None:
        self._buffer_of = buffer_of
        self.buffers: list[Buffer] = []
        self.numbers: dict[int, int] = {}
        self.kernels: dict[int, int] = {}

    def give(self, buffer: Buffer, *numbers: int) -> None:
        """Add the buffer of a parameter, which has these numbers in the recording."""
        self.numbers.update(dict.fromkeys(numbers, len(self.buffers)))
        self.buffers.append(buffer)

    def buffer(self, number: int) -> int:
        if number not in self.numbers:
            self.numbers[number] = len(self.buffers)
            self.buffers.append(self._buffer_of(number))
        return self.numbers[number]

    def kernel(self, index: int) -> int:
        return self.kernels.setdefault(index, len(self.kernels))

    def renumbered(self, operations: Sequence[Operation]) -> list[Operation]:
        return [renumbered(operation, self.buffer, self.kernel) for operation in operations]


def alike(first: Sequence[Operation], second: Sequence[Operation], of: Callable[[int], object]) -> bool:
    """Return whether two calls do the same, each on buffers of its own. `of` returns what two such buffers must have in
    common."""
    (operations, seen), (others, known) = _counted(first), _counted(second)
    return operations == others and list(map(of, seen)) == list(map(of, known))


def _counted(operations: Sequence[Operation]) -> tuple[list[Operation], list[int]]:
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
