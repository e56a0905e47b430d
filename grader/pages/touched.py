"""A picture, in characters, of the elements of a matrix that one program touches. It shows the whole matrix or the part
around these elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_ROWS, MOST_COLUMNS = 16, 32
NONE, SOME, ALL = "·", "▪", "■"
# The margin around the touched part, as a share of its size.
AROUND = 0.25


@dataclass(frozen=True)
class TouchPicture:
    """A picture of the rows and columns `shown`, as rows of characters, each for `cell` elements. `many` and `where`
    say in words how many elements are touched, and where."""

    rows: list[str]
    cell: tuple[int, int]
    shown: tuple[range, range]
    many: str
    where: str


def picture(shape: Sequence[int], runs: Sequence[tuple[int, int]]) -> TouchPicture | None:
    """Draw runs of elements (first, count) of a contiguous tensor; None if nothing is touched. A vector is folded into
    rows of MOST_COLUMNS elements, or of a power of two times as many."""
    total = 1
    for size in shape:
        total *= size
    wide = shape[-1] if len(shape) > 1 else _wide(total)
    spans = [span for first, count in runs for span in _by_row(first, min(count, total - first), wide) if count > 0]
    if not spans or not wide:
        return None
    tall = -(-total // wide)
    top, bottom = min(row for row, _, _ in spans), max(row for row, _, _ in spans) + 1
    left, right = min(begin for _, begin, _ in spans), max(end for _, _, end in spans)
    rows, columns = _around(top, bottom, tall), _around(left, right, wide)
    down, across = factor(len(rows), MOST_ROWS), factor(len(columns), MOST_COLUMNS)
    count = [[0] * -(-len(columns) // across) for _ in range(-(-len(rows) // down))]
    for row, begin, end in spans:
        line = count[(row - rows.start) // down]
        for cell in range((begin - columns.start) // across, -(-(end - columns.start) // across)):
            low = columns.start + cell * across
            line[cell] += min(end, low + across) - max(begin, low)
    full = [[min(down, len(rows) - y * down) * min(across, len(columns) - x * across)
             for x in range(len(count[0]))] for y in range(len(count))]
    signs = ["".join(NONE if not n else ALL if n >= most else SOME for n, most in zip(line, its, strict=True))
             for line, its in zip(count, full, strict=True)]
    touched = sum(end - begin for _, begin, end in spans)
    where = f"{_span('row', top, bottom)}, {_span('column', left, right)}" if len(shape) > 1 else _span(
        "element", min(first for first, _ in runs), max(first + n for first, n in runs))
    return TouchPicture(signs, (down, across), (rows, columns), f"{touched:,} of {total:,} elements", where)


def _span(word: str, low: int, high: int) -> str:
    return f"{word} {low:,}" if high == low + 1 else f"{word}s {low:,} to {high - 1:,}"


def _by_row(first: int, count: int, wide: int) -> list[tuple[int, int, int]]:
    """Return the parts of a run, one for each row: row, first column, and the column after the last."""
    spans = []
    while count > 0:
        row, column = divmod(first, wide)
        taken = min(count, wide - column)
        spans.append((row, column, column + taken))
        first, count = first + taken, count - taken
    return spans


def _around(low: int, high: int, size: int) -> range:
    room = max(1, int((high - low) * AROUND))
    return range(max(0, low - room), min(size, high + room))


def _wide(total: int) -> int:
    wide = MOST_COLUMNS
    while total // wide > 8 * wide:
        wide *= 2
    return min(wide, max(total, 1))


def factor(count: int, most: int) -> int:
    """Return the smallest power of two that divides `count` into at most `most` parts."""
    return 1 << max(0, -(-count // most) - 1).bit_length()
