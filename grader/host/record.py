"""The record of a submission while it is planned: its memory, and the operations that its host code asked for."""

from __future__ import annotations

import bisect
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any, Literal, NoReturn

import torch

from grader.plan.device import Device
from grader.plan.messages import Answers, Refusal, SkippedStatement, TooMuch
from grader.plan.plan import MOST_BUFFERS, MOST_OPERATIONS, Operation, Place, touched_buffers
from grader.plan.streams import Step, StreamOrder

# The first made-up address: nothing of the process is mapped there, so that a read by address fails at once.
FIRST_ADDRESS = 0x3000_0000_0000
# The alignment of CUDA's allocators, and of PyTorch's on the host.
DEVICE_ALIGNMENT, HOST_ALIGNMENT = 512, 64
# Bytes between two allocations, so that an address past the end of one is not in the next.
GAP = 1 << 20
MOST_SKIPPED = 64


class RefusedError(RuntimeError):
    """An error: host code asked for something that needs or makes numbers."""


class SkippedError(Exception):
    """An error: a benchmark runs while the file is imported."""


class TooLargeError(Exception):
    """An error: a plan cannot hold so much. `what` is the cap."""

    def __init__(self, message: str, what: TooMuch = "too_large") -> None:
        super().__init__(message)
        self.what = what


class TimeUpError(BaseException):
    """An error: a call has taken all of its time."""


