"""Sampled blocks of an output: places drawn from all of it, the elements around them, and the programs that store
there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from random import Random

import numpy as np
import torch
from torch import Tensor

from grader.course.assignment import Assignment
from grader.judging.evidence.store_rule import Array, StoreRule, corners
from grader.judging.explain.evidence import Hint
from grader.languages.phrases import fact
from grader.plan.messages import Simulated
from grader.plan.plan import ITEM_BYTES, Descriptor, Fill, Launch, Operation, Plan, Pointer, Structure
from grader.plan.traffic import MOST_TOUCHED, TouchedBytes, Watch

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
# Element operations of one run, about a tenth of a second. QUICK: operations of a program that is run together with
# others.
OPERATIONS = 60_000_000
QUICK = 10_000_000
# Element operations of all programs of a launch, which run if a few do not show which program stores a place.
EVERY = 400_000_000


class SamplingError(Exception):
    """A case that cannot be sampled. The message is the reason: the end of its sentence's name, behind `unseen.`."""


@dataclass(frozen=True)
class DrawnBlock:
    """A block of the output, as rows and columns. `stored` (bool, of the block's shape) marks the elements that one
    program stores; `alone`: the block is one element, and no program stores it, which is a `guess` if it follows from
    what some programs store."""

    rows: slice
    columns: slice
    stored: Tensor
    alone: bool = False
    guess: bool = False


Drawn = tuple[list[list[int]], list[DrawnBlock]]
"""The programs to run, for each launch, and the blocks of the output to compare afterwards."""


def in_columns(assignment: Assignment) -> bool:
    """Return whether an output is sampled in blocks of columns, and not of rows alone."""
    return assignment.columns is not None and len(assignment.output.shape) == 2


@dataclass(frozen=True)
class LastFill:
    """The last fill of a whole output: its value, and the number of launches before it, whose stores it overwrites."""

    value: float
    launches: int


def last_fill(assignment: Assignment, plan: Plan) -> tuple[LastFill | None, list[Operation]]:
    """Return the last fill of the whole output in a plan's first call (None if there is none), and all operations but
    such fills. The simulator does not fill large memory for the few places that are sampled."""
    fills, others = None, list[Operation]()
    for operation in plan.first:
        if isinstance(operation, Fill) and operation.target.dtype == assignment.output.dtype and (
                buffer := plan.buffers[operation.target.buffer]).given == assignment.output.name and (
                prod(operation.target.shape) * ITEM_BYTES[operation.target.dtype] == buffer.bytes):
            fills = LastFill(operation.value, sum(isinstance(earlier, Launch) for earlier in others))
        else:
            others.append(operation)
    return fills, others


