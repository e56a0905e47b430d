"""The search for the assignments' files in the cells of a Jupyter notebook. Nothing in a notebook is run.

A file is the first of these that exists: the cell of `%%kernelmark silu`, which the notebook itself checks alone, too;
the cell that writes the file with `%%writefile`; a cell of another magic, such as a compiler's, that defines the
function in a language with compiled files; the Python cell that defines the function, with the cells that bind the
global names which it uses. The last of several such cells counts, as if the notebook had been run from top to bottom. A
stub never counts.
"""

from __future__ import annotations

import builtins
import json
import re
import symtable
import warnings
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath

from grader import languages
from grader.course.forms import SUFFIX, file_of, function_of
from grader.languages import Outline

NOTEBOOK = ".ipynb"
# The most characters of code in all cells: a submitted file may have a quarter of that.
CODE_CHARACTERS = 512 << 10
MOST_CELLS = 2_000
# Cell magics below which the cell is still Python.
_PYTHON = frozenset({"time", "timeit", "capture", "prun"})
_FUTURE = re.compile(r"^from[ \t]++__future__[ \t][^\n]*+$", re.MULTILINE)
_STAR = re.compile(r"^from[ \t]++[\w.]++[ \t]++import[ \t]*+\*", re.MULTILINE)
# A line that IPython handles itself, with the lines that a backslash joins to it. No line of Python begins like this.
_MAGIC = re.compile(
    r"([ \t]*+)(?:[!%?]|[\w.]++\?\??[ \t]*+$|[\w.\[\]]++(?:[ \t]*+,[ \t]*+[\w.\[\]]++)*+[ \t]*+=[ \t]*+[!%])"
    r"(?:\\\n|[^\n])*+", re.MULTILINE)
# Parts of a text that may hold or join ends of lines, and comments. A string that is not closed reaches as far as
# possible. Loops with a look-ahead are not possessive, since Python 3.11 before .5 loses its place there, and the part
# behind them may be empty.
_PIECES = re.compile(
    r"#[^\n]*+|(?P<long>'''|\"\"\")(?:\\.|(?!(?P=long)).)*(?P=long)?+|"
    r"(?P<short>['\"])(?:\\.|(?!(?P=short))[^\\\n])*(?P=short)?+|\\\n|[()\[\]{}\n]", re.DOTALL)


class NotebookError(Exception):
    """A notebook that cannot be read; the text says why, in a clause without the notebook's name."""


@dataclass(frozen=True)
class NotebookFile:
    """The text of a file in a notebook, and the numbers of its cells, from 1 among the code cells."""

    text: str
    cells: tuple[int, ...]

    @property
    def origin(self) -> str:
        """Return the cells in words: `code cells 1, 2 and 5`."""
        *first, last = map(str, self.cells)
        return f"code cells {', '.join(first)} and {last}" if first else f"code cell {last}"


@dataclass(frozen=True)
class _Cell:
    """A code cell: the words of its magic, and its text, in which the magic's line is empty."""

    number: int
    magic: tuple[str, ...]
    text: str

    @property
    def verb(self) -> str:
        return self.magic[0] if self.magic else ""


@dataclass(frozen=True)
class _Python:
    """The Python of a cell without magics, and its names: what it binds, which of these are functions or classes, and
    the globals that it uses. If the cell is not Python, only names that look like functions are known."""

    text: str
    binds: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()
    parses: bool = False


