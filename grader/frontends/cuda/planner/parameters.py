"""Which bytes of a structure a kernel reads: the others are padding, and hold what was in memory before."""

from __future__ import annotations

import re
from functools import lru_cache

_NAME = re.compile(r"param_(\d+)_\w*")
_LOAD = re.compile(
    r"ld\.param(?:::entry)?(?:\.v(\d))?\.[a-z]{1,2}(\d+)\s+(?:\{[^}]*\}|[%\w]+)\s*,\s*\[(param_\d+_\w*)(?:\+(\d+))?\]")


@lru_cache(maxsize=64)
def _reads(text: str) -> dict[str, tuple[tuple[int, int], ...] | None]:
    """By the number of a parameter, the bytes that loads take of it; None where it is used in another way, too."""
    uses: dict[str, int] = {}
    for match in _NAME.finditer(text):
        uses[match[1]] = uses.get(match[1], 0) + 1
    reads: dict[str, list[tuple[int, int]]] = {number: [] for number in uses}
    for match in _LOAD.finditer(text):
        found = _NAME.fullmatch(match[3])
        assert found is not None
        begin = int(match[4] or 0)
        reads[found[1]].append((begin, begin + int(match[1] or 1) * int(match[2]) // 8))
    # Its declaration is a use.
    return {number: tuple(reads[number]) if len(reads[number]) + 1 == uses[number] else None for number in uses}


def read_bytes(text: str, index: int, contents: bytes) -> bytes:
    """The contents of a structure, parameter `index` of a kernel, with zeros where the kernel reads nothing."""
    ranges = _reads(text).get(str(index))
    if ranges is None:
        return contents
    kept = bytearray(len(contents))
    for begin, end in ranges:
        kept[begin:end] = contents[begin:end]
    return bytes(kept)