class Sampler:
    """The choice of a sample: places of one output of a call, and programs that store there. `simulate(watch, memory,
    operations)` runs programs; without memory they only show where they store. `fills` is the last fill of the output.
    `factor` multiplies the bounds on operations. `inner`: programs at the ends of a grid are left out, so that those
    drawn stand for all. Raises SamplingError."""

    def __init__(
        self, assignment: Assignment, plan: Plan, shape: tuple[int, ...], random: Random,
        simulate: Callable[..., Simulated], fills: LastFill | None, factor: int = 1, *, inner: bool = False,
    ) -> None:
        self._assignment, self._plan, self._shape, self._random = assignment, plan, shape, random
        self._simulate, self._fills, self._factor, self._inner = simulate, fills, factor, inner
        self._launches = [operation for operation in plan.first if isinstance(operation, Launch)]
        self._totals = [prod(launch.grid) for launch in self._launches]
        self._rules, self._most = self._sampled()
        self._places = self._drawn_places()

    @property
    def run(self) -> int:
        """Return the number of programs that were run to see where they store."""
        return sum(len(rule.samples) for rule in self._rules)

    def _sampled(self) -> tuple[list[StoreRule], int]:
        """Return the stores of some programs of each launch, and the most programs of a launch that are run."""
        # One program of each launch first: it may have a large part of the work.
        chosen = [[self._random.randrange(total)] for total in self._totals]
        # Half of the bound: a run that computes the answer does matrix products as well.
        simulated = self._simulate(Watch(chosen=chosen, touched="output"), None, OPERATIONS // 2)
        self._each, most = simulated.operations, 1
        if simulated.operations <= self._factor * QUICK:
            most = min(MOST_SAMPLES, self._factor * OPERATIONS * 2 // 3 // max(1, simulated.operations))
            chosen = [self._samples(launch.grid, most) for launch in self._launches]
            first, simulated = simulated, self._simulate(Watch(chosen=chosen, touched="output"), None)
            # Programs that run together share much of the work, whatever their number: so the difference of both runs
            # counts.
            self._each = (simulated.operations - first.operations) // max(1, sum(map(len, chosen)) - len(chosen)) + 1
        # A fill overwrites all stores before it.
        gone = self._fills.launches if self._fills else 0
        stores = [{} if number < gone else samples for number, samples in enumerate(self._stores(simulated, chosen))]
        return [StoreRule(launch.grid, self._shape, samples, given=number >= gone and any(
                    self._plan.buffers[buffer].given == self._assignment.output.name for buffer in buffers_of(launch)))
                for number, (launch, samples) in enumerate(zip(self._launches, stores, strict=True))], most

    def _samples(self, grid: Sequence[int], most: int) -> list[int]:
        total = prod(grid)
        if total <= most:
            return list(range(total))
        shown = corners(grid)
        shown = shown if len(shown) + SECRET <= most else {0, total - 1}
        return sorted(shown | {self._random.randrange(total) for _ in range(SECRET)})

    def draws(self) -> Iterator[Drawn]:
        """Yield the programs to run and the blocks to compare, by each way that finds programs of some places. A later
        way is for what is wrong by a guess. Raises SamplingError behind the last."""
        for way in (self._by_rules, self._by_all, self._by_programs):
            if (drawn := way(self._places)) is not None:
                yield drawn
        raise SamplingError("unplain")

    def _drawn_places(self) -> list[int]:
        """Return secret places, then the first and the last element."""
        size, several = prod(self._shape), self._most > 1 or self._factor > 1
        places = [self._random.randrange(size) for _ in range((2 if self._inner else 1) * SECRET if several else 1)]
        return places + ([0, size - 1] if several and not self._inner else [])

    def _by_rules(self, places: Sequence[int]) -> Drawn | None:
        """Find the programs that store these places by the rules of all launches. None if some launch keeps to no rule.
        Raises SamplingError if programs that decide that a launch does not store a place are no evidence for others."""
        rules = self._rules
        writers = [sorted({program for place in places for program in rule.writers(place)}) for rule in rules]
        if not all(rule.known for rule in rules) or any(len(programs) > MOST_SAMPLES for programs in writers):
            return None
        new = [[program for program in programs if program not in rule.samples]
               for programs, rule in zip(writers, rules, strict=True)]
        if (any(new) and not self._run_more(new)) or (last := self._last_launches(places)) is None:
            return None
        # Some programs of a launch decide that it does not store a place: more of them make that likelier.
        more = [sorted({self._random.randrange(rule.total) for _ in range(min(self._most, CERTAIN))})
                if number > min(last.values()) and rule.given and not rule.whole else []
                for number, rule in enumerate(rules)]
        if any(more) and (not self._run_more(more) or (last := self._last_launches(places)) is None):
            raise SamplingError("unplain")
        blocks: list[DrawnBlock] = []
        for place, launch in last.items():
            stored = rules[launch].samples[rules[launch].stores(place)[0]] if launch >= 0 else None
            self._put(blocks, place, stored, rules[launch + 1 :], guess=not all(rule.whole for rule in rules))
        # If all programs of a launch were run, all run again: they may correct what an earlier launch stores.
        return [sorted(rule.samples if rule.whole else {program for place in places for program in rule.stores(place)})
                for rule in rules], blocks

    def _last_launches(self, places: Sequence[int]) -> dict[int, int] | None:
        """Return, by place, the last launch that stores there (−1 for none); None if a program that was not run may
        store at one of the places."""
        launches = {}
        for place in places:
            launches[place] = max((number for number, rule in enumerate(self._rules) if rule.stores(place)), default=-1)
            if any(set(rule.writers(place)) - set(rule.stores(place))
                   for rule in self._rules[max(0, launches[place]) :]):
                return None
        return launches

    def _by_all(self, places: Sequence[int]) -> Drawn | None:
        """Find the programs that store the secret ones of these places, and those that no program seems to store, by a
        run of all programs of a single launch. None if there are several launches, or that takes too long."""
        if len(self._launches) > 1 or self._each * self._totals[0] > EVERY:
            return None
        (x, y, _), item, (rule,) = self._launches[0].grid, self._item, self._rules
        chosen, blocks = set[int](), list[DrawnBlock]()
        seeming = [place for place in places[SECRET:] if rule.known and not rule.stores(place)]
        for place in (*places[:SECRET], *seeming):
            stored = self._simulate(Watch(stores=[place * item]), None, EVERY).stored
            writers = [stores.program[0] + x * (stores.program[1] + y * stores.program[2]) for stores in stored[-1:]]
            if new := [writer for writer in writers if writer not in rule.samples]:
                self._run_more([new])
            chosen.update(writers)
            self._put(blocks, place, rule.samples[writers[0]] if writers else None)
        return [sorted(chosen)], blocks

    def _by_programs(self, _: Sequence[int]) -> Drawn | None:
        """Take places among those that some programs of the last launch store. None unless this launch is the only
        operation that writes the output, or is large enough to overwrite all of it."""
        rules = self._rules
        last = max(number for number, rule in enumerate(rules) if rule.given)
        alone = sum(rule.given for rule in rules) == 1 and not self._some_filled
        if not alone and rules[last].most * self._totals[last] < prod(self._shape):
            return None
        blocks: list[DrawnBlock] = []
        chosen = [self._inner_programs(launch, rule) for launch, rule in zip(self._launches, rules, strict=True)]
        for elements in (rules[last].samples[program] for program in chosen[last]):
            if elements.size and len(blocks) < 2 + SECRET:
                self._put(blocks, int(elements[self._random.randrange(elements.size)]), elements)
        return chosen, blocks

    def _inner_programs(self, launch: Launch, rule: StoreRule) -> list[int]:
        """Return the programs of a launch that were run, if wanted without those at the ends of its grid."""
        ends = corners(launch.grid) if self._inner and not rule.whole else set[int]()
        return sorted(rule.samples.keys() - ends) or sorted(rule.samples)

    def _run_more(self, chosen: list[list[int]]) -> bool:
        """Run more programs to see where they store. Returns whether it is still known where each program stores."""
        simulated = self._simulate(Watch(chosen=chosen, touched="output"), None)
        for rule, samples in zip(self._rules, self._stores(simulated, chosen), strict=True):
            rule.add(samples)
        return all(rule.known for rule in self._rules)

    def _put(
        self, blocks: list[DrawnBlock], place: int, stored: Array | None, later: Sequence[StoreRule] = (), *,
        guess: bool = False,
    ) -> None:
        """Add the block around a place, unless it meets another one."""
        block = replace(self._block(place, stored, later), guess=guess and stored is None)
        # Blocks in the same rows or columns take the same inputs: contents drawn for one would change what is right in
        # the other.
        if not any(_meet(block.rows, drawn.rows)
                   or (in_columns(self._assignment) and _meet(block.columns, drawn.columns))
                   for drawn in blocks):
            blocks.append(block)

    def _stores(self, seen: Simulated, chosen: Sequence[Sequence[int]]) -> list[dict[int, Array]]:
        """Return, for each launch, the elements of the output that each program of `chosen` stores, ascending."""
        stores: list[dict[int, list[Array]]] = [{program: [] for program in programs} for programs in chosen]
        if len(seen.touched) >= MOST_TOUCHED:
            raise SamplingError("places")
        for touched in seen.touched:
            if touched.given == self._assignment.output.name and touched.access == "store":
                if not touched.all:
                    raise SamplingError("scattered")
                stores[touched.launch][touched.program].append(_elements(touched, self._item))
        return [{program: np.unique(np.concatenate([np.zeros(0, np.int64), *parts]))
                 for program, parts in programs.items()} for programs in stores]

    def missing(self) -> Hint | None:
        """Return the hint about programs that together are too few to write the whole output: all were run, and some
        drawn place was not stored. None if they may suffice."""
        rules = self._rules
        if self._most == 1 or self._some_filled:
            return None
        reached, total = sum(rule.total * rule.most for rule in rules), prod(self._shape)
        if reached >= total or not (all(rule.whole for rule in rules) or self._some_unstored()):
            return None
        programs = sum(rule.total for rule in rules if rule.most) or sum(self._totals)
        return Hint(fact("sample.missing", programs=programs, total=total, name=self._assignment.output.name,
                         most=max(rule.most for rule in rules)), fact("sample.enough"))

    def _some_unstored(self) -> bool:
        """Return whether a run of all programs shows a drawn place that none stores; False if that takes too long."""
        if self._each * sum(self._totals) > EVERY:
            return False
        places = sorted(set(self._places))
        simulated = self._simulate(Watch(stores=[place * self._item for place in places]), None, EVERY)
        return sum(stores.elements for stores in simulated.stored) < len(places)

    def _block(self, at: int, stored: Array | None, later: Sequence[StoreRule]) -> DrawnBlock:
        """Return the block around the element `at`: of the elements that a program has `stored`, those that no `later`
        launch seems to store again; the element alone if no program stores it."""
        width = prod(self._shape[1:])
        elements = torch.from_numpy(np.array([at]) if stored is None else stored)
        rows = torch.unique(elements // width)
        most = MOST_ROWS if len(self._shape) > 1 else MOST_ELEMENTS
        first, last = _neighbours(rows, at // width, most)
        within = elements[(elements // width >= first) & (elements // width < last)]
        left, right = 0, width
        if in_columns(self._assignment):
            left, right = _neighbours(torch.unique(within % width), at % width, MOST_COLUMNS)
        if stored is not None and any(rule.given and not rule.whole for rule in later):
            most = min(within.numel(), MOST_DOUBTFUL)
            within = within[sorted(self._random.sample(range(within.numel()), most))]
            kept = ~np.any([rule.claims(within.numpy()) for rule in later], axis=0)
            within = torch.cat([within[torch.from_numpy(kept)], torch.tensor([at])])
        marks = torch.zeros(last - first, width, dtype=torch.bool)
        marks[within // width - first, within % width] = True
        return DrawnBlock(slice(first, last), slice(left, right), marks[:, left:right], alone=stored is None)

    @property
    def _some_filled(self) -> bool:
        return self._fills is not None or any(isinstance(operation, Fill) for operation in self._plan.first)

    @property
    def _item(self) -> int:
        output = next(b for b in self._plan.buffers if b.given == self._assignment.output.name)
        return output.bytes // prod(self._shape)


def _meet(first: slice, second: slice) -> bool:
    return bool(first.start < second.stop and second.start < first.stop)


def _neighbours(ascending: Tensor, at: int, most: int) -> tuple[int, int]:
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


def _elements(touched: TouchedBytes, item: int) -> Array:
    parts = [np.arange(length // item)[None, :] + (begin + step * np.arange(count)[:, None]) // item
             for begin, length, step, count in touched.runs]
    return np.concatenate([np.zeros(0, np.int64), *(part.reshape(-1) for part in parts)])


def buffers_of(launch: Launch) -> set[int]:
    """Return the numbers of the buffers that a launch's arguments point to."""
    buffers: set[int] = set()
    for argument in launch.arguments:
        if isinstance(argument, Pointer):
            buffers.add(argument.buffer)
        elif isinstance(argument, Descriptor):
            buffers.add(argument.view.buffer)
        elif isinstance(argument, Structure):
            buffers.update(inner.buffer for inner in argument.pointers)
    return buffers