def read_notebook(content: bytes, known: Mapping[str, str]) -> dict[str, NotebookFile]:
    """Return the files of the assignments `known` that a notebook holds, by file name. Raises NotebookError."""
    cells = _cells(content)
    written = _written_files(cells)
    plain = _PlainCells([cell for cell in cells if not cell.magic or cell.verb in _PYTHON])
    filled: dict[str, NotebookFile] = {}
    # Outline each text once, not once for each assignment.
    outlines = {front_end.suffix: cache(front_end.outline) for front_end in languages.front_ends().values()}
    for name in known:
        for front_end in languages.front_ends().values():
            function, outline = function_of(name, front_end.suffix), outlines[front_end.suffix]
            ranks = [_checked(cells, name) if front_end.suffix == SUFFIX else [],
                     [file for path, file in written if path.name == file_of(name, front_end.suffix)],
                     [file for path, file in written if path.suffix == front_end.suffix
                      and function in outline(file.text).defined],
                     plain.defining(function) if front_end.suffix == SUFFIX else _foreign(cells, outline, function)]
            for files in ranks:
                if files := [file for file in files if function not in outline(file.text).stubs]:
                    filled[file_of(name, front_end.suffix)] = files[-1]
                    break
    return filled


def _cells(content: bytes) -> list[_Cell]:
    try:
        cells = json.loads(content)["cells"]
        sources = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        texts = ["".join(source) if isinstance(source, list) else str(source) for source in sources]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise NotebookError("cannot be read as a notebook") from None
    if len(texts) > MOST_CELLS or sum(map(len, texts)) > CODE_CHARACTERS:
        raise NotebookError(f"holds more than {MOST_CELLS:,} code cells or {CODE_CHARACTERS >> 10} KiB of code")
    return [_cell(number, text) for number, text in enumerate(texts, start=1)]


def _cell(number: int, text: str) -> _Cell:
    # A lone surrogate is valid in JSON, but cannot be written to a file.
    text = text.encode("utf-8", "replace").decode().replace("\r\n", "\n")
    said = text.lstrip("\n")
    first, _, rest = said.partition("\n")
    if said.startswith("%%") and (words := first.removeprefix("%%").split()):
        return _Cell(number, tuple(words), "\n" * (len(text) - len(said) + 1) + rest)
    return _Cell(number, (), text)


def _cell_file(cell: _Cell, mark: str = "#") -> NotebookFile:
    """Return a cell as a file. A comment replaces the magic's line, so that the other lines keep their numbers."""
    return NotebookFile(f"{mark} code cell {cell.number}{cell.text}", (cell.number,))


def _checked(cells: Sequence[_Cell], name: str) -> list[NotebookFile]:
    return [_cell_file(cell) for cell in cells if cell.magic[:2] == ("kernelmark", name)]


def _written_files(cells: Sequence[_Cell]) -> list[tuple[PurePosixPath, NotebookFile]]:
    """Return the files that a notebook writes with %%writefile, in the order in which each was last written."""
    files: dict[str, NotebookFile] = {}
    for cell in cells:
        if cell.verb not in ("writefile", "file") or len(cell.magic) < 2:
            continue
        path = cell.magic[-1].strip("\"'")
        file = _cell_file(cell, "#" if path.endswith(SUFFIX) else "//")
        before = files.pop(path, None) if {"-a", "--append"} & {*cell.magic[1:-1]} else None
        files.pop(path, None)
        files[path] = file if before is None else NotebookFile(
            f"{before.text.rstrip()}\n{file.text}", before.cells + file.cells)
    return [(PurePosixPath(path), file) for path, file in files.items()]


def _foreign(cells: Sequence[_Cell], outline: Callable[[str], Outline], function: str) -> list[NotebookFile]:
    """Return the cells of any other magic that define a function in a compiled language."""
    return [_cell_file(cell, "//") for cell in cells
            if cell.magic and cell.verb not in ("kernelmark", "writefile", "file", *_PYTHON)
            and function in outline(cell.text).defined]


