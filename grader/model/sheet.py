"""Reads and writes CSV tables of spreadsheets and learning platforms: commas, semicolons or tabs, with or without BOM.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

BOM = "\ufeff"
MAX_BYTES = 64 << 20


class SheetError(Exception):
    """A table cannot be read; one line that says what is wrong, where, and what to do."""


@dataclass
class Sheet:
    """A table: `rows` of texts, the header first. Its format is kept, so that it is written as it was read."""

    rows: list[list[str]]
    delimiter: str = ","
    end: str = "\n"
    bom: bool = False

    @property
    def header(self) -> list[str]:
        return self.rows[0]

    def column(self, *names: str) -> int | None:
        """The column of the first of these headings that the table has, ignoring case; None if it has none."""
        headings = [heading.strip().casefold() for heading in self.header]
        return next((headings.index(name.casefold()) for name in names if name.casefold() in headings), None)

    def text(self) -> str:
        out = io.StringIO()
        csv.writer(out, delimiter=self.delimiter, lineterminator=self.end).writerows(self.rows)
        return (BOM if self.bom else "") + out.getvalue()


def read_sheet(path: Path) -> Sheet:
    """The table in a CSV file. Raises SheetError, one line."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SheetError(f"{path}: more than {MAX_BYTES >> 20} MiB; give the table of a class")
        text = path.read_bytes().decode()
    except OSError as error:
        raise SheetError(f"{path}: {error.strerror}; name a CSV file") from None
    except UnicodeDecodeError:
        raise SheetError(f"{path}: not UTF-8; save it as CSV in UTF-8 (in Excel: CSV UTF-8)") from None
    bom, text = text.startswith(BOM), text.removeprefix(BOM)
    first = text.partition("\n")[0]
    try:
        # The delimiter that gives the most headings; a comma if there is one heading.
        delimiter = max(",;\t", key=lambda sign: len(next(csv.reader([first], delimiter=sign), [])))
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise SheetError(f"{path}: {error}; save it as CSV") from None
    if not rows or not any(rows[0]):
        raise SheetError(f"{path}: empty; add a row of headings")
    return Sheet(rows, delimiter, "\r\n" if first.endswith("\r") else "\n", bom)
