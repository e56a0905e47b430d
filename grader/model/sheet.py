"""Tables as spreadsheets and learning platforms write them: CSV with commas, semicolons or tabs, BOM or none."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

BOM = "\ufeff"
MAX_BYTES = 64 << 20


class SheetError(Exception):
    """A table cannot be read or filled; one line that says what, where and what was expected."""


@dataclass
class Sheet:
    """`rows` as text, the header first. What else its writer chose is kept, so that it can be written as it came."""

    rows: list[list[str]]
    delimiter: str = ","
    end: str = "\n"
    bom: bool = False

    @property
    def header(self) -> list[str]:
        return self.rows[0]

    def column(self, *names: str) -> int | None:
        """Where the first of these headings stands that there is, whatever its case."""
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
            raise SheetError(f"{path}: more than {MAX_BYTES >> 20} MiB; a table of a class expected")
        text = path.read_bytes().decode()
    except OSError as error:
        raise SheetError(f"{path}: {error.strerror}; a CSV file expected") from None
    except UnicodeDecodeError:
        raise SheetError(f"{path}: not UTF-8; CSV expected (in Excel: CSV UTF-8)") from None
    bom, text = text.startswith(BOM), text.removeprefix(BOM)
    first = text.partition("\n")[0]
    try:
        # The sign that parts the headings; a comma where there is one heading.
        delimiter = max(",;\t", key=lambda sign: len(next(csv.reader([first], delimiter=sign), [])))
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise SheetError(f"{path}: {error}; CSV expected") from None
    if not rows or not any(rows[0]):
        raise SheetError(f"{path}: empty; a row of headings expected")
    return Sheet(rows, delimiter, "\r\n" if first.endswith("\r") else "\n", bom)
