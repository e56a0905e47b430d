"""Comparison of recordings under several seeds: where they differ, host code depends on values of its inputs, or on
chance."""

from __future__ import annotations

from collections.abc import Sequence

from grader.languages.cuda.confined.built import BuiltEntry
from grader.languages.cuda.confined.planner.memories import LOADING, Memories
from grader.languages.cuda.confined.planner.parameters import HOST_ADDRESSES, launched, words
from grader.languages.cuda.confined.planner.recording import Recording
from grader.languages.cuda.confined.planner.records import HostRecord, Kind

# Kinds of record whose text is not compared here: `staging.py` finds what the text is made of.
_STAGED = (Kind.STAGED, Kind.CONTENTS)
# The indices of a record's numbers that are addresses, which may differ from one recording to another.
_ADDRESSES = {
    Kind.BUFFER: (0,), Kind.VARIABLE: (0,), Kind.FREE: (0,), Kind.COPY: (0, 2), Kind.STAGED: (0,), Kind.FILL: (0,),
    Kind.CONTENTS: (0,),
}  # fmt: skip
_SOURCE = 2


def disagreement(recordings: Sequence[Recording], entries: Sequence[BuiltEntry]) -> HostRecord | None:
    """Return the first record that differs in another recording, or is missing there. Raises Malformed."""
    first, *others = recordings
    for other in others:
        if record := _Pair(first, other, entries).disagreement():
            return record
    return None


class _Pair:
    """Two recordings side by side; each has its memory at other addresses."""

    def __init__(self, first: Recording, other: Recording, entries: Sequence[BuiltEntry]) -> None:
        self._first, self._other, self._entries = first, other, entries
        self._mine, self._theirs = Memories(), Memories()

    def disagreement(self) -> HostRecord | None:
        first, other = self._first, self._other
        for call, (phase, two) in enumerate(zip(first.phases(), other.phases(), strict=False), LOADING):
            for a, b in zip(phase, two, strict=False):
                if not self._same(a, b):
                    return a
                self._mine.note(a, call, 0)
                self._theirs.note(b, call, 0)
            if len(phase) != len(two):
                longer = phase if len(phase) > len(two) else two
                return longer[min(len(phase), len(two))]
        if len(first.calls) != len(other.calls):
            return first.last or other.last or HostRecord(Kind.END, (), (), b"")
        return None

    def _same(self, a: HostRecord, b: HostRecord) -> bool:
        if a.kind != b.kind or (len(a.text) != len(b.text) and a.kind not in _STAGED):
            return False
        if a.kind == Kind.BUFFER:
            return a.numbers[1:] == b.numbers[1:]
        if a.numbers == b.numbers and (a.text == b.text or a.kind in _STAGED):
            return True
        if _places(a, self._mine) != _places(b, self._theirs):
            return False
        if a.kind == Kind.LAUNCH:
            return self._arguments(a, self._mine) == self._arguments(b, self._theirs)
        return a.text == b.text or a.kind in _STAGED

    def _arguments(self, record: HostRecord, memories: Memories) -> list[object]:
        arguments: list[object] = []
        for type_, contents in launched(record, self._entries)[1]:
            left = bytearray(contents)
            for at, address in words(type_, contents):
                if (place := _place(address, memories)) != address:
                    arguments.append((at, place))
                    left[at : at + 8] = bytes(8)
            arguments.append(bytes(left))
        return arguments


def _places(record: HostRecord, memories: Memories) -> list[object]:
    """Return the numbers of a record with addresses as places in memory, and without the source of a staged copy."""
    at = _ADDRESSES.get(record.kind, ())
    return [_place(number, memories) if index in at else number for index, number in enumerate(record.numbers)
            if record.kind != Kind.STAGED or index != _SOURCE]


def _place(address: int, memories: Memories) -> object:
    """Return the buffer of an address and the offset in that buffer. All of the host's own memory is one place, as a
    plan does not know it; any other number is returned as it is."""
    memory = memories.find(address)
    if memory is not None:
        return memory.number, address - memory.base
    return "host" if address in HOST_ADDRESSES else address
