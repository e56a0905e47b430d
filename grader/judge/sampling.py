"""A look at some programs of a call: those are simulated on parts of the inputs, and what they store in an output is
compared with the right answer there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from math import prod

import numpy as np
import torch
from torch import Tensor

from grader.judge.allowance import USED_UP
from grader.judge.answers import finite
from grader.judge.buffers import HostTensor
from grader.judge.compare import Comparison, index_of, plain, poison_, printed, unguarded
from grader.judge.explain import explain_findings, explain_stop
from grader.judge.inputs import Draws
from grader.judge.simulation import Simulation
from grader.judge.wording import indexed, phrases_of, spoken
from grader.model.assignment import Assignment
from grader.model.cases import Case, dtype_of, shape_of, strides_of
from grader.model.catalogue import answer_and_tolerance
from grader.model.parameters import Input, Inputs, Scalar, Update
from grader.model.result import Detail
from grader.plan.findings import MOST_ACCESSES, Assertion, OutOfBounds, Unwritten
from grader.plan.messages import CannotSimulate, Simulated
from grader.plan.plan import Copy, Descriptor, Fill, Launch, Plan, Pointer, Structure
from grader.plan.traffic import MOST_TOUCHED, Touched, Watch

# Programs of each launch that are run beside the first and the last, where one is run quickly.
SECRET = 2
# Launches of a call of which programs are looked at, the last among them.
MOST_LAUNCHES = 6
# Elements of what one program stores that are compared.
MOST_ROWS, MOST_COLUMNS = 64, 256
# Rows of an output of one dimension are its elements.
MOST_ELEMENTS = 4096
# Element operations of one look, some tenth of a second, and of one program that is looked at together with others.
OPERATIONS = 60_000_000
QUICK = 10_000_000
# Bytes of the submission's temporaries, which take memory and time.
MOST_TEMPORARY = 256 << 20

SECONDS = 20.0
"""The time of all looks at large sizes together: none of it is taken from what the submission may take."""
LATE = f"looking took longer than {SECONDS:g} s"
APART = "programs build on what others have stored"
TAKES_ALL = "each element of the answer takes all of the input"
UNDIVIDED = "nothing says which part of the inputs a part of it takes"
SLOW = "a part of it takes the simulator too long, whatever its speed on a GPU"


@dataclass(frozen=True)
class SampledCase:
    """The outcome of a look at a case: the number of programs that were run, and of all. `unseen` is why none was run,
    `output` the one output that this concerns, "" for all. `detail` is what is wrong."""

    case: Case
    run: int = 0
    programs: int = 0
    unseen: str = ""
    detail: Detail | None = None
    output: str = ""

    @property
    def what(self) -> str:
        return f"{self.output} of {self.case.name}" if self.output else self.case.name


class Unseen(Exception):
    """Raised with the reason why a case cannot be looked at."""


class Settled(Exception):
    """Raised with what is wrong with a case before anything is compared, or with what only a GPU can tell."""

    def __init__(self, detail: Detail) -> None:
        super().__init__()
        self.detail = detail


@dataclass(frozen=True)
class _Block:
    """A block of the output, as rows and columns, and which of its elements one program stores."""

    rows: slice
    columns: slice
    stored: Tensor


def wrong_part(
    said: str, assignment: Assignment, found: Comparison, wrong: Tensor, first: Sequence[int] = ()
) -> Detail:
    """The number of wrong elements in a part of the output that begins at index `first`, and the worst of them."""
    at = int(torch.where(wrong, found.ratio, -1.0).flatten().argmax())
    index = [place + start for place, start in zip_longest(index_of(at, tuple(wrong.shape)), first, fillvalue=0)]
    got, expected = (printed(plain(one.flatten()[at : at + 1])[0], found.got.dtype)
                     for one in (found.got, found.expected))
    return Detail(
        kind="wrong_values", wrong=int(wrong.sum()), total=found.total,
        message=f"{said}: {indexed(assignment.output.name, index)} is {got}, expected {expected}.",
        hint="All smaller cases came out right: is there a number that is enough for them alone, such as a count of "
             "parts, a block or what 32 bits hold, or does a branch, a stride or the grid depend on the size?")


class Sample:
    """One output of a call of a case."""

    def __init__(
        self, assignment: Assignment, case: Case, plan: Plan, simulation: Simulation, draws: Draws, source: str,
        call: int,
    ) -> None:
        self.assignment, self.case, self.plan, self.call = assignment, case, plan, call
        self.simulation, self.draws, self.source = simulation, draws, source
        self.shape = shape_of(assignment.output, case)
        self.in_columns = assignment.columns is not None and len(self.shape) == 2
        self.updates = {p.name for p in assignment.parameters if isinstance(p, Update)}
        self.launches = [one for one in plan.first if isinstance(one, Launch)]
        self.totals = [prod(launch.grid) for launch in self.launches]
        self.random = draws.random(case, "large", call)
        # The last may put right what the others store.
        last = len(self.launches) - 1
        self.sampled = {*(range(last) if last < MOST_LAUNCHES else self.random.sample(range(last), MOST_LAUNCHES - 1)),
                        last}

    def look(self) -> SampledCase:
        self._check_plan()
        if self.assignment.renew is not None:
            return self._whole()
        if not all(self.totals):
            raise Unseen("it launches no program")
        # A program may have a large part of the work.
        chosen = [[self.random.randrange(total)] if number in self.sampled else []
                  for number, total in enumerate(self.totals)]
        # Products come on top where the answer is computed.
        seen = self._simulated(Watch(chosen=chosen, touched="output"), None, OPERATIONS // 2)
        several = seen.operations <= QUICK
        if several:
            chosen = [sorted({*(self.random.randrange(total) for _ in range(SECRET)), 0, total - 1})
                      if number in self.sampled else [] for number, total in enumerate(self.totals)]
            seen = self._simulated(Watch(chosen=chosen, touched="output"), None)
        stores = self._stores(seen)
        programs = sum(self.totals)
        if several and (missing := self._missing(stores)) is not None:
            return SampledCase(self.case, sum(map(len, chosen)), programs, detail=missing)
        blocks: list[_Block] = []
        last = max((launch for launch, _ in stores), default=0)
        for (launch, _), elements in stores.items():
            # Another program of a later launch may put right what an earlier one stores.
            block = self._block(elements) if launch == last else None
            # Numbers that are drawn for one block would change what is right in another one beside it.
            if block is not None and not any(
                _meet(block.rows, one.rows) or (self.in_columns and _meet(block.columns, one.columns)) for one in blocks
            ):
                blocks.append(block)
        with ExitStack() as stack:
            memory = self._memory(stack)
            parts = [self._filled(memory, number, block) for number, block in enumerate(blocks)]
            # What several blocks take was drawn for the last of them.
            before = [{name: value.clone() if isinstance(value, Tensor) else value for name, value in views.items()}
                      for views in parts]
            again = self._simulated(Watch(chosen=chosen), memory)
            detail = explain_findings(
                self.assignment, self.source,
                [one for one in again.findings if isinstance(one, OutOfBounds | Assertion)])
            output = memory[self.assignment.output.name].tensor
            for block, inputs in zip(blocks, before, strict=True):
                detail = detail or self._compared(output, block, inputs)
        return SampledCase(self.case, len(blocks), programs, detail=detail)

    def _check_plan(self) -> None:
        if any(isinstance(one, Launch) for one in self.plan.setup):
            raise Unseen("the file launches kernels while it is imported")
        if sum(buffer.bytes for buffer in self.plan.buffers if not buffer.given) > MOST_TEMPORARY:
            raise Unseen("it makes large tensors of its own")
        if self.assignment.renew is not None:
            return
        copies = any(isinstance(one, Copy) for one in self.plan.first)
        if not copies and not self.launches:
            raise Settled(Detail(
                kind="unwritten", message=f"No kernel is launched that could write {self.assignment.output.name}.",
                hint="Launch a kernel for all sizes: a branch on the size may leave it out."))
        name = self.assignment.output.name
        if self.assignment.rows is None:
            raise Unseen(TAKES_ALL if len(self.assignment.outputs) == 1 else UNDIVIDED)
        if name in self.case.strides:
            raise Unseen(f"{name} is not contiguous")
        if self.assignment.conditions - {name}:
            raise Unseen("what is right in one output depends on what stands in another")
        if copies:
            raise Unseen("host code copies tensors")

    def _whole(self) -> SampledCase:
        """Runs the whole call, if little of the input decides the answer."""
        assert self.assignment.renew is not None
        name = self.assignment.output.name
        with ExitStack() as stack:
            memory = self._memory(stack)
            inputs = {p.name: memory[p.name].tensor for p in self.assignment.parameters if isinstance(p, Input)}
            new = self.assignment.renew(inputs, np.random.default_rng(self.random.getrandbits(64)))
            new.elements.copy_(new.values)
            poison_(memory[name].tensor)
            self._simulated(Watch(), memory)
            found = unguarded(memory[name].tensor, *answer_and_tolerance(self.assignment, new.inputs))
        every = _Block(slice(0, self.shape[0]), slice(0, 1), torch.ones_like(found.wrong))
        programs = sum(self.totals)
        return SampledCase(self.case, programs, programs, detail=None if found.passed else self._told(
            found, found.wrong, every))

    def _simulated(
        self, watch: Watch, memory: Mapping[str, HostTensor] | None, operations: int = OPERATIONS
    ) -> Simulated:
        """A simulator's view of the programs that are chosen."""
        seen = self.simulation.inspect(self.assignment, self.plan, watch, operations=operations, memory=memory)
        if isinstance(seen, CannotSimulate):
            raise Settled(explain_stop(self.assignment, self.source, seen))
        if not isinstance(seen, Simulated):
            raise Unseen(LATE if seen == USED_UP else SLOW)
        by_kind: dict[str, set[int]] = {"load": set(), "store": set(), "atomic": set()}
        for one in seen.accesses:
            by_kind[one.access].add(one.buffer)
        if len(seen.accesses) >= MOST_ACCESSES:
            raise Unseen("its kernels load and store in too many places")
        # The programs of one launch cannot wait for each other without atomics: each updates what is its own.
        given = Counter(number for launch in self.launches for number in _buffers_of(launch))
        own = {number for number, buffer in enumerate(self.plan.buffers)
               if buffer.given in self.updates and given[number] == 1}
        if by_kind["atomic"] or by_kind["load"] & by_kind["store"] - own or any(
            isinstance(one, Unwritten) for one in seen.findings
        ):
            raise Unseen(APART)
        return seen

    def _stores(self, seen: Simulated) -> dict[tuple[int, int], Tensor]:
        """The elements of the output that each program stores, by launch and program, ascending."""
        item = self._item
        if len(seen.touched) >= MOST_TOUCHED:
            raise Unseen("its kernels store in too many places")
        found: dict[tuple[int, int], list[Tensor]] = {}
        for one in seen.touched:
            if one.given == self.assignment.output.name and one.access == "store":
                if not one.all:
                    raise Unseen("what one of its programs stores lies scattered")
                found.setdefault((one.launch, one.program), []).append(_elements(one, item))
        return {key: torch.unique(torch.cat(parts)) for key, parts in found.items()}

    @property
    def _item(self) -> int:
        output = next(b for b in self.plan.buffers if b.given == self.assignment.output.name)
        return output.bytes // prod(self.shape)

    def _missing(self, stores: Mapping[tuple[int, int], Tensor]) -> Detail | None:
        """What is wrong if all programs together cannot write the whole output."""
        if any(isinstance(one, Fill) for one in self.plan.first) or len(self.sampled) < len(self.launches):
            return None
        most: dict[int, int] = {}
        for (launch, _), elements in stores.items():
            most[launch] = max(most.get(launch, 0), elements.numel())
        reached, total = sum(self.totals[launch] * count for launch, count in most.items()), prod(self.shape)
        if reached >= total:
            return None
        name, words = self.assignment.output.name, phrases_of(self.assignment)
        programs = sum(self.totals[launch] for launch in most) or sum(self.totals)
        return Detail(
            kind="unwritten", message=spoken(
                f"{programs:,} programs cannot write all {total:,} elements of {name}: each of those that were run "
                f"here stores {max(most.values(), default=0):,} at most.", words),
            hint=spoken("Launch as many programs as the output has blocks, or have each go on to further blocks in a "
                        "loop.", words))

    def _block(self, elements: Tensor) -> _Block | None:
        """A part of what a program stores, around an element chosen at random."""
        if not elements.numel():
            return None
        width = prod(self.shape[1:])
        at = int(elements[self.random.randrange(elements.numel())])
        rows = torch.unique(elements // width)
        most = MOST_ROWS if len(self.shape) > 1 else MOST_ELEMENTS
        first, last = _around(rows, at // width, most)
        within = elements[(elements // width >= first) & (elements // width < last)]
        left, right = 0, width
        if self.in_columns:
            left, right = _around(torch.unique(within % width), at % width, MOST_COLUMNS)
        stored = torch.zeros(last - first, width, dtype=torch.bool)
        stored[within // width - first, within % width] = True
        return _Block(slice(first, last), slice(left, right), stored[:, left:right])

    def _memory(self, stack: ExitStack) -> dict[str, HostTensor]:
        found = {}
        for parameter in self.assignment.parameters:
            if not isinstance(parameter, Scalar):
                tensor = HostTensor(
                    shape_of(parameter, self.case), dtype_of(parameter, self.case),
                    strides_of(parameter, self.case) if parameter.name in self.case.strides else (), sparse=True)
                stack.callback(tensor.close)
                found[parameter.name] = tensor
        return found

    def _filled(self, memory: Mapping[str, HostTensor], number: int, block: _Block) -> Inputs:
        """Inputs that a block of the output takes: views of the memory, filled with numbers drawn for it."""
        inputs = {p.name: memory[p.name].tensor for p in self.assignment.parameters if isinstance(p, Input | Update)}
        views: Inputs = {**inputs, **self.draws.scalars(self.case)}
        assert self.assignment.rows is not None
        views = self.assignment.rows(views, block.rows)
        names = self.assignment.output.size_names
        sizes = {**self.case.sizes, names[0]: block.rows.stop - block.rows.start}
        if self.assignment.columns is not None and self.in_columns:
            views = self.assignment.columns(views, block.columns)
            sizes[names[1]] = block.columns.stop - block.columns.start
        drawn = self.draws.like(self.case.model_copy(update={"sizes": sizes}), "large", self.call, number)
        for name, tensor in inputs.items():
            view = views[name]
            inside = view.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
            if view.shape != drawn[name].shape or not inside:
                raise Unseen("its inputs cannot be taken in parts")
            view.copy_(drawn[name])
        return views

    def _compared(self, output: Tensor, block: _Block, inputs: Inputs) -> Detail | None:
        got = output[block.rows]
        got = (got[:, block.columns] if self.in_columns else got).contiguous()
        view, name = self.assignment, self.assignment.output.name
        if name in view.conditions:
            view = view.model_copy(update={"oracle": partial(view.oracle, **{name: finite(got)})})
        found = unguarded(got, *answer_and_tolerance(view, inputs))
        wrong = found.wrong & block.stored.reshape(found.wrong.shape)
        return self._told(found, wrong, block) if bool(wrong.any()) else None

    def _told(self, found: Comparison, wrong: Tensor, block: _Block) -> Detail:
        of, bad = int(block.stored.sum()), int(wrong.sum())
        said = spoken(f"Of {of:,} elements that one program stores {bad:,} are wrong", phrases_of(self.assignment))
        return wrong_part(said, self.assignment, found, wrong, (block.rows.start, block.columns.start)[: wrong.ndim])


def _meet(one: slice, other: slice) -> bool:
    return bool(one.start < other.stop and other.start < one.stop)


def _around(ascending: Tensor, at: int, most: int) -> tuple[int, int]:
    """Bounds of the numbers that follow each other without a gap around `at`. Of more than so many a part that begins
    at random is taken."""
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


def _buffers_of(launch: Launch) -> set[int]:
    """The buffers that a launch is given."""
    found: set[int] = set()
    for one in launch.arguments:
        if isinstance(one, Pointer):
            found.add(one.buffer)
        elif isinstance(one, Descriptor):
            found.add(one.view.buffer)
        elif isinstance(one, Structure):
            found.update(inner.buffer for inner in one.pointers)
    return found


def _elements(touched: Touched, item: int) -> Tensor:
    parts = [np.arange(length // item)[None, :] + (begin + step * np.arange(count)[:, None]) // item
             for begin, length, step, count in touched.runs]
    return torch.from_numpy(np.concatenate([np.zeros(0, np.int64), *(part.reshape(-1) for part in parts)]))
