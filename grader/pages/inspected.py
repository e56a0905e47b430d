"""An inspection in the terminal: figures, the elements that a program touches, and PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.pages import margins
from grader.results.launched import TENSOR_INSTRUCTIONS, Inspection
from grader.results.result import Detail

MOST_INSTRUCTIONS = 2000


@dataclass(frozen=True)
class Touch:
    """The elements of a tensor that one program loads or stores."""

    program: int
    access: str
    tensor: str
    picture: TouchPicture


@dataclass
class InspectedFile:
    """The facts of a file's launches. `trouble` says why some facts are missing, or what is wrong; `undrawn` says why
    there is no picture; `ptx` is each kernel's text, by name."""

    title: str
    source: str
    inspection: Inspection | None = None
    trouble: Detail | None = None
    pictures: list[Touch] = field(default_factory=list)
    undrawn: str = ""
    ptx: dict[str, str] = field(default_factory=dict)


def show(console: Console, path: Path, facts: InspectedFile) -> None:
    """Print the launches, advice on the worst lines, the source with figures, and the details that were requested."""
    console.print(Group(*_blocks(path, facts)), crop=False)


def _blocks(path: Path, facts: InspectedFile) -> list[RenderableType]:
    inspection = facts.inspection
    head = Text.assemble((str(path), "bold"), f"  {facts.title}", no_wrap=True, overflow="ignore")
    if inspection is not None:
        sizes = ", ".join(f"{name}={size}" for name, size in inspection.sizes.items())
        head.append(f"  case {inspection.case} ({sizes}), for {inspection.target}", "dim")
    blocks: list[RenderableType] = [head]
    if facts.trouble is not None:
        place = f"{path.name}:{facts.trouble.place.line}: " if facts.trouble.place else ""
        blocks.append(_indented(_prose(f"{place}{facts.trouble.message} {facts.trouble.hint}".strip())))
    if inspection is None:
        if facts.trouble is None:
            blocks.append(_indented(Text("The simulator cannot run this kernel, or not in time.")))
        return [*blocks, Text()]
    blocks += [_indented(_prose(said)) for said in margins.launches(inspection)]
    blocks += [_indented(Text.assemble((f"{margins.line_words(lines)}. ", "bold"), advice))
               for lines, advice in margins.advised(inspection)]
    blocks.append(_indented(_listing(inspection, facts.source)))
    if inspection.launches:
        blocks += [_indented(_table(inspection)), _indented(Text(margins.MOVED, "dim"))]
    blocks += [_indented(_picture(touch)) for touch in facts.pictures]
    if facts.undrawn:
        blocks.append(_indented(Text(facts.undrawn)))
    for name, text in facts.ptx.items():
        blocks.append(_indented(Group(Text(f"PTX of {name}", "bold"), *_instructions(text))))
    return [*blocks, Text()]


def _listing(inspection: Inspection, source: str) -> RenderableType:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column(ratio=3, overflow="fold")
    table.add_column(ratio=2, overflow="fold", style="cyan")
    for line in margins.annotated(inspection, source):
        mark = "▶ " if line.marked else ""
        table.add_row(f"{mark}{line.number}", Text(line.text, "bold" if line.note else ""), Text(line.note))
    return table


def _table(inspection: Inspection) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    for title in ("", "yours", *(["a good kernel's"] if inspection.good else [])):
        table.add_column(title, header_style="dim")
    for name, yours, good in margins.compared(inspection):
        table.add_row(Text(name, "dim"), yours, *([good] if inspection.good else []))
    return table


def _picture(touch: Touch) -> RenderableType:
    said = f"Program {touch.program} {touch.access}s {touch.picture.many} of {touch.tensor}: {touch.picture.where}"
    rows = Text()
    for row in touch.picture.rows:
        for sign in row:
            rows.append(f"{sign} ", "dim" if sign == NONE else "cyan")
        rows.append("\n")
    (rows_shown, columns_shown), (tall, wide) = touch.picture.shown, touch.picture.cell
    rows.append(f"rows {rows_shown.start:,} to {rows_shown.stop - 1:,}, columns {columns_shown.start:,} to "
                f"{columns_shown.stop - 1:,}; a sign is {tall} × {wide}", "dim")
    return Group(Text(said), _indented(rows))


def _instructions(text: str) -> list[Text]:
    return [Text.assemble((f"{line.line or '':>5} ", "dim"), (f"{'▶ ' if line.kind else '  '}", "cyan"),
                          (line.text, "" if line.kind else "dim"), (f"    ← {line.kind}" if line.kind else "", "cyan"),
                          overflow="fold")
            for line in list(instructions(text))[:MOST_INSTRUCTIONS]]


def _prose(text: str) -> Text:
    prose = Text(text)
    prose.highlight_regex(r"`[^`\n]{1,200}`", "cyan")
    return prose


def _indented(block: RenderableType) -> RenderableType:
    return Padding(block, (0, 0, 0, 2), expand=False)


_TENSOR = f"(?:{'|'.join(map(re.escape, TENSOR_INSTRUCTIONS))})"
# The first pattern that matches counts. See "Instructions" in the PTX ISA.
KINDS = (
    (r"cp\.async\.bulk", "copy engine"), (r"cp\.async\.c", "asynchronous copy"), (r"ld\S*\.global", "load"),
    (r"st\S*\.global", "store"), (r"(?:atom|red)\.", "atomic"), (_TENSOR, "tensor cores"),
    (r"(?:ld|st)\S*\.shared|ldmatrix|stmatrix", "shared memory"), (r"shfl\.", "between lanes"),
    (r"bar\.sync|barrier\.", "barrier"), (r"(?:ld|st)\S*\.local", "local memory"),
    (r"div\.|rcp\.|sqrt\.|rsqrt\.|ex2\.|sin\.|cos\.", "special function"), (r"bra\b", "branch"))
_KINDS = [(re.compile(rf"(?:^|\s){pattern}"), kind) for pattern, kind in KINDS]
_PLACE = re.compile(r"[ \t]*\.loc[ \t]+(\d{1,7})[ \t]+(\d{1,7})\s")
_LEFT_OUT = ("//", ".file", "$L__tmp", "$L__func_")


@dataclass(frozen=True)
class PtxInstruction:
    """An instruction of PTX. `line` is 0 before the first source line; `kind` is "" if the instruction is not
    marked."""

    line: int
    text: str
    kind: str


def instructions(ptx: str) -> Iterator[PtxInstruction]:
    """Return the instructions of a PTX text, without the lines for debuggers."""
    line, own = 0, ""
    for text in ptx.split(".section", maxsplit=1)[0].splitlines():
        if place := _PLACE.match(text):
            own = own or place[1]
            line = int(place[2]) if place[1] == own else line
        elif (word := text.strip()) and not word.startswith(_LEFT_OUT):
            plain = text.partition("//")[0].rstrip().expandtabs(4)
            kind = next((kind for pattern, kind in _KINDS if pattern.search(plain)), "")
            yield PtxInstruction(line, plain, kind)


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
