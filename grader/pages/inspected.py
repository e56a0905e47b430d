"""An inspection in the terminal."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.pages import margins, ptx
from grader.pages.touched import NONE, TouchPicture
from grader.results.launched import Inspection
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
    blocks += [_indented(Text.assemble((f"{margins.named(lines)}. ", "bold"), advice))
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
            for line in list(ptx.instructions(text))[:MOST_INSTRUCTIONS]]


def _prose(text: str) -> Text:
    prose = Text(text)
    prose.highlight_regex(r"`[^`\n]{1,200}`", "cyan")
    return prose


def _indented(block: RenderableType) -> RenderableType:
    return Padding(block, (0, 0, 0, 2), expand=False)

