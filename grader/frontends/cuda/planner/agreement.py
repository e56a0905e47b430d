"""Whether recordings under several seeds ask for the same: where they do not, host code has looked at numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grader.frontends.cuda.planner.memories import LOADING, Memories
from grader.frontends.cuda.planner.recording import Recording
from grader.frontends.cuda.planner.records import Kind, Record

# Records whose text is compared by what it is made of.
_STAGED = (Kind.STAGED, Kind.CONTENTS)
# Where the numbers of a record are addresses, which may differ.
_ADDRESSES = {
    Kind.BUFFER: (0,), Kind.VARIABLE: (0,), Kind.FREE: (0,), Kind.COPY: (0, 2), Kind.STAGED: (0,), Kind.FILL: (0,),
    Kind.CONTENTS: (0,),
}  # fmt: skip
_SOURCE = 2
_WORD = 8


def disagreement(recordings: Sequence[Recording]) -> Record | None:
    """The first record that another recording has otherwise, or lacks. Raises Malformed."""
    first, *others = recordings
    for other in others:
        if found := _between(first, other):
            return found
    return None


def _between(first: Recording, other: Recording) -> Record | None:
    mine, theirs = Memories(), Memories()
    for call, (one, two) in enumerate(zip(first.phases(), other.phases(), strict=False), LOADING):
        for a, b in zip(one, two, strict=False):
            if not _same(a, b, mine, theirs):
                return a
            mine.note(a, call, 0)
            theirs.note(b, call, 0)
        if len(one) != len(two):
            longer = one if len(one) > len(two) else two
            return longer[min(len(one), len(two))]
    if len(first.calls) != len(other.calls) or _ends(first) != _ends(other):
        return first.last or other.last or Record(Kind.END, (), (), b"")
    return None


def _ends(one: Recording) -> object:
    return (one.last.kind, one.last.text) if one.last is not None else None


def _same(a: Record, b: Record, mine: Memories, theirs: Memories) -> bool:
    if a.kind != b.kind:
        return False
    if a.kind in _STAGED:
        left, right = list(a.numbers), list(b.numbers)
        if a.kind == Kind.STAGED:
            left[_SOURCE] = right[_SOURCE] = 0
        return len(a.text) == len(b.text) and (left == right or _places(a, mine, left) == _places(b, theirs, right))
    if a.numbers == b.numbers and a.text == b.text:
        return True
    if a.kind == Kind.BUFFER:
        return a.numbers[1:] == b.numbers[1:]
    return (_places(a, mine, list(a.numbers)) == _places(b, theirs, list(b.numbers))
            and _text(a, mine) == _text(b, theirs))


def _places(record: Record, memories: Memories, numbers: list[int]) -> list[object]:
    """The numbers of a record, with addresses as places in memory."""
    at = _ADDRESSES.get(record.kind, ())
    return [_place(number, memories.find) if index in at else number for index, number in enumerate(numbers)]


def _text(record: Record, memories: Memories) -> object:
    if record.kind != Kind.LAUNCH or len(record.text) % _WORD:
        return record.text
    return [_place(int.from_bytes(record.text[at : at + _WORD], "little"), memories.find)
            for at in range(0, len(record.text), _WORD)]


def _place(address: int, find: Callable[[int], object]) -> object:
    found = find(address)
    if found is None:
        return address
    return getattr(found, "number", 0), address - getattr(found, "base", 0)
