"""Simulation of a plan's calls without a GPU: a confined simulator runs them on the judge's memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Protocol, TypeVar

import torch

from grader.course.assignment import Assignment
from grader.course.cases import Case, dtype_of
from grader.course.parameters import Input, Inputs, Output, Scalar
from grader.judging.answers.compare import TELLING, fill_gaps, gaps_written, poison_, poisoned, same_bits
from grader.judging.plans.planning import given_tensor
from grader.judging.plans.preparing import Preparing
from grader.judging.running.allowance import OWN, USED_UP, Allowance
from grader.judging.running.buffers import HostTensor, memory_file
from grader.judging.running.device import turn
from grader.judging.running.lane import Station
from grader.plan import messages
from grader.plan.device import Device
from grader.plan.findings import Access, Finding
from grader.plan.messages import CannotSimulate, Exhausted, GivenTensor
from grader.plan.plan import Plan, write_plan
from grader.plan.traffic import Stored, Watch
from grader.sandbox.forkserver import clock
from grader.sandbox.forkserver.conversation import Conversation, Lost


@dataclass(frozen=True)
class Ran:
    """The outcome of a call: its `outputs` by name, copied out of the process's reach, the names of inputs that have
    `changed`, and a simulator's findings and accesses. `seconds` is the time that the call took. `touched` are tensors
    next to which the call wrote, `between` tensors between whose elements it wrote. `unwritten` marks elements that
    were never written, for outputs whose bits do not show that; `stored` is what a `Watch` asked for."""

    outputs: Mapping[str, torch.Tensor]
    changed: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    accesses: tuple[Access, ...] = ()
    printed: str = ""
    seconds: float = 0.0
    touched: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    unwritten: Mapping[str, torch.Tensor] = field(default_factory=dict)
    stored: tuple[Stored, ...] = ()

    @property
    def one_element(self) -> bool:
        """Return whether each output is a single element, which is little evidence."""
        return all(output.numel() == 1 for output in self.outputs.values())

    def same_answer(self, other: Ran) -> bool:
        return all(same_bits(output, other.outputs[name]) for name, output in self.outputs.items())


@dataclass(frozen=True)
class Manner:
    """The manner in which calls are simulated; `PLAIN` is the usual one. The fields are those of
    `messages.Simulate`."""

    masked: list[int] | None = None
    order: list[int] | None = None
    early: list[int] = field(default_factory=list)
    twice: list[int] = field(default_factory=list)
    elsewhere: list[messages.Elsewhere] = field(default_factory=list)
    erring: list[int] = field(default_factory=list)
    registers: dict[int, int] = field(default_factory=dict)
    unwritten: int = 0
    resident: int = 0
    watch: Watch | None = None


PLAIN = Manner()
OPERATIONS = 4_000_000_000
"""Most element operations of a simulated call, which take ten seconds and more."""
NotRan = TypeVar("NotRan")


def ran_on_both(run: Callable[[bool], Ran | NotRan]) -> Ran | NotRan:
    """Run a call once on poisoned outputs, `run(False)`. If an answer may legitimately hold the poison's bytes, run the
    call again on the other poison, `run(True)`: an element that holds the poison both times was never written."""
    ran = run(False)
    if not isinstance(ran, Ran):
        return ran
    doubtful = [name for name, output in ran.outputs.items()
                if output.dtype not in TELLING and bool(poisoned(output).any())]
    if not doubtful:
        return ran
    again = run(True)
    if not isinstance(again, Ran):
        return again
    return replace(ran, unwritten={name: poisoned(ran.outputs[name]) & poisoned(again.outputs[name], other=True)
                                   for name in doubtful})


class InMemory(Protocol):
    @property
    def tensor(self) -> torch.Tensor: ...


def fill(tensor: torch.Tensor, given: GivenTensor, inputs: Inputs, *, other: bool) -> None:
    """Put a call's input into its memory, or poison into that of an output."""
    fill_gaps(tensor, other=other)
    if given.filled:
        tensor.copy_(inputs[given.name])
    else:
        poison_(tensor, other=other)


def left_by(
    assignment: Assignment, calls: Sequence[Mapping[str, InMemory]], inputs: Inputs, *, other: bool,
) -> Ran:
    """Return what calls left in their memory: the last one's outputs, and which inputs and gaps they have changed.
    `inputs` are the last call's."""
    last = calls[-1]
    changed = tuple(p.name for p in assignment.parameters
                    if isinstance(p, Input) and not same_bits(last[p.name].tensor, inputs[p.name]))
    between = [name for call in calls for name, one in call.items() if gaps_written(one.tensor, other=other)]
    return Ran({output.name: last[output.name].tensor.clone() for output in assignment.outputs}, changed,
               between=tuple(dict.fromkeys(between)))


