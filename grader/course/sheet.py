"""CSV tables of spreadsheets and learning platforms. They have commas, semicolons or tabs, with or without a byte order
mark, in UTF-8, UTF-16 or the Latin-1 of older systems. They are written in UTF-8."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UserError
from grader.results.text import compose

BOM = "\ufeff"
MAX_BYTES = 64 << 20



@dataclass
class Sheet:
    """A table: `rows` of texts, the header first. It remembers the format in which it was read, and is written in the
    same. `sep` is a line `sep=;` above the table, which tells a spreadsheet the delimiter."""

    rows: list[list[str]]
    delimiter: str = ","
    end: str = "\n"
    bom: bool = False
    sep: str = ""

    @property
    def header(self) -> list[str]:
        return self.rows[0]

    def column(self, *names: str) -> int | None:
        """Return the column of the first of these headings that the table has, ignoring case; None if it has none of
        them."""
        headings = [heading.strip().casefold() for heading in self.header]
        return next((headings.index(name.casefold()) for name in names if name.casefold() in headings), None)

    def filled(self, path: Path) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows below the headings that are not empty: the row's number, and its values, one for each heading,
        with composed letters and without surrounding space. `path` names the table in errors. Raises UserError."""
        for number, row in enumerate(self.rows[1:], start=3 if self.sep else 2):
            values = [compose(value.strip()) for value in row]
            if any(values) and len(values) != len(self.header):
                raise UserError(f"{path}, row {number}: {len(values)} values; give {len(self.header)}, one for each "
                                 "heading")
            if any(values):
                yield number, values

    def text(self) -> str:
        out = io.StringIO()
        csv.writer(out, delimiter=self.delimiter, lineterminator=self.end).writerows(self.rows)
        return (BOM if self.bom else "") + self.sep + out.getvalue()


def read_sheet(path: Path) -> Sheet:
    """Return the table in a CSV file. Raises UserError, one line."""
    try:
        with path.open("rb") as file:
            # The file's size may be unknown, as that of a pipe or a device.
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise UserError(f"{path}: more than {MAX_BYTES >> 20} MiB; give the table of a class")
        text = _decode(content)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; name a CSV file") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not text in UTF-8, UTF-16 or Latin-1; save it as CSV in UTF-8 (in Excel: CSV UTF-8)"
                         ) from None
    bom, text = text.startswith(BOM), text.removeprefix(BOM)
    match = re.match(r"sep=([,;|\t])(?:\r\n?|\n)", text, re.IGNORECASE)
    sep = match[0] if match else ""
    text, rows = text[len(sep):], list[list[str]]()
    # A line may also end with a carriage return alone, as on old Macs.
    first = next(io.StringIO(text, newline=""), "")
    try:
        # Choose the delimiter that gives the most headings; a comma if each gives one heading.
        delimiter = match[1] if match else max(
            ",;\t", key=lambda sign: len(next(csv.reader([first], delimiter=sign), [])))
        rows.extend(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        # `rows` has the rows before the error.
        raise UserError(f"{path}, row {len(rows) + bool(sep) + 1}: {error}; close its quotes or shorten its values, "
                         "and save it as CSV") from None
    if not rows or not any(rows[0]):
        raise UserError(f"{path}: empty; add a row of headings")
    end = re.search(r"\r?\n?$", first)
    return Sheet(rows, delimiter, end[0] if end and end[0] else "\n", bom, sep)


def _decode(content: bytes) -> str:
    """Return the text, including its byte order mark, if any. Raises UnicodeDecodeError."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return BOM + content.decode("utf-16")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        # Windows calls this Latin-1. Unlike Latin-1 itself it lacks some bytes, so that not everything counts as text.
        text = content.decode("cp1252")
    if "\0" in text:
        # UTF-16 without a byte order mark, or no text at all.
        return content.decode("utf-16-be" if content.startswith(b"\0") else "utf-16-le")
    return text
