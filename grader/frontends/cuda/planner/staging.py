"""What bytes are that host code has made: elements of a host input, constants, or something computed.

A call is recorded under several seeds. The same place in all of them is an element, the same bits a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy

from grader.frontends.cuda.planner.tokens import WORD, Places, TokenSource, Words

MOST_PIECES = 1 << 15


@dataclass(frozen=True)
class GatheredPiece:
    """Words of a host input: `shape` and `strides` in words, from word `first` on. They lie one after the other, from
    byte `at` on."""

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


class Computed(Exception):
    """Bytes that are neither of a host input nor constant."""


class TooManyPieces(Exception):
    pass


def pieces(made: Sequence[bytes], sources: Sequence[TokenSource], seeds: Sequence[int]) -> list[Piece]:
    """What the same bytes under each seed are, in order. Raises Computed, TooManyPieces."""
    size = len(made[0])
    if all(one == made[0] for one in made[1:]):
        return [ConstantPiece(0, made[0])]
    whole = size // WORD * WORD
    if any(one[whole:] != made[0][whole:] for one in made):
        raise Computed
    words = [numpy.frombuffer(one, "<u4", size // WORD) for one in made]
    owner, place = _owners(words, sources, seeds)
    found: list[Piece] = []
    for begin, end in _stretches(owner):
        if owner[begin] < 0:
            found.append(ConstantPiece(WORD * begin, made[0][WORD * begin : WORD * end]))
        else:
            found += _gathered(place[begin:end], sources[owner[begin]], WORD * begin, MOST_PIECES - len(found))
    return [*found, ConstantPiece(whole, made[0][whole:])] if whole < size else found


def _owners(words: Sequence[Words], sources: Sequence[TokenSource], seeds: Sequence[int]) -> tuple[Places, Places]:
    """For each word the index of the source that it is of, -1 for a constant, and its place there."""
    owner = numpy.full(len(words[0]), -2, numpy.int64)
    place = numpy.zeros(len(words[0]), numpy.int64)
    for index, source in enumerate(sources):
        first = source.places(words[0], seeds[0])
        same = first >= 0
        for one, seed in zip(words[1:], seeds[1:], strict=True):
            same &= source.places(one, seed) == first
        same &= owner == -2
        owner[same], place[same] = index, first[same]
    constant = numpy.logical_and.reduce([one == words[0] for one in words]) & (owner == -2)
    owner[constant] = -1
    if (owner == -2).any():
        raise Computed
    return owner, place


def _stretches(owner: Places) -> list[tuple[int, int]]:
    cuts = [0, *(numpy.flatnonzero(owner[1:] != owner[:-1]) + 1).tolist(), len(owner)]
    if len(cuts) > MOST_PIECES:
        raise TooManyPieces
    return list(pairwise(cuts))


def _gathered(place: Places, source: TokenSource, at: int, most: int) -> list[Piece]:
    """Runs of one stride; where runs of one length follow each other at one distance, rows of a matrix."""
    runs = _runs(place, 2 * most)
    found: list[Piece] = []
    index = 0
    while index < len(runs):
        first, stride, count = runs[index]
        last = index + 1
        step = runs[last][0] - first if last < len(runs) else -1
        while step >= 0 and last < len(runs) and runs[last] == (first + (last - index) * step, stride, count):
            last += 1
        rows = last - index
        shape, strides = ((count,), (stride,)) if rows == 1 else ((rows, count), (step, stride))
        if len(found) == most:
            raise TooManyPieces
        found.append(GatheredPiece(at, source, first, shape, strides))
        at += WORD * rows * count
        index = last
    return found


def _runs(place: Places, most: int) -> list[tuple[int, int, int]]:
    """(first, stride, count) of runs; a stride is not negative, and 0 for a single word."""
    steps = numpy.diff(place)
    # Where the step after a word is another than the one before it.
    turns = numpy.append(numpy.flatnonzero(steps[1:] != steps[:-1]) + 1, len(place) - 1)
    found: list[tuple[int, int, int]] = []
    begin = 0
    while begin < len(place):
        end, stride = begin, 0
        if begin < len(steps) and steps[begin] >= 0:
            end, stride = int(turns[numpy.searchsorted(turns, begin + 1)]), int(steps[begin])
        found.append((int(place[begin]), stride, end - begin + 1))
        if len(found) > most:
            raise TooManyPieces
        begin = end + 1
    return found
