"""Result of a builder for a planner: a shared object, and after it what the planner has to know of each file in it.

The object comes first, so that the result can be loaded as it is: loaders read an ELF file by its headers and not past
its end. The two columns of `HostLines` follow (unsigned, little-endian, of 64 and of 32 bits), then a list of
`Contents` as JSON. The last bytes hold a magic number and the sizes of these parts.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import numpy
import numpy.typing
from pydantic import Field, TypeAdapter, ValidationError

from grader.plan.plan import MOST_ARGUMENTS, TEXT_CHARACTERS, Line, Malformed, Name, Size, StrictModel

MOST_ENTRIES = 1024
MOST_SAID = 1000
_END = struct.Struct("<8sQQQ")
_MAGIC = b"kmbuilt1"


Symbol = Annotated[str, Field(max_length=8_000)]
"""A name as nvcc writes it; names of templates are long."""


class BuiltVariable(StrictModel):
    """Variable of a module. `symbol` is the name under which host code registers it, `initial` its first contents in
    base64, "" for zeros."""

    symbol: Symbol
    name: Name
    bytes: Size
    initial: str = ""


class BuiltEntry(StrictModel):
    """Kernel. `registered` is the name under which host code registers it, `symbol` its name in the text. Its last
    parameters stand for `variables`, in their order. `shared` is its static shared memory in bytes, `most_threads` the
    most threads of a block. `unplanned` says, about `line`, why no plan may hold the kernel; "" if one may."""

    registered: Symbol
    symbol: Name
    name: Name
    line: Line = 0
    text: Annotated[str, Field(max_length=TEXT_CHARACTERS)]
    signature: Annotated[list[Name], Field(max_length=MOST_ARGUMENTS)]
    variables: Annotated[list[BuiltVariable], Field(max_length=MOST_ARGUMENTS)] = []
    shared: Size = 0
    most_threads: Size = 1024
    unplanned: Annotated[str, Field(max_length=MOST_SAID)] = ""


class HostParameter(StrictModel):
    """Parameter of the student's function in the file. `type` is `pointer` or a C type of `_CTYPES` in
    planner/child.py."""

    name: Name
    type: Name


class Contents(StrictModel):
    """Facts about a built file; `symbol` is the name of the student's function in the object."""

    symbol: Symbol
    parameters: Annotated[list[HostParameter], Field(max_length=MOST_ARGUMENTS)]
    entries: Annotated[list[BuiltEntry], Field(max_length=MOST_ENTRIES)]


_FILES: TypeAdapter[list[Contents | None]] = TypeAdapter(list[Contents | None])


@dataclass(frozen=True)
class HostLines:
    """Lines of the student's file by addresses in the object: `lines[i]` holds from `starts[i]` up to the next start, 0
    for code of other files. `starts` ascend."""

    starts: numpy.typing.NDArray[numpy.uint64]
    lines: numpy.typing.NDArray[numpy.uint32]

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int]]) -> HostLines:
        ordered = sorted(dict(rows).items())
        return cls(numpy.array([start for start, _ in ordered], numpy.uint64),
                   numpy.array([line for _, line in ordered], numpy.uint32))

    def line(self, addresses: Iterable[int]) -> int:
        """Return the line of the first of several addresses that lies in the student's file; 0 if none does."""
        for address in addresses:
            index = bisect_right(self.starts, address) - 1
            if index >= 0 and self.lines[index]:
                return int(self.lines[index])
        return 0


def write_built(library: bytes, lines: HostLines, *files: Contents | None) -> bytes:
    described = _FILES.dump_json(list(files))
    return b"".join((
        library, lines.starts.astype("<u8").tobytes(), lines.lines.astype("<u4").tobytes(), described,
        _END.pack(_MAGIC, len(library), len(lines.starts), len(described))))


def read_built(made: bytes, number: int = 0) -> tuple[HostLines, Contents]:
    """Read a builder's result, for the file of this number. Raises Malformed as `read_files` does, and for a file that
    has not been built."""
    lines, files = read_files(made)
    if (contents := files.get(number)) is None:
        raise Malformed("a file that has not been built")
    return lines, contents


def read_files(made: bytes) -> tuple[HostLines, dict[int, Contents | None]]:
    """Read a builder's result: the lines of its host code, and the contents of its files by number, None for one that
    has not been built. Raises Malformed for bytes of any other form than that of `write_built`."""
    if len(made) < _END.size:
        raise Malformed("no result of a builder")
    magic, library, rows, described = _END.unpack_from(made, len(made) - _END.size)
    if magic != _MAGIC or library + 12 * rows + described + _END.size != len(made):
        raise Malformed("no result of a builder")
    starts = numpy.frombuffer(made, "<u8", rows, library)
    lines = numpy.frombuffer(made, "<u4", rows, library + 8 * rows)
    begins = library + 12 * rows
    try:
        files = dict(enumerate(_FILES.validate_json(made[begins : begins + described])))
    except (ValidationError, ValueError, RecursionError) as error:
        raise Malformed(f"a result of a builder that cannot be read: {type(error).__name__}") from None
    return HostLines(starts, lines), files
