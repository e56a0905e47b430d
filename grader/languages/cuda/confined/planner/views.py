"""Views of memory for copies and fills: rows of bytes as elements, as wide as offsets and sizes allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy

from grader.languages.cuda.confined.planner.memories import Memories, RecordedMemory
from grader.languages.cuda.confined.planner.records import HostRecord
from grader.languages.cuda.confined.planner.staging import GatheredPiece
from grader.languages.cuda.confined.planner.tokens import WORD
from grader.plan.plan import ITEM_BYTES, Copy, DType, Fill, View, memory_span

MOST_FILLS = 4096
# Element types: copies change no bits, so any type of the size will do; fills take an integer.
_COPIED: tuple[DType, ...] = ("float32", "float16", "uint8")
_FILLED: tuple[DType, ...] = ("int32", "uint8")


@dataclass(frozen=True)
class Rows:
    """Rows of a copy in a memory: `offset` of the first, and `pitch` from row to row, in bytes."""

    memory: RecordedMemory
    offset: int
    pitch: int


def _rows(rows: Rows, width: int, height: int, dtype: DType) -> View:
    item = ITEM_BYTES[dtype]
    if height == 1 or rows.pitch == width:
        return View(
            buffer=rows.memory.number, offset=rows.offset, shape=[width * height // item], strides=[1], dtype=dtype)
    return View(buffer=rows.memory.number, offset=rows.offset, shape=[height, width // item],
                strides=[rows.pitch // item, 1], dtype=dtype)


def _widest(dtypes: Sequence[DType], sizes: Sequence[int]) -> DType:
    return next(dtype for dtype in dtypes if not any(size % ITEM_BYTES[dtype] for size in sizes))


def copy(target: Rows, source: Rows, width: int, height: int, line: int) -> Copy:
    pitches = [target.pitch, source.pitch] if height > 1 else []
    dtype = _widest(_COPIED, [target.offset, source.offset, width, *pitches])
    view, source_view = _rows(target, width, height, dtype), _rows(source, width, height, dtype)
    if len(view.shape) < len(source_view.shape):
        view = _as_matrix(view, source_view)
    elif len(source_view.shape) < len(view.shape):
        source_view = _as_matrix(source_view, view)
    return Copy(source=source_view, target=view, line=line)


def repeated(first: Copy, last: Copy, count: int) -> Copy | None:
    """Return `count` copies at equal distances as one copy, from the first and the last; None if there is no such
    view."""
    merged = []
    for view, last_view in ((first.source, last.source), (first.target, last.target)):
        item = ITEM_BYTES[view.dtype]
        step, rest = divmod(last_view.offset - view.offset, item * (count - 1))
        if view.buffer != last_view.buffer or view.dtype != last_view.dtype or rest or step < 0:
            return None
        merged.append(view.model_copy(update={"shape": [count, *view.shape], "strides": [step, *view.strides]}))
    source, target = merged
    # If pieces overlap, one copy does not write them in order.
    apart = target.strides[0] >= memory_span(target.shape[1:], target.strides[1:])
    return first.model_copy(update={"source": source, "target": target}) if apart else None


def _as_matrix(dense: View, like: View) -> View:
    return dense.model_copy(update={"shape": like.shape, "strides": [like.shape[1], 1]})


def is_in_order(view: View) -> bool:
    """Return whether elements follow one another in memory."""
    return len(view.shape) == 1 or view.shape[0] == 1 or view.strides[0] == view.shape[1]


def gather(source: RecordedMemory, piece: GatheredPiece, target: RecordedMemory, at: int, line: int) -> Copy:
    """Return the copy of a piece of a host input to the place where host code has put it."""
    strides = [1]
    for size in reversed(piece.shape[1:]):
        strides.insert(0, strides[0] * size)
    shape = list(piece.shape)
    backwards = [axis for axis, stride in enumerate(piece.strides) if stride < 0]
    lowest = piece.first + sum((shape[axis] - 1) * piece.strides[axis] for axis in backwards)
    return Copy(
        source=View(buffer=source.number, offset=WORD * lowest, shape=shape, strides=[*map(abs, piece.strides)],
                    dtype="float32"), backwards=backwards,
        target=View(buffer=target.number, offset=at, shape=shape, strides=strides, dtype="float32"), line=line)


def fill(memory: RecordedMemory, offset: int, pitch: int, width: int, height: int, value: int, line: int) -> Fill:
    """Return the fill of some rows with a byte."""
    dtype = _widest(_FILLED, [offset, width, *([pitch] if height > 1 else [])])
    pattern = int.from_bytes(bytes([value]) * ITEM_BYTES[dtype], "little", signed=dtype == "int32")
    return Fill(target=_rows(Rows(memory, offset, pitch), width, height, dtype), value=pattern, line=line)


def fills(memory: RecordedMemory, offset: int, contents: bytes, line: int) -> list[Fill]:
    """Return bytes as fills, one for each run of equal elements, at most MOST_FILLS + 1 of them."""
    dtype = _widest(_FILLED, [offset, len(contents)])
    values = numpy.frombuffer(contents, "<i4" if dtype == "int32" else "u1")
    cuts = [0, *(numpy.flatnonzero(values[1:] != values[:-1]) + 1).tolist()] if len(values) else []
    item = ITEM_BYTES[dtype]
    return [
        Fill(target=View(buffer=memory.number, offset=offset + item * begin, shape=[end - begin], strides=[1],
                         dtype=dtype),
             value=int(values[begin]), line=line)
        for begin, end in list(zip(cuts, [*cuts[1:], len(values)], strict=True))[: MOST_FILLS + 1]]


@dataclass
class Staging:
    """Buffers that stand for host code's own memory: one for each stretch that its copies read."""

    _stretches: list[tuple[int, int]] = field(default_factory=list)
    _buffers: dict[int, RecordedMemory] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Sequence[HostRecord]) -> Staging:
        """Return the staging for the copies of a call."""
        extents: list[tuple[int, int]] = []
        for begin, end in sorted(_extent(record) for record in records if cls.is_shared(record)):
            if extents and begin <= extents[-1][1]:
                extents[-1] = extents[-1][0], max(end, extents[-1][1])
            else:
                extents.append((begin, end))
        return cls(extents)

    @staticmethod
    def is_shared(record: HostRecord) -> bool:
        """Return whether a copy's rows lie side by side; otherwise the copy gets a buffer of its own."""
        return record.numbers[5] == 1 or record.numbers[3] == record.numbers[4]

    def place(self, memories: Memories, record: HostRecord, call: int, line: int) -> tuple[RecordedMemory, int]:
        """Return the buffer that a copy reads, and the offset of its first byte."""
        begin, end = _extent(record)
        if not self.is_shared(record):
            return memories.new(end - begin, "host", call, line), 0
        low, high = next(stretch for stretch in self._stretches if stretch[0] <= begin < stretch[1])
        if low not in self._buffers:
            self._buffers[low] = memories.new(high - low, "host", call, line)
        return self._buffers[low], begin - low


def _extent(record: HostRecord) -> tuple[int, int]:
    begin, width, height = record.numbers[2], record.numbers[4], record.numbers[5]
    return begin, begin + width * height
