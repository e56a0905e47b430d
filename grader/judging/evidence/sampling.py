"""Sample of an output: places are drawn from all of it, the programs that store there are simulated on parts of the
inputs, and the elements around the places are compared with the right answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from math import prod

import numpy as np
import torch
from torch import Tensor

from grader.course.assignment import Assignment
from grader.course.cases import Case, dtype_of, shape_of, strides_of
from grader.course.catalogue import answer_and_tolerance
from grader.course.parameters import Input, Inputs, Scalar, Update
from grader.judging.answers.answers import finite
from grader.judging.answers.compare import Comparison, compare_unchecked, index_of, plain, poison_, printed
from grader.judging.answers.inputs import Draws
from grader.judging.evidence.blocks import (
    OPERATIONS,
    DrawnBlock,
    Sampler,
    SamplingError,
    buffers_of,
    in_columns,
    last_fill,
)
from grader.judging.explain import explain_findings, explain_stop
from grader.judging.explain.evidence import Hint
from grader.judging.explain.findings import finding_hint
from grader.judging.explain.wording import indexed, phrases_of, place, say
from grader.judging.running.buffers import HostTensor
from grader.judging.running.simulation import Simulation
from grader.judging.running.time_budget import USED_UP
from grader.languages.phrases import Fact, Phrases, fact
from grader.plan.findings import MOST_ACCESSES, Assertion, OutOfBounds, UndefinedBehaviour, UnwrittenAccess
from grader.plan.messages import CannotSimulate, Simulated
from grader.plan.plan import Copy, Launch, Plan
from grader.plan.traffic import LaunchTraffic, Watch
from grader.results.result import Detail

# Most bytes of the submission's temporaries, which take memory and time.
MOST_TEMPORARY = 256 << 20

SMALL_CASE_FACTOR = 10
"""Factor on the operations for a case that a simulator should have run whole."""
SECONDS = 20.0
"""Seconds for all samples of large sizes together, and for the samples of each slow case. They are not charged to the
submission."""
LATE, SLOW = "late", "slow"
"""Reasons of `SamplingError` for cases that took too long: all of them together, or one of its parts."""


@dataclass(frozen=True)
class SampledCase:
    """The outcome of a case's sample: `run` of `programs` programs were run; `whole`: every element was compared.
    `unsampled` is the reason of a `SamplingError`, if none was run. `output` is the one output that the outcome
    concerns, "" for all. `detail` is what is wrong."""

    case: Case
    run: int = 0
    programs: int = 0
    unsampled: str = ""
    detail: Detail | None = None
    output: str = ""
    whole: bool = False

    @property
    def what(self) -> str:
        return f"{self.output} of {self.case.name}" if self.output else self.case.name


class SampleEnd(Exception):
    """The end of a sample before anything is compared: `detail` is what is wrong with the case, or what only a GPU can
    judge."""

    def __init__(self, detail: Detail) -> None:
        super().__init__()
        self.detail = detail


def wrong_part(
    words: Phrases, said: Fact, assignment: Assignment, comparison: Comparison, wrong: Tensor, first: Sequence[int] = ()
) -> Detail:
    """Return the detail of a part of the output, which begins at index `first`: the number of `wrong` elements (bool,
    of the part's shape) and the worst of them. The message begins with `said`."""
    at = int(torch.where(wrong, comparison.ratio, -1.0).flatten().argmax())
    index = [place + start for place, start in zip_longest(index_of(at, tuple(wrong.shape)), first, fillvalue=0)]
    got, expected = (printed(plain(tensor.flatten()[at : at + 1])[0], comparison.got.dtype)
                     for tensor in (comparison.got, comparison.expected))
    sentence = fact("sample.worst", wrong=said, element=indexed(assignment.output.name, index), got=got,
                    expected=expected)
    return Hint(sentence, fact("sample.advice")).detail(words, "wrong_values").model_copy(update={
        "wrong": int(wrong.sum()), "total": comparison.total})


class _WrongByGuess(Exception):
    """An element is wrong if no program stores it, but a program that has not been run may."""


class Sample:
    """A sample of one output of a call of a case, which `take` takes. With `warps` it also counts what warps do in the
    run that is compared: `launched` has that run's traffic. `stored` are the buffers that its launches store to. Raises
    SamplingError and SampleEnd."""

    def __init__(
        self, assignment: Assignment, case: Case, plan: Plan, simulation: Simulation, draws: Draws, source: str,
        call: int, *, warps: bool = False,
    ) -> None:
        self.warps, self.launched = warps, list[LaunchTraffic]()
        self.stored, self._earlier = set[int](), frozenset[int]()
        self._words = phrases_of(assignment, source)
        self.fills, first = last_fill(assignment, plan)
        self.plan = plan.model_copy(update={"first": first})
        self.assignment, self.case, self.call = assignment, case, call
        self.simulation, self.draws, self.source = simulation, draws, source
        self.shape = shape_of(assignment.output, case)
        self.updates = {p.name for p in assignment.parameters if isinstance(p, Update)}
        self.launches = [operation for operation in plan.first if isinstance(operation, Launch)]
        self.totals = [prod(launch.grid) for launch in self.launches]
        self.random = draws.random(case, "large", call)
        self.factor = SMALL_CASE_FACTOR if case in assignment.cases_for("cpu") else 1

    def take(self, earlier: Collection[int] = ()) -> SampledCase:
        """Take the sample. The call before this one has stored to the buffers `earlier`."""
        self._earlier = frozenset(earlier)
        self._check_plan()
        if self.assignment.renew is not None:
            return self._run_whole()
        if not all(self.totals):
            raise SamplingError("idle")
        drawing = Sampler(self.assignment, self.plan, self.shape, self.random, self._simulated, self.fills, self.factor,
                          inner=self.warps)
        programs = sum(self.totals)
        if (missing := drawing.missing()) is not None:
            return SampledCase(self.case, drawing.run, programs, detail=missing.detail(self._words, "unwritten"))
        for chosen, blocks in drawing.draws():
            with suppress(_WrongByGuess):
                return SampledCase(self.case, len(blocks), programs, detail=self._run(chosen, blocks))
        raise AssertionError("`draws` ends in an error")

    def _run(self, chosen: list[list[int]], blocks: Sequence[DrawnBlock]) -> Detail | None:
        """Run programs on inputs for these blocks. Returns what is wrong there, None if nothing is."""
        with ExitStack() as stack:
            memory = self._memory(stack)
            output = memory[self.assignment.output.name].tensor
            parts = [self._block_inputs(memory, number, block) for number, block in enumerate(blocks)]
            # Inputs that several blocks take hold what was drawn for the last of these.
            before = [{name: value.clone() if isinstance(value, Tensor) else value for name, value in views.items()}
                      for views in parts]
            for block in blocks if self.assignment.output.name not in self.updates else ():
                poison_(self._part(output, block))
                if self.fills is not None:
                    self._part(output, block).fill_(self.fills.value)
            again = self._simulated(Watch(chosen=chosen, warps=self.warps), memory)
            self.launched = again.launched
            # Only these findings hold if some programs alone run.
            detail = explain_findings(self.assignment, self.source, [
                finding for finding in again.findings if isinstance(finding, OutOfBounds | Assertion)
                or (isinstance(finding, UndefinedBehaviour) and finding.what in ("shared", "divergent"))])
            for block, inputs in sorted(zip(blocks, before, strict=True), key=lambda pair: pair[0].guess):
                detail = detail or self._compared(output, block, inputs)
            unset = next((finding for finding in again.findings if isinstance(finding, UnwrittenAccess)), None)
            # A read of unwritten memory counts beside a wrong answer alone, since its value may go unused.
            if detail is not None and detail.kind == "wrong_values" and unset is not None:
                where = place(self.assignment, self.source, unset.line)
                hint = finding_hint(unset, None, self._words).text(self._words)
                return detail.model_copy(update={"hint": hint, "place": where})
        return detail

    def _check_plan(self) -> None:
        if any(isinstance(operation, Launch) for operation in self.plan.setup):
            raise SamplingError("setup")
        if sum(buffer.bytes for buffer in self.plan.buffers if not buffer.given) > MOST_TEMPORARY:
            raise SamplingError("temporaries")
        if self.assignment.renew is not None:
            return
        copies = any(isinstance(operation, Copy) for operation in self.plan.first)
        if not copies and not self.launches:
            raise SampleEnd(Hint(fact("sample.no_launch.seen", name=self.assignment.output.name),
                                 fact("sample.no_launch.advice")).detail(self._words, "unwritten"))
        name = self.assignment.output.name
        if self.assignment.rows is None:
            raise SamplingError("takes_all" if len(self.assignment.outputs) == 1 else "undivided")
        if name in self.case.strides:
            raise SamplingError("strided")
        if self.assignment.conditions - {name}:
            raise SamplingError("depends")
        if copies:
            raise SamplingError("copies")

    def _run_whole(self) -> SampledCase:
        """Run the whole call, for an assignment whose `renew` changes the few inputs that decide the answer."""
        assert self.assignment.renew is not None
        name = self.assignment.output.name
        with ExitStack() as stack:
            memory = self._memory(stack)
            inputs = {p.name: memory[p.name].tensor for p in self.assignment.parameters if isinstance(p, Input)}
            new = self.assignment.renew(inputs, np.random.default_rng(self.random.getrandbits(64)))
            new.elements.copy_(new.values)
            poison_(memory[name].tensor)
            self._simulated(Watch(), memory)
            comparison = compare_unchecked(memory[name].tensor, *answer_and_tolerance(self.assignment, new.inputs))
        every = DrawnBlock(slice(0, self.shape[0]), slice(0, 1), torch.ones_like(comparison.wrong))
        programs = sum(self.totals)
        detail = None if comparison.passed else self._wrong_block(comparison, comparison.wrong, every)
        return SampledCase(self.case, programs, programs, whole=True, detail=detail)

    def _simulated(
        self, watch: Watch, memory: Mapping[str, HostTensor] | None, operations: int = OPERATIONS
    ) -> Simulated:
        """Return a simulator's view of the programs that `watch` chooses. Raises SamplingError and SampleEnd."""
        simulated = self.simulation.inspect(
            self.assignment, self.plan, watch, operations=self.factor * operations, memory=memory)
        if isinstance(simulated, CannotSimulate):
            raise SampleEnd(explain_stop(self.assignment, self.source, simulated))
        if not isinstance(simulated, Simulated):
            raise SamplingError(LATE if simulated == USED_UP else SLOW)
        by_kind: dict[str, set[int]] = {"load": set(), "store": set(), "atomic": set()}
        for access in simulated.accesses:
            by_kind[access.access].add(access.buffer)
        if len(simulated.accesses) >= MOST_ACCESSES:
            raise SamplingError("places")
        # Without atomics the programs of one launch cannot wait for each other: in a tensor that this launch alone
        # takes, each updates its own elements.
        given = Counter(number for launch in self.launches for number in buffers_of(launch))
        own = {number for number, buffer in enumerate(self.plan.buffers)
               if buffer.given in self.updates and given[number] == 1}
        self.stored |= by_kind["store"] | by_kind["atomic"]
        if by_kind["atomic"] or by_kind["load"] & (by_kind["store"] | self._earlier) - own or any(
            isinstance(finding, UnwrittenAccess) and finding.space == "global" for finding in simulated.findings
        ):
            raise SamplingError("shared")
        return simulated

    def _part(self, output: Tensor, block: DrawnBlock) -> Tensor:
        rows = output[block.rows]
        return rows[:, block.columns] if in_columns(self.assignment) else rows

    def _memory(self, stack: ExitStack) -> dict[str, HostTensor]:
        inputs = {}
        for parameter in self.assignment.parameters:
            if not isinstance(parameter, Scalar):
                tensor = HostTensor(
                    shape_of(parameter, self.case), dtype_of(parameter, self.case),
                    strides_of(parameter, self.case) if parameter.name in self.case.strides else (), sparse=True)
                stack.callback(tensor.close)
                inputs[parameter.name] = tensor
        return inputs

    def _block_inputs(self, memory: Mapping[str, HostTensor], number: int, block: DrawnBlock) -> Inputs:
        """Return the inputs of a block of the output: views of `memory`, filled with numbers that are drawn for the
        block."""
        inputs = {p.name: memory[p.name].tensor for p in self.assignment.parameters if isinstance(p, Input | Update)}
        views: Inputs = {**inputs, **self.draws.scalars(self.case)}
        assert self.assignment.rows is not None
        views = self.assignment.rows(views, block.rows)
        names = self.assignment.output.size_names
        sizes = {**self.case.sizes, names[0]: block.rows.stop - block.rows.start}
        if self.assignment.columns is not None and in_columns(self.assignment):
            views = self.assignment.columns(views, block.columns)
            sizes[names[1]] = block.columns.stop - block.columns.start
        drawn = self.draws.like(self.case.model_copy(update={"sizes": sizes}), "large", self.call, number)
        for name, tensor in inputs.items():
            view = views[name]
            inside = view.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
            if view.shape != drawn[name].shape or not inside:
                raise SamplingError("inputs")
            view.copy_(drawn[name])
        return views

    def _compared(self, output: Tensor, block: DrawnBlock, inputs: Inputs) -> Detail | None:
        got = self._part(output, block).contiguous()
        view, name = self.assignment, self.assignment.output.name
        if name in view.conditions:
            view = view.model_copy(update={"oracle": partial(view.oracle, **{name: finite(got)})})
        comparison = compare_unchecked(got, *answer_and_tolerance(view, inputs))
        wrong = comparison.wrong & block.stored.reshape(comparison.wrong.shape)
        if block.guess and bool(wrong.any()):
            raise _WrongByGuess
        return self._wrong_block(comparison, wrong, block) if bool(wrong.any()) else None

    def _wrong_block(self, comparison: Comparison, wrong: Tensor, block: DrawnBlock) -> Detail:
        sentence = fact("sample.nobody") if block.alone else fact(
            "sample.wrong", bad=int(wrong.sum()), of=int(block.stored.sum()))
        detail = wrong_part(self._words, sentence, self.assignment, comparison, wrong,
                          (block.rows.start, block.columns.start)[: wrong.ndim])
        return detail.model_copy(update={"hint": say(self._words, fact("sample.enough"))}) if block.alone else detail
