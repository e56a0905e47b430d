"""The error map as a picture: a palette PNG in a data URI, made with zlib and struct.

A right cell is a dot, a wrong one is a filled square (brighter is worse, in cividis), and an unwritten one is a hatched
square, so that colour is not needed to distinguish them.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from grader.results.result import CheckResult, ErrorMap, OutputFigures

MOST_CELLS = 128
# The least rows and columns of a map that shows a pattern; a narrower map is just a row of squares.
LEAST_SIDE = 4
PICTURE_PIXELS = 400
THUMBNAIL_PIXELS, LEAST_PIXELS = 56, 8
LARGEST_CELL = 24
GROUND, DOT, FIRST_WRONG, HATCH = 0, 1, 2, 11
# The background is dark in both themes, so that brighter cells look worse.
PALETTE = [
    "#1d2026", "#596070",
    "#4a5670", "#5f6876", "#727679", "#858579", "#999676", "#aea870", "#c4ba67", "#dccd58", "#fee838",
    "#ff8a4c",
]


Mapped = tuple[OutputFigures, ErrorMap]
"""A wrong output, and where it is wrong."""


@dataclass(frozen=True)
class Picture:
    """A picture of a map. `left` and `top` are the worst element's position in percent; sizes are in CSS pixels."""

    uri: str
    width: int
    height: int
    words: str
    cell: str
    left: float | None
    top: float | None
    kept: bool
    """True if hatched squares stand for elements that were left unchanged."""


def informative(check: CheckResult) -> list[Mapped]:
    """Return the maps of a failing case, one for each wrong output. A map whose cells are all alike is left out, since
    it says no more than the message."""
    wrong = check.detail.wrong_outputs if check.outcome == "failed" and check.detail else []
    return [(output, cells) for output in wrong if (cells := output.error_map)
            and len({kind if kind in ".u" else "wrong" for row in cells.cells for kind in row}) > 1]


def clearest(checks: Sequence[CheckResult], shown: CheckResult | None) -> tuple[CheckResult, list[Mapped]] | None:
    """Return the maps of the shown case, if they are informative, so that text, numbers and picture are about one case.
    If no case is shown, return the maps of the clearest: the smallest with a map of some area, or else the largest."""
    maps = [(check, mapped) for check in checks if (shown is None or check is shown) and (mapped := informative(check))]
    if not maps:
        return None
    maps.sort(key=lambda item: _elements(item[1]))
    areas = (item for item in maps if any(
        min(len(cells.cells), *map(len, cells.cells)) >= LEAST_SIDE for _, cells in item[1]))
    return next(areas, max(maps, key=lambda item: _elements(item[1])))


def picture(error_map: ErrorMap, worst: list[int] | None, *, small: bool = False) -> Picture | None:
    """Draw the picture of a map; None if there is nothing to draw. A `small` picture has a pixel for each cell, which
    the page enlarges."""
    rows = [row[:MOST_CELLS] for row in error_map.cells[:MOST_CELLS]]
    columns = max((len(row) for row in rows), default=0)
    if not columns:
        return None
    rows = [row.ljust(columns, " ") for row in rows]
    size = 1 if small else max(4, min(LARGEST_CELL, PICTURE_PIXELS // max(columns, len(rows))))
    tall, wide = [*error_map.cell_shape, 1, 1][:2]
    shown = size if not small else THUMBNAIL_PIXELS / max(columns, len(rows))
    mark = _cell_of(worst, tall, wide, columns) if worst else None
    inside = mark is not None and mark[0] < len(rows) and mark[1] < columns
    return Picture(
        uri="data:image/png;base64," + base64.b64encode(_png(_pixels(rows, size))).decode(),
        width=max(round(columns * shown), LEAST_PIXELS), height=max(round(len(rows) * shown), LEAST_PIXELS),
        words=_words(rows, tall, wide, error_map), cell=f"{tall} × {wide}",
        left=round((mark[1] + 0.5) / columns * 100, 2) if mark and inside else None,
        top=round((mark[0] + 0.5) / len(rows) * 100, 2) if mark and inside else None,
        kept=error_map.kept,
    )


def _cell_of(index: list[int], tall: int, wide: int, columns: int) -> tuple[int, int] | None:
    if any(i < 0 for i in index) or min(tall, wide) < 1:
        return None
    if len(index) == 1:
        row, column = divmod(index[0], columns * wide)
        return row // tall, column // wide
    return (index[0] // tall, index[1] // wide) if len(index) == 2 else None


def _pixels(rows: list[str], size: int) -> list[bytes]:
    """Return one byte for each pixel. Cells have margins, so that neighbours can be counted."""
    tiles = {kind: _tile(kind, size) for kind in set().union(*rows)}
    return [b"".join(tiles[kind][y] for kind in row) for row in rows for y in range(size)]


def _tile(kind: str, size: int) -> list[bytes]:
    if size == 1:
        return [bytes([HATCH if kind == "u" else FIRST_WRONG + int(kind) - 1 if kind.isdigit() else GROUND])]
    tile = [bytearray(size) for _ in range(size)]
    middle = {(size - 1) // 2, size // 2}
    for y in range(size - 1):
        for x in range(size - 1):
            if kind == "u" and (x + y) % 4 < 2:
                tile[y][x] = HATCH
            elif kind in "123456789":
                tile[y][x] = FIRST_WRONG + int(kind) - 1
            elif kind == "." and x in middle and y in middle:
                tile[y][x] = DOT
    return [bytes(line) for line in tile]


def _png(lines: list[bytes]) -> bytes:
    palette = b"".join(bytes.fromhex(colour[1:]) for colour in PALETTE)
    header = struct.pack(">IIBBBBB", len(lines[0]), len(lines), 8, 3, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + line for line in lines), 9)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", body), (b"IEND", b"")))


def _elements(maps: Sequence[Mapped]) -> int:
    return max(prod(cells.output_shape) for _, cells in maps)


def _words(rows: list[str], tall: int, wide: int, error_map: ErrorMap) -> str:
    """Describe the map for readers who cannot see the picture: how much is wrong, and in which rows and columns."""
    count = Counter("".join(rows))
    total = sum(number for kind, number in count.items() if kind != " ")
    unwritten = count["u"]
    wrong = total - count["."] - unwritten
    text = f"{wrong} of {total} squares hold a wrong element"
    state = "left as it was" if error_map.kept else "never written"
    text += f", {unwritten} an element {state}." if unwritten else "."
    shape = error_map.output_shape
    bad = [(y, x) for y, row in enumerate(rows) for x, kind in enumerate(row) if kind not in ". "]
    if not bad or len(shape) != 2:
        return text
    top, bottom = min(y for y, _ in bad) * tall, min((max(y for y, _ in bad) + 1) * tall, shape[0]) - 1
    left, right = min(x for _, x in bad) * wide, min((max(x for _, x in bad) + 1) * wide, shape[1]) - 1
    if (bottom - top + 1, right - left + 1) == tuple(shape):
        return text
    return f"{text} All of them lie in {_span('row', top, bottom)} and {_span('column', left, right)}."


def _span(word: str, first: int, last: int) -> str:
    return f"{word} {first}" if first == last else f"{word}s {first} to {last}"
