"""The records that the recording runtime writes: see `enum kind` in builder/runtime/recorder.h.

Host code shares its process with the runtime, so records may be forged: their form is checked here, and what they ask
for is checked by whoever reads a plan.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from grader.plan.plan import Malformed

MOST_RECORDS = 1 << 20
_HEAD = struct.Struct("<4I")
_MOST_FRAMES = 16


class Kind(IntEnum):
    """Kinds of record, with the numbers of each. Addresses are those of the recorded process; a line of the text may be
    a single word.

    CALL: its number. BUFFER: address, bytes, place (of PLACES), index of its parameter + 1. VARIABLE: address of its
    buffer, whose record comes first; the text is its symbol. FREE: address. LAUNCH: kernel, grid (3), block (3), shared
    bytes, cooperative; the text holds the arguments' bytes. COPY: target, its pitch, source, its pitch, width, height,
    number of equal copies in a loop, step of the target, step of the source; the text is the call's name. STAGED: a
    single copy from host code's own memory; the text holds its rows. FILL: target, pitch, width, height, byte. The last
    number of LAUNCH, COPY, STAGED and FILL is the stream. CONTENTS: address of a pinned buffer, and an offset in bytes;
    the text is its contents from there on. ORDER: index of a `Step` of `grader.plan.streams`, stream, event. ASKED: a
    kernel about whose resources host code has asked. REFUSED: a text of three lines: why, what, a sentence. FAILED: two
    lines: failure, a sentence. ERROR: 1 + index of the kernel that was not launched (0: something else; more than 32
    bits: harmless), CUDA's number; the text says what is wrong. END.
    """

    CALL = 1
    BUFFER = 2
    VARIABLE = 3
    FREE = 4
    LAUNCH = 5
    COPY = 6
    STAGED = 7
    FILL = 8
    CONTENTS = 9
    ORDER = 10
    ASKED = 11
    REFUSED = 12
    FAILED = 13
    ERROR = 14
    END = 15


_NUMBERS = {
    Kind.CALL: 1, Kind.BUFFER: 4, Kind.VARIABLE: 1, Kind.FREE: 1, Kind.LAUNCH: 10, Kind.COPY: 10, Kind.STAGED: 7,
    Kind.FILL: 6, Kind.CONTENTS: 2, Kind.ORDER: 3, Kind.ASKED: 1, Kind.REFUSED: 0, Kind.FAILED: 0, Kind.ERROR: 2,
    Kind.END: 0,
}  # fmt: skip
HARMLESS = 1 << 32
"""The least first number of an ERROR that makes no difference."""


@dataclass(frozen=True, slots=True)
class HostRecord:
    """Record of a recording; `frames` are the addresses of its call stack in the object, innermost first."""

    kind: Kind
    frames: tuple[int, ...]
    numbers: tuple[int, ...]
    text: bytes

    def lines(self, count: int) -> list[str]:
        """Return the text as `count` lines: the last may hold line breaks, missing lines are empty."""
        lines = self.text.decode(errors="replace").split("\n", count - 1)
        return [*lines, *[""] * (count - len(lines))]


def read_records(made: bytes) -> list[HostRecord]:
    """Return the records of a recording. Raises Malformed for what no runtime writes. A record that is cut off at the
    end is left out."""
    records: list[HostRecord] = []
    at = 0
    while at + _HEAD.size <= len(made):
        kind, frames, numbers, size = _HEAD.unpack_from(made, at)
        if kind not in _NUMBERS or frames > _MOST_FRAMES or numbers != _NUMBERS[Kind(kind)]:
            raise Malformed("a record that no runtime writes")
        if len(records) == MOST_RECORDS:
            raise Malformed(f"more than {MOST_RECORDS:,} records")
        at += _HEAD.size
        end = at + 8 * (frames + numbers) + size
        if end > len(made):
            break
        words = struct.unpack_from(f"<{frames + numbers}Q", made, at)
        records.append(HostRecord(Kind(kind), words[:frames], words[frames:], made[at + 8 * (frames + numbers) : end]))
        at = end
    return records