class AutogradError(Exception):
    """An error: a class is not the torch.autograd.Function that is asked for. `line` is its place, if known."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


class UnsupportedError(Exception):
    """An error: the planner cannot plan something that a GPU would run."""


@dataclass(frozen=True)
class Constant:
    """The known contents of a whole buffer: nothing yet, one value, or `data` (its bytes)."""

    kind: Literal["nothing", "value", "data"]
    value: bool | int | float = 0
    data: bytes = b""


@dataclass(eq=False)
class Memory:
    """One allocation. `made_in` is the call that made it, 0 for the import; `calls` are the calls whose operations name
    it. `number` is set by the first such operation, -1 before. `initial` are the fills before any launch, copy or CUDA
    graph uses it, each with its call; `is_used`: one of these has used it."""

    bytes: int
    place: Place
    address: int
    line: int
    made_in: int
    given: str = ""
    output: bool = False
    constant: Constant | None = None
    number: int = -1
    calls: set[int] = field(default_factory=set)
    initial: list[tuple[int, Operation]] = field(default_factory=list)
    is_used: bool = False
    storage: Any = None


@dataclass(frozen=True)
class PlanningStopped:
    """The first refusal of a call, kept whatever the host code does with the exception."""

    why: Refusal
    operator: str
    line: int
    traceback: str


class Session:
    """One submission in this process. `call` counts calls of the graded function; it is 0 while the file is imported.

    Operations go to `operations`, `order` says what each follows; while CUDA graphs are captured, requests go to the
    last of `captures`. `copies`: copies of tensors may be recorded. `answers` are answers to what host code asks its
    machine.
    """

    def __init__(self, file: str, device: Device) -> None:
        self.file = file
        self.device = device
        self.reset()

    def reset(self) -> None:
        """Clear all calls and memory, before a file is loaded."""
        self.call = 0
        self.over = False
        self.lowering = False
        self.copies = True
        self.answers = Answers()
        self.operations: list[Operation] = []
        self.order = StreamOrder()
        self.captures: list[list[Callable[[], None]]] = []
        # Both calls of each case whose second call repeated the first, apart from first contents of memory.
        self.repeatable: set[int] = {0}
        self.named: list[Memory] = []
        self.stopped: PlanningStopped | None = None
        # The lines that calls of the function have left out.
        self.left_out: dict[int, SkippedStatement] = {}
        self._by_storage: dict[int, Memory] = {}
        self._memories: list[Memory] = []
        self._addresses: list[int] = []
        self._next_address = FIRST_ADDRESS

    def allocate(
        self, storage: Any, size: int, place: Place, *, given: str = "", output: bool = False,
        constant: Constant | None = None,
    ) -> Memory:
        """Make memory for a storage that PyTorch made without numbers. Raises OutOfMemoryError if the device has too
        little."""
        if size > self.device.total_memory:
            raise torch.OutOfMemoryError(
                f"CUDA out of memory. Tried to allocate {size / 2**30:.2f} GiB. GPU 0 has a total capacity of "
                f"{self.device.total_memory / 2**30:.2f} GiB.")
        alignment = HOST_ALIGNMENT if place == "host" else DEVICE_ALIGNMENT
        address = -(-self._next_address // DEVICE_ALIGNMENT) * DEVICE_ALIGNMENT + alignment % DEVICE_ALIGNMENT
        self._next_address = address + size + GAP
        memory = Memory(
            bytes=size, place=place, address=address, line=self.line(), made_in=self.call, given=given, output=output,
            constant=constant, storage=storage)
        self._by_storage[storage._cdata] = memory
        self._memories.append(memory)
        self._addresses.append(address)
        return memory

    def memory(self, storage: Any) -> Memory:
        memory = self._by_storage.get(storage._cdata)
        if memory is None:
            # No mode has seen the allocation: a thread made it, or PyTorch's modes were switched off.
            memory = self.allocate(storage, storage.nbytes(), "host")
        return memory

    def at(self, address: int) -> tuple[Memory, int] | None:
        """Return the memory in which an address lies, and the bytes from its start; None if there is none."""
        index = bisect.bisect_right(self._addresses, address) - 1
        if index < 0:
            return None
        memory = self._memories[index]
        offset = address - memory.address
        return (memory, offset) if offset <= memory.bytes else None

    def number(self, memory: Memory) -> int:
        """Return the number by which operations of this process name a memory; plans have numbers of their own."""
        if memory.number < 0:
            if len(self.named) >= 16 * MOST_BUFFERS:
                raise TooLargeError(f"more than {16 * MOST_BUFFERS:,} tensors")
            memory.number = len(self.named)
            self.named.append(memory)
        return memory.number

    def record(self, operation: Operation, *, stream: int | None = None, asynchronous: bool = True) -> None:
        """Record an operation in the current stream; `asynchronous` as in `StreamOrder.order`."""
        if len(self.captures[-1] if self.captures else self.operations) >= MOST_OPERATIONS:
            raise TooLargeError(f"more than {MOST_OPERATIONS:,} launches, fills and copies in one call")
        stream = int(torch.cuda.current_stream().cuda_stream) if stream is None else stream
        if self.captures:
            self.captures[-1].append(partial(self._again, operation, stream, asynchronous))
        else:
            self.operations.append(self.order.order(
                operation, lambda number: self.named[number].place, stream, asynchronous=asynchronous))
        for number in touched_buffers(operation):
            memory = self.named[number]
            if operation.op in ("launch", "copy") or self.captures:
                memory.is_used = True
            elif not memory.is_used:
                memory.initial.append((self.call, operation))

    def _again(self, operation: Operation, stream: int, asynchronous: bool) -> None:
        """Record an operation of a replayed graph, whose memory the present call uses, whichever call captured it."""
        for number in touched_buffers(operation):
            self.named[number].calls.add(self.call)
        self.record(operation, stream=stream, asynchronous=asynchronous)

    def note(self, step: Step, stream: int = 0, event: int = 0) -> None:
        """Note a step, which orders the operations before and after it."""
        if self.captures:
            self.captures[-1].append(partial(self.note, step, stream, event))
        else:
            self.order.note(step, stream, event)

    def line(self) -> int:
        """Return the line of the innermost frame in the student's file, 0 if there is none."""
        frame = next(self.frames(sys._getframe(1)), None)
        return 0 if frame is None else frame.f_lineno

    def frames(self, frame: FrameType | None) -> Iterator[FrameType]:
        """Yield the frames of the student's file, from `frame` outwards."""
        while frame is not None:
            if frame.f_code.co_filename == self.file:
                yield frame
            frame = frame.f_back

    def leave_out(self, why: Literal["print"], line: int, text: str) -> None:
        """Note that a line of the graded function is left out."""
        if len(self.left_out) < MOST_SKIPPED:
            self.left_out.setdefault(line, SkippedStatement(line=line, why=why, text=text.removeprefix("aten::")))

    def refuse(self, why: Refusal, operator: str) -> NoReturn:
        if self.stopped is None:
            frames = list(self.frames(sys._getframe(1)))
            shown = [
                traceback.FrameSummary(self.file, frame.f_lineno, frame.f_code.co_name) for frame in frames[7::-1]]
            text = "".join(traceback.format_list(shown))
            self.stopped = PlanningStopped(why, operator[:200], frames[0].f_lineno if frames else 0, text[:4000])
        raise RefusedError(f"{operator}: host code has shapes, not numbers; compute in a kernel")


_session: Session | None = None


def begin(file: str, device: Device) -> Session:
    """Begin the session of this process, which plans one submission."""
    global _session
    _session = Session(file, device)
    return _session


def session() -> Session:
    assert _session is not None
    return _session
