"""The pool: memory for the timed calls of both sides, as slots of distinct inputs with their outputs.

No contents are seen twice: before each replay inputs are drawn anew, and outputs and guard zones are rewritten. Both
sides use the same memory in turn, so that their ratio does not depend on its place.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy
import torch
from torch import Tensor

from grader.judge.arena import Arena, Piece
from grader.judge.buffers import DTYPES
from grader.judge.compare import POISON, Comparison, compare, same_bits
from grader.judge.execution import Look, Slot
from grader.judge.planning import given_tensor
from grader.judge.timing.checks import Checks, Laid
from grader.kit.inputs import Spread, Tables, partner_tables, tables
from grader.model.assignment import Assignment
from grader.model.cases import Case, shape_of
from grader.model.catalogue import answer_and_tolerance
from grader.model.parameters import Input, Inputs, Scalar
from grader.model.result import Worst
from grader.plan.messages import GivenTensor

# Elements of each output, at secret places, that are sampled while the clock runs.
LOOKED_AT = 1024
# float64 elements of an answer that are compared at a time: comparing takes some ten times their memory.
CHUNK = 1 << 24


@dataclass(frozen=True)
class Wrong:
    """An error found after a replay.

    "values": `count` of `total` elements of a slot are wrong, `unwritten` of them were never written, and `worst` is
    the worst; "late": an output was written after the end; "outside": memory next to a tensor was written; "input": the
    input `name` was changed.
    """

    what: Literal["values", "late", "outside", "input"]
    name: str = ""
    count: int = 0
    total: int = 0
    unwritten: int = 0
    worst: Worst | None = None


def slot_bytes(assignment: Assignment, case: Case, only: Collection[str] | None = None) -> int:
    """Bytes of a slot, or of its tensors named in `only`."""
    return sum(
        math.prod(shape_of(p, case)) * DTYPES[p.dtype].itemsize
        for p in assignment.parameters if not isinstance(p, Scalar) and (only is None or p.name in only))


class Pool:
    """`count` slots for a case, on a GPU, or all on the host. Raises NoRoomError if there is no memory."""

    def __init__(self, assignment: Assignment, case: Case, count: int, *, cuda: bool) -> None:
        self.count = count
        self._assignment, self._case = assignment, case
        # The numbers of the side whose calls come next.
        self._scalars: Mapping[str, float] = {}
        self._generator = torch.Generator("cuda" if cuda else "cpu").manual_seed(secrets.randbits(63))
        given = [given_tensor(p, case) for p in assignment.parameters if not isinstance(p, Scalar)]
        read = [tensor for tensor in given if not tensor.output]
        written = next(tensor for tensor in given if tensor.output)
        self._names = [tensor.name for tensor in read]
        self._on_host = not cuda or read[0].place == "host"
        desk = [GivenTensor(name="positions", shape=[count * LOOKED_AT], dtype="int64"),
                GivenTensor(name="target", shape=[count * LOOKED_AT], dtype=written.dtype)]
        place: Literal["device", "host"] = "device" if cuda else "host"
        self._arenas: list[Arena] = []
        try:
            self._inputs = self._arena(
                read * count, "host" if self._on_host else "device", sparse=assignment.renew is not None)
            self._outputs = self._arena([written] * count, place, "secret")
            self.look = Look(self._outputs, *self._arena(desk, place).pieces)
        except BaseException:
            self.close()
            raise
        # The seeds of the last contents, from which they can be made again.
        self._seeds: list[int] = []
        self.fused: Fused | None = None
        if not self._on_host:
            self.fused = Fused(assignment, case, self._inputs, self._names, self._generator)
        self._answers: list[tuple[Tensor, Tensor | None]] = []
        self._checks: Checks | None = None
        self._starts = torch.tensor(
            [Look.position(piece, 0) for piece in self._outputs.pieces], device=self._generator.device)
        self._places = torch.zeros_like(self.look.positions.tensor)

    def slots(self) -> list[Slot]:
        """The tensors of each slot's call."""
        step, output = len(self._names), self._assignment.output.name
        return [
            {**dict(zip(self._names, self._inputs.pieces[i * step : (i + 1) * step], strict=True)),
             output: self._outputs.pieces[i]}
            for i in range(self.count)]

    def draw(self, count: int, scalars: Mapping[str, float], *, expect: bool = True) -> None:
        """Draws new contents for the first `count` slots. `scalars` are the numbers of the side whose calls come next.

        With `expect`, `check` can check the answers to them.
        """
        self._scalars = scalars
        if self.fused is not None:
            self.fused.renew(count)
            if expect:
                self._checks = Checks(
                    self._assignment, [self._given(slot) for slot in range(count)], self.fused.laid,
                    shape_of(self._assignment.output, self._case)[0], self._generator)
        else:
            self._renew(count)
        self._inputs.guard()
        # Last, so that the device's cache holds the same for both sides.
        outputs = self._outputs
        last = outputs.pieces[count - 1]
        as_integer, bits = POISON[last.tensor.dtype]
        end = last.offset + last.tensor.nbytes
        outputs.memory[: end // last.tensor.itemsize * last.tensor.itemsize].view(as_integer).fill_(bits)
        outputs.guard()
        self._choose(count)

    def doubtful(self, count: int) -> list[int]:
        """The slots whose answers or inputs look wrong after a replay on the first `count` slots; on the host all of
        them. The work does not depend on the result."""
        if self.fused is None:
            return list(range(count))
        assert self._checks is not None
        return self._checks.doubtful([piece.tensor for piece in self._outputs.pieces[:count]])

    def check(self, count: int, *, looked: bool = True) -> Wrong | None:
        """The first error after a replay on the first `count` slots. `looked`: the replay ended with a look."""
        late = self._is_late()
        doubtful = self.doubtful(count)
        # Again after checking the answers: an element written meanwhile is late as well.
        if looked and bool(late | self._is_late()):
            return Wrong("late")
        if self._outputs.touched() or (not self._on_host and self._inputs.touched()):
            return Wrong("outside")
        return next((wrong for slot in doubtful if (wrong := self._check(slot)) is not None), None)

    def close(self) -> None:
        """Frees the memory; no executor may have it bound any more."""
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
        """Chooses new secret places in the first `count` outputs."""
        positions, output = self.look.positions.tensor, self._outputs.pieces[0].tensor
        slots = torch.arange(len(positions), device=positions.device) % count
        places = torch.randint(output.numel(), slots.shape, generator=self._generator, device=positions.device)
        self._places = self._starts[slots] + places
        positions.copy_(self._places)

    def _is_late(self) -> Tensor:
        look = self.look
        as_integer, _ = POISON[look.target.tensor.dtype]
        size = look.target.tensor.itemsize
        memory = look.source.memory
        flat = memory[: len(memory) // size * size].view(as_integer)
        # By our own copy of the places: kernels could have written the other one.
        return (flat[self._places] != look.target.tensor.view(as_integer)).any()

    def _given(self, slot: int) -> Inputs:
        """A slot's inputs in shared memory."""
        pieces: Sequence[Piece] = self._inputs.pieces[slot * len(self._names) : (slot + 1) * len(self._names)]
        return {**{name: piece.tensor for name, piece in zip(self._names, pieces, strict=True)}, **self._scalars}

    def _renew(self, count: int) -> None:
        """On the host: draws new inputs, or changes some elements if the assignment has `renew`; keeps the answers."""
        self._answers = []
        self._seeds = [secrets.randbits(63) for _ in range(count)]
        for slot, seed in enumerate(self._seeds):
            given = self._given(slot)
            if self._assignment.renew is not None:
                renewal = self._assignment.renew(given, numpy.random.default_rng(secrets.randbits(128)))
                renewal.elements.copy_(renewal.values)
                self._answers.append(answer_and_tolerance(self._assignment, renewal.inputs))
                continue
            drawn = self._assignment.make_inputs(self._case, torch.Generator().manual_seed(seed))
            for name in self._names:
                given[name].copy_(drawn[name])
            self._answers.append(answer_and_tolerance(self._assignment, {**drawn, **self._scalars}))

    def _check(self, slot: int) -> Wrong | None:
        """Compares a slot's whole answer with the right one for the inputs that were drawn."""
        output = self._outputs.pieces[slot].tensor
        if self.fused is None:
            return _wrong(compare(output.cpu(), *self._answers[slot]))
        given = self._given(slot)
        left = {name: given[name].clone() for name in self._names}
        self.fused.again()
        for name, value in left.items():
            if not same_bits(value, given[name]):
                return Wrong("input", name)
        rows_of, rows = self._assignment.rows, output.shape[0]
        step = rows if rows_of is None else max(1, CHUNK * rows // output.numel())
        for first in range(0, rows, step):
            part = slice(first, min(rows, first + step))
            inputs = given if rows_of is None else rows_of(given, part)
            wrong = _wrong(compare(output[part], *answer_and_tolerance(self._assignment, inputs)), first)
            if wrong is not None:
                return wrong
        return None


class Fused:
    """Draws device inputs of many slots at once, each tensor in one launch, from secret keys."""

    def __init__(
        self, assignment: Assignment, case: Case, arena: Arena, names: Sequence[str], generator: torch.Generator
    ) -> None:
        # A module of kernels: slow to import, and of use on a GPU only.
        from grader.kit.fused import draw_all

        assert assignment.distributions is not None, f"{assignment.name} is timed: distributions expected"
        self._draw_all = draw_all
        self._generator = generator
        self._distributions = assignment.distributions(case)
        self._shapes = {p.name: shape_of(p, case) for p in assignment.parameters if isinstance(p, Input)}
        self._laid: dict[str, Laid] = {}
        for number, name in enumerate(names):
            pieces = arena.pieces[number :: len(names)]
            tensor = pieces[0].tensor
            memory = arena.memory[: len(arena.memory) // tensor.itemsize * tensor.itemsize].view(tensor.dtype)
            starts = torch.tensor([piece.offset // tensor.itemsize for piece in pieces], device=generator.device)
            self._laid[name] = Laid(memory, starts, tensor.numel())
        self._keys: dict[str, Tensor] = {}
        self._tables: dict[str, Tables] = {}

    @property
    def laid(self) -> list[Laid]:
        return list(self._laid.values())

    def renew(self, count: int) -> None:
        partners = partner_tables(self._distributions, self._shapes, count, self._generator)
        for name in self._laid:
            drawn = bytearray(secrets.token_bytes(8 * count))
            self._keys[name] = torch.frombuffer(drawn, dtype=torch.int64).to(self._generator.device)
            distribution = self._distributions[name]
            if isinstance(distribution, Spread):
                self._tables[name] = tables(
                    distribution, self._shapes[name], count, partners.get(name), self._generator)
        self.again()

    def again(self) -> None:
        """Writes the same contents once more."""
        for name, laid in self._laid.items():
            self._draw_all(
                self._distributions[name], self._shapes[name], laid.memory, laid.starts, self._keys[name],
                self._tables.get(name))


def _wrong(comparison: Comparison, first: int = 0) -> Wrong | None:
    """The error in a comparison of a part of the output, which begins at row `first`."""
    if comparison.passed:
        return None
    worst = comparison.worst
    worst = worst.model_copy(update={"index": [worst.index[0] + first, *worst.index[1:]]})
    return Wrong("values", count=comparison.count, total=comparison.total, unwritten=comparison.unwritten_count,
                 worst=worst)
