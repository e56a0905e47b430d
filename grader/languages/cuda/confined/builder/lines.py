"""Lines of the student's file by addresses in an object, from the object's debug information."""

from __future__ import annotations

import re
from pathlib import Path

from grader.languages.cuda.confined.builder.programs import output
from grader.languages.cuda.confined.built import HostLines

_MOST_ROWS = 1 << 18
_ROW = re.compile(r"^\S.*\s(0x[0-9a-f]+)(?:\s|$)", re.MULTILINE)


def host_lines(folder: Path, library: str, file: str, until: float) -> HostLines:
    """Return the line of the student's file for each address in the line table, 0 for none. Code of a library that was
    inlined has the line of the student's call. Raises TooSlow."""
    table = output(["objdump", "--dwarf=decodedline", library], folder, until)
    rows = rows_of(table)
    asked = "".join(f"{row:#x}\n" for row in rows).encode()
    placed = output(["addr2line", "-i", "-a", "-e", library], folder, until, asked)
    own = re.compile(rf"(?:^|/){re.escape(file)}:(\d+)")
    line_at: dict[int, int] = {}
    address = -1
    for line in placed.splitlines():
        if line.startswith("0x"):
            address = int(line, 16)
            line_at[address] = 0
        elif not line_at.get(address, 1) and (match := own.search(line)):
            line_at[address] = int(match[1])
    # In a section of cold code addr2line may name another file, where objdump's row has the student's.
    for line, row in re.findall(rf"^{re.escape(file)}\s+(\d+)\s+(0x[0-9a-f]+)", table, re.MULTILINE):
        if line_at.get(int(row, 16)) == 0:
            line_at[int(row, 16)] = int(line)
    return HostLines.of(line_at.items())


def rows_of(table: str) -> list[int]:
    """Return the addresses of objdump's line table, ascending."""
    return sorted({int(row, 16) for row in _ROW.findall(table)})[:_MOST_ROWS]