class Simulation:
    """A runner of calls in one simulator as long as that lives. The first call starts the simulator.

    The simulator is that of the file that `preparing` is for, or of another `language`. A call may take `operations`
    element operations and `seconds`. `on` is the simulated device, `allowance` bounds all calls together, and the
    simulator is a process of `station`; the defaults are the device of `preparing`, no bound, and the station of
    `preparing`.
    """

    def __init__(
        self, preparing: Preparing, language: str = "", *, operations: int = OPERATIONS, seconds: float,
        on: Device | None = None, allowance: Allowance | None = None, station: Station | None = None,
    ) -> None:
        self._station = preparing.station if station is None else station
        self._allowance = Allowance(inf) if allowance is None else allowance
        self._preparing, self._language = preparing, language
        self._on = preparing.device if on is None else on
        self._operations = operations
        self._seconds = seconds
        self._open: list[Conversation] = []

    def under(self, allowance: Allowance, station: Station | None = None) -> Simulation:
        """Return the same simulation with another budget for its calls: in the same simulator, or in one of another
        station."""
        other = copy(self)
        other._allowance = allowance
        if station not in (None, self._station):
            other._station, other._open = station, []
        return other

    def run(
        self, assignment: Assignment, case: Case, plan: Plan, inputs: Sequence[Inputs], manner: Manner = PLAIN
    ) -> Ran | CannotSimulate | Exhausted | Lost:
        """Run the plan's calls one after another, each on a copy of its `inputs` and poisoned outputs. Returns the
        outcome of the last call: one element of `inputs` runs the first call, two run the steady call after it.

        Raises InfrastructureError, NoRoomError.
        """
        with turn():
            here = [{name: value.cpu() if isinstance(value, torch.Tensor) else value for name, value in one.items()}
                    for one in inputs]
        return ran_on_both(lambda other: self._run(assignment, case, plan, here, manner, other))

    def inspect(
        self, assignment: Assignment, plan: Plan, watch: Watch, *, operations: int,
        memory: Mapping[str, HostTensor] | None = None,
    ) -> messages.Simulated | CannotSimulate | Exhausted | Lost:
        """Run a part of the plan's first call, of at most `operations`. `memory` has tensors by parameter; without it,
        inputs are zeros that take no memory. Returns what `watch` asks for. Raises InfrastructureError."""
        sizes = {buffer.given: buffer.bytes for buffer in plan.buffers if buffer.given}
        zeros: list[int] = []
        try:
            if memory is None:
                zeros += [memory_file(size) for size in sizes.values()]
            reply, _ = self._ask(
                assignment, plan, zeros if memory is None else [memory[name].descriptor for name in sizes],
                sum(sizes.values()), operations=operations, watch=watch)
            return reply
        finally:
            for file in zeros:
                os.close(file)

    def _run(
        self, assignment: Assignment, case: Case, plan: Plan, inputs: Sequence[Inputs], manner: Manner, other: bool
    ) -> Ran | CannotSimulate | Exhausted | Lost:
        calls: list[dict[str, HostTensor]] = []
        try:
            for one in inputs:
                calls.append({})
                _share(assignment, case, one, calls[-1], other)
            given = [tensor for shared in calls for tensor in shared.values()]
            reply, seconds = self._ask(
                assignment, plan, [tensor.descriptor for tensor in given],
                sum(tensor.tensor.untyped_storage().nbytes() for tensor in given), call=1 if len(calls) > 1 else 0,
                operations=self._operations, **vars(manner))
            if not isinstance(reply, messages.Simulated):
                return reply
            return replace(
                left_by(assignment, calls, inputs[-1], other=other), findings=tuple(reply.findings),
                accesses=tuple(reply.accesses), printed=reply.printed, seconds=seconds, stored=tuple(reply.stored))
        finally:
            for shared in calls:
                for tensor in shared.values():
                    tensor.close()

    def _ask(
        self, assignment: Assignment, plan: Plan, memory: Sequence[int], size: int, *, watch: Watch | None = None,
        **asked: Any,
    ) -> tuple[messages.Simulated | CannotSimulate | Exhausted | Lost, float]:
        """Return the simulator's answer and the seconds that it took. `size` is the shared memory in bytes, `asked` are
        fields of `messages.Simulate`. A `watch` concerns the output that `assignment` is about."""
        if watch is not None:
            watch = watch.model_copy(update={"output": assignment.output.name})
        text = write_plan(plan)
        file = memory_file(contents=text)
        try:
            with self._station.turn, self._allowance.spend(self._seconds) as seconds:
                if not seconds:
                    return USED_UP, 0.0
                if not self._open or self._open[-1].over:
                    self._open[:] = [self._preparing.start("simulator", self._language, self._station)]
                (conversation,) = self._open
                conversation.give(size)
                started = clock.now()
                reply = conversation.ask(
                    messages.Simulate(
                        seq=conversation.next_seq(), bytes=len(text), device=self._on, seconds=OWN * seconds,
                        outputs=[one.name for one in assignment.outputs if isinstance(one, Output)], watch=watch,
                        **asked),
                    messages.SIMULATOR_REPLY, seconds=seconds, descriptors=[file, *memory])
                taken = clock.now() - started
        finally:
            os.close(file)
        if isinstance(reply, Lost):
            self.end()
            if self._allowance.left <= 0:
                reply = USED_UP
        elif isinstance(reply, Exhausted) and reply.what == "time" and seconds < self._seconds:
            reply = USED_UP
        return reply, taken

    def end(self) -> None:
        """End the simulator. If another thread holds the station's lock, do nothing: a station has one confined
        process, so the other thread's replaces the simulator."""
        turn = self._station.turn
        if turn.acquire(blocking=False):
            try:
                while self._open:
                    self._open.pop().end()
            finally:
                turn.release()


def _share(assignment: Assignment, case: Case, inputs: Inputs, into: dict[str, HostTensor], other: bool) -> None:
    """Fill `into` with shared memory for the tensors of a call, by name: a copy of `inputs`, and poisoned outputs."""
    for parameter in assignment.parameters:
        if isinstance(parameter, Scalar):
            continue
        given = given_tensor(parameter, case)
        tensor = into[parameter.name] = HostTensor(given.shape, dtype_of(parameter, case), given.strides)
        fill(tensor.tensor, given, inputs, other=other)
