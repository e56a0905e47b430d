"""Origin of bytes that host code has made: elements of a host input, constants, or something computed.

A call is recorded under several seeds. Bytes that are tokens of the same place in all recordings are an element; bytes
that are the same in all are a constant.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

import numpy

from grader.languages.cuda.confined.planner.tokens import WORD, Places, TokenSource, Words
from grader.plan.plan import Malformed

MOST_PIECES = 1 << 15
# The fewest words, or rows, that are one piece with a negative stride.
FEWEST_BACKWARDS = 3
_NUMBERS = struct.Struct("<4Q")


@dataclass(frozen=True)
class GatheredPiece:
    """Words of a host input: `shape` and `strides` in words, from word `first` on; strides may be negative. Host code
    has put the words one after the other, from byte `at` on."""

    at: int
    source: TokenSource
    first: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class ConstantPiece:
    at: int
    contents: bytes


Piece = GatheredPiece | ConstantPiece


class ComputedBytes(Exception):
    """Error: bytes are neither of a host input nor constant."""


class PastTheEnd(Exception):
    """Error: host code has read past the end of the host input `source`."""

    def __init__(self, source: TokenSource) -> None:
        super().__init__(source)
        self.source = source


class CutOff(Exception):
    """Error: a copy of `bytes` bytes ends within an element."""

    def __init__(self, bytes: int) -> None:
        super().__init__(bytes)
        self.bytes = bytes


class TooManyPieces(Exception):
    pass


def size_of(packed: bytes) -> int:
    """Return the number of bytes that host code has made. Raises Malformed."""
    return sum(run.size for run in _unpacked(packed))


def pieces(packed: Sequence[bytes], sources: Sequence[TokenSource], seeds: Sequence[int]) -> list[Piece]:
    """Return the pieces, in order, of bytes that host code has made; `packed` has them under each seed, as
    builder/runtime/tokens.c packs them. Raises ComputedBytes, PastTheEnd, CutOff, TooManyPieces, Malformed."""
    made: list[Piece] = []
    runs: list[_TokenRun] = []
    at = 0
    for parts in zip_longest(*map(_unpacked, packed)):
        first = parts[0]
        if first is None or any(part is None or (part.run, part.size) != (first.run, first.size) for part in parts):
            raise ComputedBytes
        if first.run is not None:
            runs.append(_run(first.run, sources, at))
        else:
            for piece in _unpacked_pieces([part.contents for part in parts], sources, seeds, at):
                if isinstance(piece, _TokenRun):
                    runs.append(piece)
                else:
                    made += [*_rows(runs), piece]
                    runs = []
        if len(runs) + len(made) > 2 * MOST_PIECES:
            raise TooManyPieces
        at += first.size
    made += _rows(runs)
    if len(made) > MOST_PIECES:
        raise TooManyPieces
    return made


@dataclass(frozen=True)
class _PackedRun:
    """Run of tokens (tag of the input, first word, step, number of words), or other bytes. `size` is in bytes."""

    run: tuple[int, int, int, int] | None
    contents: bytes
    size: int


@dataclass(frozen=True)
class _TokenRun:
    at: int
    source: TokenSource
    first: int
    stride: int
    count: int


def _unpacked(packed: bytes) -> Iterator[_PackedRun]:
    at = 0
    while at < len(packed):
        if at + _NUMBERS.size > len(packed):
            raise Malformed("bytes that no runtime packs")
        tag, first, step, count = _NUMBERS.unpack_from(packed, at)
        at += _NUMBERS.size
        if tag:
            yield _PackedRun((tag, first, step, count), b"", WORD * count)
            continue
        if at + count > len(packed):
            raise Malformed("bytes that no runtime packs")
        yield _PackedRun(None, packed[at : at + count], count)
        at += count


def _run(numbers: tuple[int, int, int, int], sources: Sequence[TokenSource], at: int) -> _TokenRun:
    tag, first, step, count = numbers
    source = next((source for source in sources if (source.call + 1) << 16 | (source.given + 1) == tag), None)
    if source is None or not count or first + (count - 1) * step >= source.words:
        raise Malformed("tokens of no host input")
    return _TokenRun(at, source, first, step, count)


def _unpacked_pieces(
    made: Sequence[bytes], sources: Sequence[TokenSource], seeds: Sequence[int], at: int
) -> Iterator[_TokenRun | ConstantPiece]:
    """Yield the pieces of bytes that are not packed as a run; `at` is the offset of the first byte."""
    size = len(made[0])
    if all(contents == made[0] for contents in made[1:]):
        yield ConstantPiece(at, made[0])
        return
    whole = size // WORD * WORD
    if any(contents[whole:] != made[0][whole:] for contents in made):
        raise CutOff(at + size)
    words = [numpy.frombuffer(contents, "<u4", size // WORD) for contents in made]
    owner, place = _owners(words, sources, seeds)
    for begin, end in _stretches(owner):
        if owner[begin] < 0:
            yield ConstantPiece(at + WORD * begin, made[0][WORD * begin : WORD * end])
            continue
        for first, stride, count in _runs(place[begin:end], 2 * MOST_PIECES):
            yield _TokenRun(at + WORD * begin, sources[owner[begin]], first, stride, count)
            begin += count
    if whole < size:
        yield ConstantPiece(at + whole, made[0][whole:])


def _owners(words: Sequence[Words], sources: Sequence[TokenSource], seeds: Sequence[int]) -> tuple[Places, Places]:
    """Return the index of each word's source, -1 for a constant, and the word's index in that source. Raises
    ComputedBytes, PastTheEnd."""
    owner = numpy.full(len(words[0]), -2, numpy.int64)
    place = numpy.zeros(len(words[0]), numpy.int64)
    for index, source in enumerate(sources):
        first = source.places(words[0], seeds[0])
        same = first >= 0
        for word, seed in zip(words[1:], seeds[1:], strict=True):
            same &= source.places(word, seed) == first
        same &= owner == -2
        if (first[same] >= source.words).any():
            raise PastTheEnd(source)
        owner[same], place[same] = index, first[same]
    constant = numpy.logical_and.reduce([numbers == words[0] for numbers in words]) & (owner == -2)
    owner[constant] = -1
    if (owner == -2).any():
        raise ComputedBytes
    return owner, place


def _stretches(owner: Places) -> list[tuple[int, int]]:
    cuts = [0, *(numpy.flatnonzero(owner[1:] != owner[:-1]) + 1).tolist(), len(owner)]
    if len(cuts) > MOST_PIECES:
        raise TooManyPieces
    return list(pairwise(cuts))


def _rows(runs: Sequence[_TokenRun]) -> list[Piece]:
    """Merge runs of equal length at equal distances, which are the rows of a matrix."""
    merged: list[Piece] = []
    index = 0
    while index < len(runs):
        run, last = runs[index], index + 1
        step = runs[last].first - run.first if last < len(runs) else 0
        while last < len(runs) and runs[last] == replace(
                run, at=run.at + (last - index) * WORD * run.count, first=run.first + (last - index) * step):
            last += 1
        if step < 0 and last - index < FEWEST_BACKWARDS:
            last = index + 1
        rows = last - index
        shape, strides = ((run.count,), (run.stride,)) if rows == 1 else ((rows, run.count), (step, run.stride))
        merged.append(GatheredPiece(run.at, run.source, run.first, shape, strides))
        index = last
    return merged


def _runs(place: Places, most: int) -> list[tuple[int, int, int]]:
    """Return (first, stride, count) of runs; a stride is 0 for a single word."""
    steps = numpy.diff(place)
    # Words at which the step changes, and the last word.
    changes = numpy.append(numpy.flatnonzero(steps[1:] != steps[:-1]) + 1, len(place) - 1)
    stretches: list[tuple[int, int, int]] = []
    begin = 0
    while begin < len(place):
        end, stride = begin, 0
        if begin < len(steps):
            change = int(changes[numpy.searchsorted(changes, begin + 1)])
            if steps[begin] >= 0 or change - begin + 1 >= FEWEST_BACKWARDS:
                end, stride = change, int(steps[begin])
        stretches.append((int(place[begin]), stride, end - begin + 1))
        if len(stretches) > most:
            raise TooManyPieces
        begin = end + 1
    return stretches
