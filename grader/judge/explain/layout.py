"""Tensors as kernels see them, and where loads and stores lie in them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement

from grader.frontends.phrases import Phrases
from grader.judge.explain.evidence import Hint
from grader.judge.explain.lines import extent, spoken
from grader.plan.findings import Access

# So many elements a thread takes at once.
SHARES = (2, 4, 8)


@dataclass(frozen=True)
class Layout:
    """A contiguous tensor of `rows` x `columns`, `down` and `across` by name; a vector is one row, and `down` is ""."""

    name: str
    is_output: bool
    down: str
    across: str
    rows: int
    columns: int

    @property
    def total(self) -> int:
        return self.rows * self.columns

    @property
    def is_matrix(self) -> bool:
        return min(self.rows, self.columns) > 1

    @property
    def text(self) -> str:
        """A sentence that says where an element lies."""
        if not self.down:
            return f"Element i of {self.name} lies at i."
        return f"Element (i, j) of {self.name}, {self.down} x {self.across}, lies at i * {self.across} + j."

    @property
    def rows_apart(self) -> str:
        """What is said of a matrix beside a distance, "" of a vector."""
        return f", whose rows lie {self.across} = {self.columns:,} apart" if self.is_matrix else ""


@dataclass(frozen=True)
class TensorAccess:
    """A load or store, the tensor that it goes to, and the words of its kernel's language. `launch` is the line of the
    launch in the student's file `source`, `summed` are the sizes that the assignment sums over. `several` is the number
    of elements that a thread takes at once. `looked_up` marks an access whose place may follow from whole numbers that
    the call is given: its programs lie at no distance of their own."""

    access: Access
    layout: Layout
    sizes: Mapping[str, int]
    launch: int
    source: str
    summed: frozenset[str]
    words: Phrases
    several: int = 1
    looked_up: bool = False

    @property
    def where(self) -> str:
        return f"the {'atomic operation' if self.access.access == 'atomic' else self.access.access} in line " \
               f"{self.access.line}"

    @property
    def unsteady(self) -> bool:
        """Whether it is not known how a loop moves on: of its reach nothing is known then."""
        return self.access.times > 1 and self.access.step is None

    @property
    def launched(self) -> str:
        """The grid, as a clause: "the launch in line 12 starts 3 x 2 programs"."""
        grid = extent(self.access.grid)
        return f"the launch in line {self.launch} starts {grid} program{'s' * (grid != '1')}"

    @property
    def count(self) -> str:
        """The number of the tensor's elements, as a product of the names of its sizes."""
        return " * ".join(filter(None, (self.layout.down, self.layout.across)))

    @property
    def compared(self) -> str:
        """What a mask should compare."""
        down, across = self.layout.down, self.layout.across
        if not down or self.flat:
            return f"Compare the offsets with the number of elements, {self.count}."
        return f"Compare the index of the row with {down}, and that of the column with {across}."

    @property
    def dimensions(self) -> Iterator[tuple[int, int | None, int]]:
        """The tile's dimensions along which several lanes take part: number, distance of neighbours, size."""
        for number, (size, apart) in enumerate(zip(self.access.tile, self.access.lanes, strict=True)):
            if size > 1 and max(self.access.live[number], self.access.last[number]) > 1:
                yield number, apart, size

    def named(self, number: int) -> str:
        """A number with the name of the one size, or of the product of two, that it equals."""
        names = [name for name, size in self.sizes.items() if size == number] or [
            f"{a} * {b}" for a, b in combinations_with_replacement(self.sizes, 2)
            if self.sizes[a] * self.sizes[b] == number]
        return f"{names[0]} = {number:,}" if len(names) == 1 and number > 1 else f"{number:,}"

    def distance(self, elements: int) -> str:
        return f"{self.named(elements)} element{'s' * (elements != 1)} of {self.layout.name}"

    def along(self, apart: int) -> int:
        """The number of the tile's lanes that lie this far apart."""
        return next((size for _, step, size in self.dimensions if step == apart), 1)

    @classmethod
    def of_threads(cls, access: Access) -> tuple[Access, int]:
        """A load or store in which each thread takes a few elements at once, one beside the other, as that of all of
        them in a row; and how many each takes."""
        *tile, several = access.tile
        *lanes, apart = access.lanes
        # How far threads lie apart is not known where one takes part.
        if not tile or several not in SHARES or apart != 1 or (lanes[-1] != several and access.live[-2] != 1):
            return access, 1
        return access.model_copy(update={
            "tile": [*tile[:-1], tile[-1] * several], "lanes": [*lanes[:-1], 1],
            "live": [*access.live[:-2], access.live[-2] * several],
            "last": [*access.last[:-2], access.last[-2] * several]}), several

    @property
    def shares(self) -> list[int]:
        """The elements that a thread may have for itself, one beside the other, in a language whose threads address
        memory: a few at once, as many as a loop goes over, or as many as a row or all of the tensor has for each thread
        of a block or of all blocks. What a loop goes over is not all of it where the compiler has unrolled the loop.
        """
        if not self.words.names.threads:
            return []
        threads, blocks = math.prod(self.access.tile), math.prod(self.access.grid)
        parts = [-(-whole // workers) for whole in (self.layout.columns, self.layout.total)
                 for workers in (threads, threads * blocks)]
        return [*SHARES, (self.access.step or 0) * self.access.times, *parts]

    @property
    def one_row(self) -> bool:
        """Whether each program has a row of its own: the mask of a one-dimensional tile ends where a row does."""
        access, columns = self.access, self.layout.columns
        return self.layout.is_matrix and access.lanes == [1] and access.live == [columns] != access.tile

    @property
    def flat(self) -> bool:
        """Whether the kernel counts elements without regard to rows."""
        access, columns = self.access, self.layout.columns
        if not self.layout.is_matrix:
            return True
        moves = [moved for moved in access.programs if moved]
        if len(access.tile) != 1 or columns in access.lanes or self.one_row:
            return False
        return not moves or moves[0] % columns != 0 or (moves[0] % access.tile[0] == 0 and moves[0] != columns)

    def hint(self, seen: str, look: str, pattern: str) -> Hint:
        seen = spoken(seen[:1].upper() + seen[1:], self.words)
        return Hint(seen, spoken(look, self.words), pattern=pattern, line=self.access.line)
