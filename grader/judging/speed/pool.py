"""The pool: memory for the timed calls of both sides, as slots of distinct inputs with their outputs.

No call of a submission that counts sees contents twice: inputs are drawn anew before each of the student's replays.
Outputs and guard zones are rewritten before every replay. Both sides use the same memory in turn, so that their ratio
does not depend on its place.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy
import torch
from torch import Tensor

from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.course.catalogue import answer_and_tolerance, objection
from grader.course.parameters import Inputs, Scalar, Value
from grader.device.guards import torch_dtype
from grader.judging.answers.compare import POISON, Comparison, compare, fill_gaps, gaps_written, poison_, same_bits
from grader.judging.answers.rows import Answered, in_parts
from grader.judging.plans.planning import given_tensor
from grader.judging.running.arena import Arena, Piece, guard_of
from grader.judging.running.device import working
from grader.judging.running.execution import ElementSample, Slot
from grader.judging.speed.checks import SlotChecks
from grader.judging.speed.contents import SlotContents
from grader.plan.messages import GivenTensor
from grader.plan.plan import memory_span
from grader.results.result import WorstElement

# Secret places of each output, of 32 bits, that are sampled while the clock runs.
SAMPLED = 1024
WORD = 4


@dataclass(frozen=True)
class ReplayFault:
    """An error found after a replay.

    "values": `count` of `total` elements of a slot are wrong, `unwritten` of them were never written, and `worst` is
    the worst; "statistic": the answer as a whole does not fit, as `said`; "late": an output was written after the end;
    "outside": memory next to a tensor was written; "input": the input `name` was changed. `name` is that of the output
    for wrong values.
    """

    what: Literal["values", "statistic", "late", "outside", "input"]
    name: str = ""
    count: int = 0
    total: int = 0
    unwritten: int = 0
    worst: WorstElement | None = None
    said: str = ""


def slot_bytes(assignment: Assignment, case: Case, only: Collection[str] | None = None) -> int:
    """Return the bytes of a slot, or of its tensors named in `only`."""
    return sum(given_tensor(p, case).bytes for p in assignment.parameters
               if not isinstance(p, Scalar) and (only is None or p.name in only))


class Pool:
    """`count` slots for a case, on a GPU, or all on the host. Raises NoRoomError if there is no memory.

    Inputs lie in one arena, slot by slot. Outputs lie in another, parameter by parameter: the first output of all
    slots, then the second.
    """

    @working()
    def __init__(self, assignment: Assignment, case: Case, count: int, *, cuda: bool) -> None:
        self.count = count
        self._assignment, self._case = assignment, case
        # The scalars of the side whose calls come next.
        self._scalars: Mapping[str, Value] = {}
        self._generator = torch.Generator("cuda" if cuda else "cpu").manual_seed(secrets.randbits(63))
        given = [given_tensor(p, case) for p in assignment.parameters if not isinstance(p, Scalar)]
        read = [tensor for tensor in given if not tensor.output]
        written = [tensor for tensor in given if tensor.output]
        self._on_host = not cuda or any(tensor.place == "host" for tensor in read)
        samples = [len(written) * count * SAMPLED]
        tensors = [GivenTensor(name="positions", shape=samples, dtype="int64"),
                GivenTensor(name="target", shape=samples, dtype="int32")]
        place: Literal["device", "host"] = "device" if cuda else "host"
        self._arenas: list[Arena] = []
        try:
            self._inputs = self._arena(
                read * count, "host" if self._on_host else "device", sparse=assignment.renew is not None)
            self._outputs = self._arena([tensor for tensor in written for _ in range(count)], place, guard_of(written))
            self.sample = ElementSample(self._outputs, *self._arena(tensors, place).pieces)
        except BaseException:
            self.close()
            raise
        self._written: dict[str, Sequence[Piece]] = {
            tensor.name: self._outputs.pieces[at * count : (at + 1) * count] for at, tensor in enumerate(written)}
        self._pieces: dict[str, Sequence[Piece]] = {
            **{tensor.name: self._inputs.pieces[at :: len(read)] for at, tensor in enumerate(read)}, **self._written}
        self._with_gaps = [self._pieces[tensor.name] for tensor in given if tensor.strides]
        # Tensors that the judge fills, and tensors that calls have to leave as they are.
        self._filled = [tensor.name for tensor in given if tensor.filled]
        self._read_only = [tensor.name for tensor in read]
        # True if a baseline may reuse inputs as calls and the filling of gaps left them. Indices are drawn anew, since
        # they say where the baseline reads: the judge decides that.
        self._reusable = not self._with_gaps and not any(tensor.filled for tensor in written) and all(
            torch_dtype(tensor.dtype).is_floating_point for tensor in read)
        self.contents: SlotContents | None = None
        if not self._on_host:
            self.contents = SlotContents(
                assignment, case, {name: self._pieces[name] for name in self._filled}, self._generator)
        # On the host, what was drawn for each slot.
        self._drawn: list[Inputs] = []
        self._checks: SlotChecks | None = None
        self._starts = [torch.tensor([piece.offset // WORD for piece in pieces], device=self._generator.device)
                        for pieces in self._written.values()]
        self._places = torch.zeros_like(self.sample.positions.tensor)

    def slots(self) -> list[Slot]:
        """Return the tensors of each slot's call."""
        return [{name: pieces[slot] for name, pieces in self._pieces.items()} for slot in range(self.count)]

    def draw(
        self, count: int, scalars: Mapping[str, Value], *, expect: bool = True, again: bool = False
    ) -> None:
        """Draw new contents for the first `count` slots. `scalars` belong to the side whose calls come next.

        With `expect`, `check` can check the answers to these contents. With `again`, inputs that were drawn before stay
        as they are, if they are floats that calls leave whole, and all else is written anew.
        """
        self._scalars = scalars
        if self._with_gaps:
            with working():
                for pieces in self._with_gaps:
                    for piece in pieces[:count]:
                        fill_gaps(piece.tensor)
        if self._on_host:
            # This takes no GPU, so it is not held.
            self._renew(count)
        with working():
            self._write(count, expect=expect, again=again)

    def _write(self, count: int, *, expect: bool, again: bool) -> None:
        """Write all but the gaps between elements and the inputs on the host."""
        if self.contents is not None:
            if not (again and self._reusable):
                self.contents.renew(count)
            if expect:
                self._checks = SlotChecks(
                    self._assignment, self._case, [self._given(slot) for slot in range(count)],
                    self.contents.flat_inputs(self._read_only), self._generator)
        self._inputs.guard()
        # Last, so that the device's cache holds the same for both sides.
        for name, pieces in self._written.items():
            if name not in self._filled:
                _poison(pieces[:count])
        self._outputs.guard()
        self._choose(count)

    @working()
    def doubtful(self, count: int) -> list[int]:
        """Return the slots whose answers or inputs look wrong after a replay on the first `count` slots; on the host
        all of them. The work does not depend on the result."""
        if self.contents is None:
            return list(range(count))
        assert self._checks is not None
        return self._checks.doubtful([self._answered(slot) for slot in range(count)])

    @working()
    def check(self, count: int, *, sampled: bool = True) -> ReplayFault | None:
        """Return the first error after a replay on the first `count` slots. `sampled`: the replay ended with the copy
        of single elements that `ElementSample` describes."""
        late = self._is_late()
        doubtful = self.doubtful(count)
        # Again after checking the answers: an element written meanwhile is late as well.
        if sampled and bool(late | self._is_late()):
            return ReplayFault("late")
        if (self._outputs.overruns() or (not self._on_host and self._inputs.overruns())
                or any(gaps_written(piece.tensor) for pieces in self._with_gaps for piece in pieces[:count])):
            return ReplayFault("outside")
        return next((wrong for slot in doubtful if (wrong := self._check(slot)) is not None), None)

    @working()
    def close(self) -> None:
        """Free the memory; no executor may have it bound any more."""
        self._checks = None
        for arena in self._arenas:
            arena.close()

    def _arena(
        self, wanted: Sequence[GivenTensor], place: Literal["device", "host"], guard: Literal["nan", "secret"] = "nan",
        *, sparse: bool = False,
    ) -> Arena:
        arena = Arena(wanted, place=place, guard=guard, sparse=sparse)
        self._arenas.append(arena)
        return arena

    def _choose(self, count: int) -> None:
        """Choose new secret places in the first `count` slots' outputs."""
        positions, share = self.sample.positions.tensor, len(self._places) // len(self._written)
        slots, parts = torch.arange(share, device=positions.device) % count, self._places.view(-1, share)
        for part, pieces, starts in zip(parts, self._written.values(), self._starts, strict=True):
            tensor = pieces[0].tensor
            words = -(-memory_span(tensor.shape, tensor.stride()) * tensor.itemsize // WORD)
            part.copy_(starts[slots]).add_(
                torch.randint(words, slots.shape, generator=self._generator, device=positions.device))
        positions.copy_(self._places)

    def _is_late(self) -> Tensor:
        sample = self.sample
        memory = sample.source.memory
        words = memory[: len(memory) // WORD * WORD].view(torch.int32)
        # By the judge's own copy of the places: kernels could have written to `sample.positions`.
        return (words[self._places] != sample.target.tensor).any()

    def _given(self, slot: int) -> Inputs:
        """Return a slot's inputs in shared memory."""
        return {**{name: self._pieces[name][slot].tensor for name in self._filled}, **self._scalars}

    def _answered(self, slot: int) -> Answered:
        """Return a slot's outputs in shared memory."""
        return {name: pieces[slot].tensor for name, pieces in self._written.items()}

    def _renew(self, count: int) -> None:
        """Draw new inputs on the host, or change some elements if the assignment has `renew`."""
        self._drawn = []
        for slot in range(count):
            given = self._given(slot)
            if self._assignment.renew is not None:
                renewal = self._assignment.renew(given, numpy.random.default_rng(secrets.randbits(128)))
                renewal.elements.copy_(renewal.values)
                self._drawn.append(renewal.inputs)
                continue
            drawn = self._assignment.make_inputs(self._case, torch.Generator().manual_seed(secrets.randbits(63)))
            for name in self._filled:
                given[name].copy_(drawn[name])
            self._drawn.append({**drawn, **self._scalars})

    def _check(self, slot: int) -> ReplayFault | None:
        """Compare a slot's whole answers with the right ones for the inputs that were drawn."""
        answered = self._answered(slot)
        if self.contents is None:
            return self._compared(self._drawn[slot], {name: value.cpu() for name, value in answered.items()})
        given = self._given(slot)
        left = {name: given[name].clone() for name in self._filled}
        self.contents.rewrite(slot)
        for name in self._read_only:
            if not same_bits(left[name], given[name]):
                return ReplayFault("input", name)
        return self._compared(given, {**answered, **{name: left[name] for name in answered if name in left}})

    def _compared(self, given: Inputs, answered: Answered) -> ReplayFault | None:
        """Return the first error of a call with the inputs `given` and the outputs `answered`; None if there is
        none."""
        for view in self._assignment.views():
            for first, output, part in in_parts(view, given, answered):
                wrong = _replay_fault(compare(output, *answer_and_tolerance(view, part)), first, view.output.name)
                if wrong is not None:
                    return wrong
        said = objection(self._assignment, given, answered)
        return ReplayFault("statistic", said=said) if said else None


def _poison(pieces: Sequence[Piece]) -> None:
    """Poison an output in neighbouring slots, with the zones between them; or its elements alone, if it has gaps."""
    first, last = pieces[0], pieces[-1]
    if first.tensor.is_contiguous():
        as_integer, bits = POISON[first.tensor.dtype]
        first.arena.memory[first.offset : last.offset + last.tensor.nbytes].view(as_integer).fill_(bits)
        return
    for piece in pieces:
        poison_(piece.tensor)


def _replay_fault(comparison: Comparison, first: int, name: str) -> ReplayFault | None:
    """Return the error in a comparison of a part of an output, which begins at row `first`."""
    if comparison.passed:
        return None
    worst = comparison.worst
    worst = worst.model_copy(update={"index": [worst.index[0] + first, *worst.index[1:]] if worst.index else []})
    return ReplayFault("values", name, count=comparison.count, total=comparison.total,
                       unwritten=comparison.unwritten_count, worst=worst)