@dataclass
class _PlainCells:
    """The cells that run as Python in the notebook itself."""

    cells: Sequence[_Cell]
    _read: list[_Python] = field(init=False)
    _binders: dict[str, list[int]] = field(init=False)
    _stars: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._read = [_python(cell.text) for cell in self.cells]
        self._stars = [at for at, cell in enumerate(self._read) if _STAR.search(cell.text)]
        self._binders = {}
        for at, cell in enumerate(self._read):
            for name in cell.binds:
                self._binders.setdefault(name, []).append(at)

    def defining(self, function: str) -> list[NotebookFile]:
        """Return a file for the last cell that defines a function and holds no stub, together with the cells that it
        needs. A cell that is not Python cannot run, so it counts only if there is no other."""
        outline = languages.by_suffix(SUFFIX).outline
        defining = [at for at, cell in enumerate(self._read)
                    if function in cell.functions and function not in outline(cell.text).stubs]
        parsed = [at for at in defining if self._read[at].parses]
        return [self._joined(sorted(self._needed_cells((parsed or defining)[-1])))] if defining else []

    def _needed_cells(self, first: int) -> set[int]:
        """Return a cell and the cells that bind the names it uses, and so on. For each name take the last such cell
        before the user, or else the first one behind it. A name that no cell binds may come from any `from m import
        *`."""
        needed, waiting, stars = {first}, [first], self._stars
        while waiting:
            at = waiting.pop()
            places: list[int] = []
            for name in self._read[at].uses - self._read[at].binds:
                if name in self._binders:
                    places.append(self._binders[name][max(bisect_left(self._binders[name], at) - 1, 0)])
                elif not hasattr(builtins, name):
                    places, stars = [*places, *stars], []
            fresh = {*places} - needed
            needed |= fresh
            waiting += fresh
        return needed

    def _joined(self, places: Sequence[int]) -> NotebookFile:
        texts = [f"# code cell {self.cells[place].number}\n{self._read[place].text.strip(chr(10))}" for place in places]
        # Python allows imports from __future__ only at the beginning of a file.
        future = list(dict.fromkeys(line for text in texts for line in _FUTURE.findall(text)))
        return NotebookFile("".join(f"{text}\n" for text in (*future, *(_FUTURE.sub("", text) for text in texts))),
                            tuple(self.cells[place].number for place in places))


def _python(text: str) -> _Python:
    """Return a cell unchanged if it is Python, or else without its shell commands and magics."""
    for said in (text, cleaned := _without_magics(text)):
        try:
            with warnings.catch_warnings():
                # An invalid escape such as "\d" in a student's text must not raise a warning of ours.
                warnings.simplefilter("ignore")
                top = symtable.symtable(said, "cell", "exec")
        # RecursionError and MemoryError: the code is nested too deeply.
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        uses, waiting = set[str](), [top]
        while waiting:
            table = waiting.pop()
            waiting += table.get_children()
            uses |= {symbol.get_name() for symbol in table.get_symbols()
                     if symbol.is_referenced() and symbol.is_global()}
        binds = frozenset(symbol.get_name() for symbol in top.get_symbols()
                          if symbol.is_assigned() or symbol.is_imported())
        functions = frozenset(
            inner.get_name() for inner in top.get_children() if inner.get_type() in ("function", "class"))
        return _Python(said, binds, functions & binds, frozenset(uses), parses=True)
    return _Python(cleaned, functions=languages.by_suffix(SUFFIX).outline(cleaned).defined)


def _without_magics(text: str) -> str:
    """Return a cell with shell commands, magics and questions replaced by statements that do nothing: `!pip install`,
    `files = !ls`, `%matplotlib inline`, `torch.sum?`. All other lines stay, with their numbers."""
    kept, at = list[str](), 0
    while at < len(text):
        if magic := _MAGIC.match(text, at):
            kept.append(f"{magic[1]}pass" + "\n" * magic[0].count("\n"))
            at = magic.end()
        end, depth = len(text), 0
        for piece in _PIECES.finditer(text, at):
            if piece[0] == "\n" and not depth:
                end = piece.end()
                break
            depth = max(depth + (piece[0] in "([{") - (piece[0] in ")]}"), 0)
        kept.append(text[at:end])
        at = end
    return "".join(kept)
