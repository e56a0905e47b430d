"""Arguments of a launch, as the kernel reads them: bytes of a structure that it does not read, such as padding, become
0."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from grader.languages.cuda.confined.built import BuiltEntry
from grader.languages.cuda.confined.planner.kinds import is_structure, own_sizes
from grader.languages.cuda.confined.planner.records import HostRecord
from grader.plan.plan import POINTER_BYTES, Malformed

# Addresses of programs, libraries, stacks and heaps on Linux.
HOST_ADDRESSES = range(0x5500_0000_0000, 0x7FFF_FFFF_FFFF)

_NAME = re.compile(r"param_(\d+)_\w*")
_LOAD = re.compile(
    r"ld\.param(?:::entry)?(?:\.v(\d))?\.[a-z]{1,2}(\d+)\s+(?:\{[^}]*\}|[%\w]+)\s*,\s*\[(param_\d+_\w*)(?:\+(\d+))?\]")


@lru_cache(maxsize=64)
def _reads(text: str) -> dict[str, tuple[tuple[int, int], ...] | None]:
    """Return the ranges of bytes that loads read of each parameter, by its number; None for one with other uses."""
    uses: dict[str, int] = {}
    for match in _NAME.finditer(text):
        uses[match[1]] = uses.get(match[1], 0) + 1
    reads: dict[str, list[tuple[int, int]]] = {number: [] for number in uses}
    for match in _LOAD.finditer(text):
        name = _NAME.fullmatch(match[3])
        assert name is not None
        begin = int(match[4] or 0)
        reads[name[1]].append((begin, begin + int(match[1] or 1) * int(match[2]) // 8))
    # The declaration of a parameter is a use, too.
    return {number: tuple(reads[number]) if len(reads[number]) + 1 == uses[number] else None for number in uses}


def launched(record: HostRecord, entries: Sequence[BuiltEntry]) -> tuple[BuiltEntry, list[tuple[str, bytes]]]:
    """Return the kernel of a launch, and the types and contents of its arguments. Raises Malformed."""
    index = record.numbers[0]
    if index >= len(entries):
        raise Malformed("a kernel that is not there")
    entry, at = entries[index], 0
    arguments: list[tuple[str, bytes]] = []
    for number, (type_, size) in enumerate(zip(entry.signature, own_sizes(entry), strict=False)):
        contents = record.text[at : at + size]
        if len(contents) < size:
            raise Malformed("a launch without its arguments")
        arguments.append((type_, _read_bytes(entry.text, number, contents) if is_structure(type_) else contents))
        at += size
    return entry, arguments


def words(type_: str, contents: bytes) -> Iterator[tuple[int, int]]:
    """Yield each offset in an argument that may hold a pointer, and the integer of 8 bytes there."""
    if type_[0] != "f":
        for at in range(0, len(contents) - POINTER_BYTES + 1, POINTER_BYTES):
            yield at, int.from_bytes(contents[at : at + POINTER_BYTES], "little")


def _read_bytes(text: str, index: int, contents: bytes) -> bytes:
    """Return the contents of a structure, parameter `index` of a kernel, with zeros where the kernel reads nothing."""
    ranges = _reads(text).get(str(index))
    if ranges is None:
        return contents
    kept = bytearray(len(contents))
    for begin, end in ranges:
        kept[begin:end] = contents[begin:end]
    return bytes(kept)
