"""Sampled blocks of an output: places drawn from all of it, the elements around them, and the programs that store
there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from random import Random

import numpy as np
import torch
from torch import Tensor

from grader.course.assignment import Assignment
from grader.judging.evidence.places import Array, Reach, corners
from grader.judging.explain.evidence import Hint
from grader.languages.phrases import fact
from grader.plan.messages import Simulated
from grader.plan.plan import ITEM_BYTES, Descriptor, Fill, Launch, Operation, Plan, Pointer, Structure
from grader.plan.traffic import MOST_TOUCHED, Touched, Watch

# Secret places that are drawn, beside the first and the last element. A kernel whose programs are slow gets one alone.
SECRET = 2
# Most programs of a launch that are run to see where they store; further ones where a few leave a doubt.
MOST_SAMPLES = 16
CERTAIN = 6
# Rows and columns around a place that are compared.
MOST_ROWS, MOST_COLUMNS = 64, 256
# Elements that are compared in an output of one dimension, and in a block that a later launch might store again.
MOST_ELEMENTS = 4096
MOST_DOUBTFUL = 64
# Element operations of one run, about a tenth of a second. QUICK: those of a program that is run together with others.
OPERATIONS = 60_000_000
QUICK = 10_000_000
# Element operations of all programs of a launch, which run if a few do not show which program stores a place.
EVERY = 400_000_000


class Unseen(Exception):
    """A case that cannot be sampled. The message is the reason: the end of its sentence's name, behind `unseen.`."""


@dataclass(frozen=True)
class DrawnBlock:
    """A block of the output, as rows and columns. `stored` (bool, of the block's shape) marks the elements that one
    program stores; `alone`: the block is one element, and no program stores it."""

    rows: slice
    columns: slice
    stored: Tensor
    alone: bool = False


def in_columns(assignment: Assignment) -> bool:
    """Return whether an output is sampled in blocks of columns, and not of rows alone."""
    return assignment.columns is not None and len(assignment.output.shape) == 2


@dataclass(frozen=True)
class Fills:
    """The last fill of a whole output: its value, and the number of launches before it, whose stores it overwrites."""

    value: float
    launches: int


def fills_of(assignment: Assignment, plan: Plan) -> tuple[Fills | None, list[Operation]]:
    """Return the last fill of the whole output in a plan's first call (None if there is none), and all operations but
    such fills. The simulator does not fill large memory for the few places that are sampled."""
    fills, others = None, list[Operation]()
    for one in plan.first:
        if isinstance(one, Fill) and plan.buffers[one.target.buffer].given == assignment.output.name and (
            prod(one.target.shape) * ITEM_BYTES[one.target.dtype] == plan.buffers[one.target.buffer].bytes
        ) and one.target.dtype == assignment.output.dtype:
            fills = Fills(one.value, sum(isinstance(other, Launch) for other in others))
        else:
            others.append(one)
    return fills, others


