"""The memory of a plan's buffers in a run without a GPU, and the operations of host code on it."""

from __future__ import annotations

import base64
import mmap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from grader.plan.frames import FRAME_BYTES
from grader.plan.limits import LaunchStopped, Limit
from grader.plan.messages import UNWRITTEN, CannotSimulate, Exhausted, Simulated
from grader.plan.plan import ITEM_BYTES, LARGEST, STORAGE, Buffer, Copy, Data, DType, Fill, Plan, View
from grader.simulation.allocation import zeros

Array = NDArray[Any]
Result = Simulated | CannotSimulate | Exhausted

MOST_BYTES = 2 << 30
"""The most bytes of all temporaries of a plan."""
MOST_ANSWER = FRAME_BYTES // 4
"""The most characters of an answer that fit into a frame, whatever characters they are."""


@dataclass(eq=False, slots=True)
class BufferMemory:
    """The memory of a buffer. `written` marks each written byte with ones; None if every byte is written. `kept` is the
    line that allocated it before this call, 0 if it was not allocated before."""

    index: int
    raw: Array
    written: Array | None
    given: str = ""
    kept: int = 0
    unwritten: int = 0
    """The last unwritten byte that `settle` found."""

    def marks(self, size: int) -> Array:
        """Return `written` for elements of `size` bytes: all ones if the whole element is written."""
        assert self.written is not None
        return self.written[: self.written.size // size * size].view(f"u{size}")

    def settle(self) -> int:
        """Drop `written` once all bytes are written. Returns the number of bytes that this read: 1, as long as the byte
        last found unwritten still is."""
        marks, begin = self.written, self.unwritten
        if marks is None or (begin < marks.size and not marks[begin]):
            return 1
        for part, start in ((marks[begin:], begin), (marks[:begin], 0)):
            if part.size and not part.all():
                self.unwritten = start + int(np.argmin(part != 0))
                return int(marks.size)
        self.written = None
        return int(marks.size)


def stopped_at(error: LaunchStopped) -> CannotSimulate | Exhausted:
    """Return the answer about a launch that did not end."""
    if isinstance(error.cause, Limit):
        return Exhausted(seq=0, what=error.cause.what, kernel=error.kernel, line=error.line,
                         resident=error.cause.resident, rounds=error.cause.rounds, ended=error.cause.ended)
    if isinstance(error.cause, MemoryError):
        return Exhausted(seq=0, what="memory", kernel=error.kernel, line=error.line)
    return CannotSimulate(seq=0, operation=str(error)[:200], kernel=error.kernel, line=error.line)


def given_of(plan: Plan) -> list[int]:
    """Return the numbers of the buffers that the judge fills or reads."""
    return [number for number, buffer in enumerate(plan.buffers) if buffer.given]


def stop_at_once(plan: Plan, memories: Sequence[Sequence[Array]]) -> Result | None:
    """Return the answer for a plan that cannot be run on these memories of its given buffers; None for any other
    plan."""
    if sum(buffer.bytes for buffer in plan.buffers if not buffer.given) > MOST_BYTES:
        return Exhausted(seq=0, what="memory")
    if any([plan.buffers[number].bytes for number in given_of(plan)] != [raw.size for raw in memory]
           for memory in memories):
        return CannotSimulate(seq=0, operation="given buffers of other sizes")
    return None


def temporary(number: int, buffer: Buffer, byte: int = UNWRITTEN) -> tuple[int, Array, Array, str, int]:
    """Return the arguments of `BufferMemory` for a temporary in which nothing is written; empty memory for a given
    buffer."""
    size = 0 if buffer.given else buffer.bytes
    return number, np.full(size, byte, np.uint8), zeros(size, np.uint8), "", buffer.line if buffer.kept else 0


def mapped(plan: Plan, call: int, descriptors: Sequence[int]) -> list[list[Array]]:
    """Return the memories of the given buffers for each call up to `call`, from the descriptors after the plan's.
    Raises OSError or ValueError for descriptors that do not fit."""
    sizes = [buffer.bytes for buffer in plan.buffers if buffer.given]
    memories: list[list[Array]] = []
    for number in range(call + 1):
        own = descriptors[number * len(sizes) :][: len(sizes)]
        memories.append([np.frombuffer(mmap.mmap(descriptor, size), np.uint8) if size else np.zeros(0, np.uint8)
                         for size, descriptor in zip(sizes, own, strict=True)])
    return memories


def fitting(result: Result) -> Result:
    """Return an answer, shortened if it does not fit into a frame: a character of a text may take six bytes there."""
    if isinstance(result, Simulated) and len(result.model_dump_json()) > MOST_ANSWER:
        return result.model_copy(update={
            "findings": result.findings[:4], "accesses": [], "printed": result.printed[:1000]})
    return result


def run_on_host(
    operation: Fill | Data | Copy, buffers: Sequence[BufferMemory], copied: Callable[[int, int], None]
) -> int:
    """Run an operation of host code. Returns the number of elements and marks that it went through. Calls `copied` for
    a copy from a temporary with elements that nothing has written: with the line, and the number of these elements.
    Raises ValueError for an operation that does not fit its buffers."""
    size = 0
    if isinstance(operation, Fill):
        target, marks = _view(operation.target, buffers)
        target[...] = _filling(operation.target.dtype, operation.value)
        size = target.size
        changed = operation.target.buffer
    elif isinstance(operation, Data):
        contents = np.frombuffer(base64.b64decode(operation.contents), np.uint8)
        buffer = buffers[operation.buffer]
        if contents.size > buffer.raw.size:
            raise ValueError("contents larger than their buffer")
        buffer.raw[: contents.size] = contents
        if buffer.written is not None:
            buffer.written[: contents.size] = 0xFF
        changed, marks = operation.buffer, None
    else:
        (source, known), (target, marks) = (_view(view, buffers) for view in (operation.source, operation.target))
        if operation.backwards:
            source = np.flip(source, operation.backwards)
            known = None if known is None else np.flip(known, operation.backwards)
        of, to = operation.source.dtype, operation.target.dtype
        target[...] = source if of == to else _converted(source, of, to)
        size = target.size
        unknown = 0 if known is None else int((known != np.iinfo(known.dtype).max).sum())
        if unknown and not buffers[operation.source.buffer].given:
            copied(operation.line, unknown)
        changed = operation.target.buffer
        if marks is not None and known is not None:
            marks[...] = known if of == to else np.where(
                known == np.iinfo(known.dtype).max, np.iinfo(marks.dtype).max, 0)
            marks = None
    if marks is not None:
        marks[...] = np.iinfo(marks.dtype).max
    return size + buffers[changed].settle()


def _view(view: View, buffers: Sequence[BufferMemory]) -> tuple[Array, Array | None]:
    """Return the elements of a view, and their marks. Raises ValueError for a view that reaches out of its buffer."""
    buffer, size = buffers[view.buffer], ITEM_BYTES[view.dtype]
    if len(view.strides) != len(view.shape):
        raise ValueError("a view without a stride for each size")
    if 0 in view.shape:
        return np.zeros(view.shape, STORAGE[view.dtype]), None
    if view.end > buffer.raw.size:
        raise ValueError("a view that reaches out of its buffer")
    strides = [stride * size for stride in view.strides]
    element = np.ndarray(view.shape, STORAGE[view.dtype], buffer.raw, view.offset, strides)
    marks = None if buffer.written is None else np.ndarray(view.shape, f"u{size}", buffer.written, view.offset, strides)
    return element, marks


def _converted(source: Array, of: DType, to: DType) -> Array:
    """Return elements of memory converted to another type, rounded as PyTorch does."""
    given = torch.from_numpy(np.array(source).reshape(-1)).view(getattr(torch, of))
    return np.asarray(given.to(getattr(torch, to)).view(torch.uint8).numpy()).view(STORAGE[to]).reshape(source.shape)


def _filling(dtype: DType, value: float) -> Array:
    """Return an element of memory that holds the value, converted as PyTorch does."""
    if dtype == "bool":
        return np.array([bool(value)], np.uint8)
    if dtype in LARGEST:
        given = torch.tensor([float(value)], dtype=torch.float64)
        return np.asarray(given.to(getattr(torch, dtype)).view(torch.uint8).numpy()).view(STORAGE[dtype])
    bits = 8 * ITEM_BYTES[dtype]
    return np.array([int(value) % (1 << bits)], f"u{bits // 8}").view(STORAGE[dtype])
