"""Memory of host code, by its addresses in a recording."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from grader.languages.cuda.confined.planner.kinds import PLACES
from grader.languages.cuda.confined.planner.records import HostRecord, Kind
from grader.plan.plan import Malformed, Place

LOADING = -1
EARLIER = 2
"""The number of a call that comes before calls 0 and 1, with other sizes."""
# The least gap, in bytes, between two buffers of the device: an address there counts as past the end of the first.
_BEHIND = 1 << 20


@dataclass
class RecordedMemory:
    """Buffer from address `base` on. `given` is the index of its parameter, -1 for a temporary; `call` is the call that
    took it; `variable` is the symbol of a module's variable, "" otherwise."""

    number: int
    base: int
    bytes: int
    place: Place
    given: int = -1
    call: int = LOADING
    line: int = 0
    variable: str = ""
    freed: bool = False

    @property
    def end(self) -> int:
        return self.base + self.bytes

    @property
    def is_kept(self) -> bool:
        """Return whether the memory was taken before the planned calls: while loading, or in the earlier call."""
        return not self.is_given and self.call in (LOADING, EARLIER)

    @property
    def is_given(self) -> bool:
        return self.given >= 0


class Memories:
    """Buffers taken up to a record of a recording, numbered in their order."""

    def __init__(self) -> None:
        self.all: list[RecordedMemory] = []
        self._bases: list[int] = []
        self._by_base: list[RecordedMemory] = []

    def take(self, memory: RecordedMemory) -> None:
        self.all.append(memory)
        # Host memory may be freed and its addresses used again: older buffers that overlap are dropped.
        begin = end = bisect_right(self._bases, memory.base)
        while begin and self._by_base[begin - 1].end > memory.base:
            begin -= 1
        while end < len(self._bases) and self._bases[end] < memory.end:
            end += 1
        del self._bases[begin:end], self._by_base[begin:end]
        self._bases.insert(begin, memory.base)
        self._by_base.insert(begin, memory)

    def new(self, bytes: int, place: Place, call: int, line: int = 0, variable: str = "") -> RecordedMemory:
        """Add a buffer that host code has not taken, but a plan needs, and return it. The buffer has no address."""
        memory = RecordedMemory(len(self.all), -1, bytes, place, call=call, line=line, variable=variable)
        self.all.append(memory)
        return memory

    def note(self, record: HostRecord, call: int, line: int) -> bool:
        """Note a record, and return whether it is about memory: taken, freed or a variable's. Raises Malformed."""
        if record.kind == Kind.BUFFER:
            base, size, place, given = record.numbers
            if place >= len(PLACES):
                raise Malformed("memory in a place that there is not")
            self.take(RecordedMemory(len(self.all), base, size, PLACES[place], given - 1, call, line))
        elif record.kind == Kind.VARIABLE:
            # The variable was there before any call; only its address is new.
            memory = self.at(record.numbers[0])
            memory.variable, memory.call, memory.line = record.text.decode(errors="replace"), LOADING, 0
        elif record.kind == Kind.FREE:
            self.at(record.numbers[0]).freed = True
        else:
            return False
        return True

    def at(self, address: int) -> RecordedMemory:
        """Return the memory at an address. Raises Malformed where there is none."""
        memory = self.find(address)
        if memory is None:
            raise Malformed("an address in no memory")
        return memory

    def find(self, address: int) -> RecordedMemory | None:
        """Return the newest memory that holds an address, or ends shortly before it; None if there is none."""
        index = bisect_right(self._bases, address) - 1
        if index < 0:
            return None
        memory = self._by_base[index]
        inside = address - memory.base < memory.bytes + (_BEHIND if memory.place == "device" else 1)
        return memory if inside else None