class Drawing:
    """The choice of a sample: places of one output of a call, and programs that store there. `simulate(watch, memory,
    operations)` runs programs; without memory they only show where they store. `fills` is the last fill of the output.
    `closer` multiplies the bounds on operations. `inner`: programs at the ends of a grid are left out, so that those
    drawn stand for all. Raises Unseen."""

    def __init__(
        self, assignment: Assignment, plan: Plan, shape: tuple[int, ...], random: Random,
        simulate: Callable[..., Simulated], fills: Fills | None, closer: int = 1, *, inner: bool = False,
    ) -> None:
        self._assignment, self._plan, self._shape, self._random = assignment, plan, shape, random
        self._simulate, self._fills, self._closer, self._inner = simulate, fills, closer, inner
        self._launches = [one for one in plan.first if isinstance(one, Launch)]
        self._totals = [prod(launch.grid) for launch in self._launches]
        self._reaches, self._most = self._sampled()

    @property
    def run(self) -> int:
        """Return the number of programs that were run to see where they store."""
        return sum(len(one.samples) for one in self._reaches)

    def _sampled(self) -> tuple[list[Reach], int]:
        """Return the stores of some programs of each launch, and the most programs of a launch that are run."""
        # One program of each launch first: it may have a large part of the work.
        chosen = [[self._random.randrange(total)] for total in self._totals]
        # Half of the bound: a run that computes the answer does matrix products as well.
        seen = self._simulate(Watch(chosen=chosen, touched="output"), None, OPERATIONS // 2)
        self._each, most = seen.operations, 1
        if seen.operations <= self._closer * QUICK:
            most = min(MOST_SAMPLES, self._closer * OPERATIONS * 2 // 3 // max(1, seen.operations))
            chosen = [self._samples(launch.grid, most) for launch in self._launches]
            first, seen = seen, self._simulate(Watch(chosen=chosen, touched="output"), None)
            # Programs that run together share much of the work, whatever their number: so the difference of both runs
            # counts.
            self._each = (seen.operations - first.operations) // max(1, sum(map(len, chosen)) - len(chosen)) + 1
        # A fill overwrites all stores before it.
        gone = self._fills.launches if self._fills else 0
        stores = [{} if number < gone else samples for number, samples in enumerate(self._stores(seen, chosen))]
        return [Reach(launch.grid, self._shape, samples, given=number >= gone and any(
                    self._plan.buffers[one].given == self._assignment.output.name for one in buffers_of(launch)))
                for number, (launch, samples) in enumerate(zip(self._launches, stores, strict=True))], most

    def _samples(self, grid: Sequence[int], most: int) -> list[int]:
        total = prod(grid)
        if total <= most:
            return list(range(total))
        shown = corners(grid)
        shown = shown if len(shown) + SECRET <= most else {0, total - 1}
        return sorted(shown | {self._random.randrange(total) for _ in range(SECRET)})

    def drawn(self) -> tuple[list[list[int]], list[DrawnBlock]]:
        """Return the programs to run, for each launch, and the blocks of the output to compare afterwards. If the order
        in which a kernel goes over the output is unknown, places are drawn from what some of its programs store."""
        size, reaches, most = prod(self._shape), self._reaches, self._most
        several = most > 1 or self._closer > 1
        places = [self._random.randrange(size) for _ in range((2 if self._inner else 1) * SECRET if several else 1)]
        places += [0, size - 1] if several and not self._inner else []
        chosen = [sorted({program for place in places for program in one.writers(place)}) for one in reaches]
        known = all(one.known for one in reaches) and all(len(one) <= MOST_SAMPLES for one in chosen)
        new = [[one for one in mine if one not in reach.samples]
               for mine, reach in zip(chosen, reaches, strict=True)]
        if known and any(new):
            known = self._run_more(new)
        if not known:
            return self._by_all(places[:SECRET]) or self._by_programs()
        last = self._last(places)
        if last is None:
            return self._by_programs()
        # A launch counts as not storing a place by what some of its other programs store: more of them make that
        # likelier.
        doubtful = [number > min(last.values()) and not one.whole and one.given
                    for number, one in enumerate(reaches)]
        more = [[self._random.randrange(total) for _ in range(min(most, CERTAIN))] if doubt else []
                for doubt, total in zip(doubtful, self._totals, strict=True)]
        if any(doubtful):
            known = self._run_more([sorted(set(one)) for one in more])
            last = self._last(places)
            if last is None or not known:
                raise Unseen("unplain")
        blocks: list[DrawnBlock] = []
        for place, launch in last.items():
            writers = reaches[launch].stores(place) if launch >= 0 else []
            elements = reaches[launch].samples[writers[0]] if writers else np.array([place])
            block = self._block(torch.from_numpy(elements), place, [*reaches[launch + 1 :]] if writers else [])
            self._put(blocks, replace(block, alone=not writers))
        # If all programs of a launch were run, all run again: they may correct what an earlier launch stores.
        return [sorted(one.samples if one.whole else {mine for place in places for mine in one.stores(place)})
                for one in reaches], blocks

    def _last(self, places: Sequence[int]) -> dict[int, int] | None:
        """Return, by place, the last launch that stores there (−1 for none); None if a program that was not run may
        store at one of the places."""
        found = {}
        for place in places:
            found[place] = max((number for number, one in enumerate(self._reaches) if one.stores(place)), default=-1)
            if any(set(one.writers(place)) - set(one.stores(place)) for one in self._reaches[max(0, found[place]) :]):
                return None
        return found

    def _by_all(self, places: Sequence[int]) -> tuple[list[list[int]], list[DrawnBlock]] | None:
        """Run all programs of a single launch to find those that store these places, and return what `drawn` does. None
        if there are several launches, or that takes too long."""
        if len(self._launches) > 1 or self._each * self._totals[0] > EVERY:
            return None
        (x, y, _), item, (reach,) = self._launches[0].grid, self._item, self._reaches
        chosen, blocks = set[int](), list[DrawnBlock]()
        for place in places:
            stored = self._simulate(Watch(stores=[place * item]), None, EVERY).stored
            writers = [one.program[0] + x * (one.program[1] + y * one.program[2]) for one in stored]
            if new := [one for one in writers[-1:] if one not in reach.samples]:
                self._run_more([new])
            elements = reach.samples[writers[-1]] if writers else np.array([place])
            chosen.update(writers[-1:])
            self._put(blocks, replace(self._block(torch.from_numpy(elements), place, []), alone=not writers))
        return [sorted(chosen)], blocks

    def _by_programs(self) -> tuple[list[list[int]], list[DrawnBlock]]:
        """Return what `drawn` does, with places among what some programs store. Raises Unseen unless the last launch
        that takes the output is the only operation that writes it, or is large enough to overwrite all of it."""
        reaches = self._reaches
        last = max(number for number, one in enumerate(reaches) if one.given)
        alone = sum(one.given for one in reaches) == 1 and not self._some_filled
        if not alone and reaches[last].most * self._totals[last] < prod(self._shape):
            raise Unseen("unplain")
        blocks: list[DrawnBlock] = []
        chosen = [self._inside(launch, one) for launch, one in zip(self._launches, reaches, strict=True)]
        for elements in (reaches[last].samples[one] for one in chosen[last]):
            if elements.size and len(blocks) < 2 + SECRET:
                at = int(elements[self._random.randrange(elements.size)])
                self._put(blocks, self._block(torch.from_numpy(elements), at, []))
        return chosen, blocks

    def _inside(self, launch: Launch, reach: Reach) -> list[int]:
        """Return the programs of a launch that were run, if wanted without those at the ends of its grid."""
        ends = corners(launch.grid) if self._inner and not reach.whole else set[int]()
        return sorted(reach.samples.keys() - ends) or sorted(reach.samples)

    def _run_more(self, chosen: list[list[int]]) -> bool:
        """Run more programs to see where they store. Returns whether it is still known where each program stores."""
        seen = self._simulate(Watch(chosen=chosen, touched="output"), None)
        for reach, samples in zip(self._reaches, self._stores(seen, chosen), strict=True):
            reach.add(samples)
        return all(reach.known for reach in self._reaches)

    def _put(self, blocks: list[DrawnBlock], block: DrawnBlock) -> None:
        # Blocks in the same rows or columns take the same inputs: contents drawn for one would change what is right in
        # the other.
        if not any(_meet(block.rows, one.rows) or (in_columns(self._assignment) and _meet(block.columns, one.columns))
                   for one in blocks):
            blocks.append(block)

    def _stores(self, seen: Simulated, chosen: Sequence[Sequence[int]]) -> list[dict[int, Array]]:
        """Return, for each launch, the elements of the output that each program of `chosen` stores, ascending."""
        found: list[dict[int, list[Array]]] = [{program: [] for program in programs} for programs in chosen]
        if len(seen.touched) >= MOST_TOUCHED:
            raise Unseen("places")
        for one in seen.touched:
            if one.given == self._assignment.output.name and one.access == "store":
                if not one.all:
                    raise Unseen("scattered")
                found[one.launch][one.program].append(_elements(one, self._item))
        return [{program: np.unique(np.concatenate([np.zeros(0, np.int64), *parts]))
                 for program, parts in each.items()} for each in found]

    def missing(self) -> Hint | None:
        """Return the hint about programs that together are too few to write the whole output; None if they may
        suffice."""
        reaches = self._reaches
        if self._most == 1 or self._some_filled:
            return None
        reached, total = sum(one.total * one.most for one in reaches), prod(self._shape)
        if reached >= total:
            return None
        programs = sum(one.total for one in reaches if one.most) or sum(self._totals)
        return Hint(fact("sample.missing", programs=programs, total=total, name=self._assignment.output.name,
                         most=max(one.most for one in reaches)), fact("sample.enough"))

    def _block(self, elements: Tensor, at: int, later: Sequence[Reach]) -> DrawnBlock:
        """Return the block around the element `at`: of the `elements` that a program stores, those that no `later`
        launch seems to store again."""
        width = prod(self._shape[1:])
        rows = torch.unique(elements // width)
        most = MOST_ROWS if len(self._shape) > 1 else MOST_ELEMENTS
        first, last = _around(rows, at // width, most)
        within = elements[(elements // width >= first) & (elements // width < last)]
        left, right = 0, width
        if in_columns(self._assignment):
            left, right = _around(torch.unique(within % width), at % width, MOST_COLUMNS)
        if any(one.given and not one.whole for one in later):
            most = min(within.numel(), MOST_DOUBTFUL)
            within = within[sorted(self._random.sample(range(within.numel()), most))]
            kept = ~np.any([one.claims(within.numpy()) for one in later], axis=0)
            within = torch.cat([within[torch.from_numpy(kept)], torch.tensor([at])])
        stored = torch.zeros(last - first, width, dtype=torch.bool)
        stored[within // width - first, within % width] = True
        return DrawnBlock(slice(first, last), slice(left, right), stored[:, left:right])

    @property
    def _some_filled(self) -> bool:
        return self._fills is not None or any(isinstance(one, Fill) for one in self._plan.first)

    @property
    def _item(self) -> int:
        output = next(b for b in self._plan.buffers if b.given == self._assignment.output.name)
        return output.bytes // prod(self._shape)


def _meet(one: slice, other: slice) -> bool:
    return bool(one.start < other.stop and other.start < one.stop)


def _around(ascending: Tensor, at: int, most: int) -> tuple[int, int]:
    """Return the bounds (from, to, half-open) of the consecutive numbers around `at`, at most `most` of them."""
    values = ascending.numpy()
    here = int(np.searchsorted(values, at))
    gaps = np.flatnonzero(np.diff(values) != 1)
    before, after = gaps[gaps < here], gaps[gaps >= here]
    low = int(values[before[-1] + 1]) if before.size else int(values[0])
    high = int(values[after[0]]) + 1 if after.size else int(values[-1]) + 1
    if high - low > most:
        low = max(low, min(at - most // 2, high - most))
        high = low + most
    return low, high


def _elements(touched: Touched, item: int) -> Array:
    parts = [np.arange(length // item)[None, :] + (begin + step * np.arange(count)[:, None]) // item
             for begin, length, step, count in touched.runs]
    return np.concatenate([np.zeros(0, np.int64), *(part.reshape(-1) for part in parts)])


def buffers_of(launch: Launch) -> set[int]:
    """Return the numbers of the buffers that a launch's arguments point to."""
    found: set[int] = set()
    for one in launch.arguments:
        if isinstance(one, Pointer):
            found.add(one.buffer)
        elif isinstance(one, Descriptor):
            found.add(one.view.buffer)
        elif isinstance(one, Structure):
            found.update(inner.buffer for inner in one.pointers)
    return found
