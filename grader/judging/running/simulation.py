"""Simulation of a plan's calls without a GPU: a confined simulator runs them on the judge's memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal, Protocol, TypeVar

import torch

from grader.course.assignment import Assignment
from grader.course.cases import Case, dtype_of
from grader.course.parameters import Input, Inputs, Output, Scalar
from grader.judging.answers.compare import UNAMBIGUOUS, fill_gaps, gaps_written, poison_, poison_mask, same_bits
from grader.judging.plans.planning import given_tensor
from grader.judging.plans.toolchain import Toolchain
from grader.judging.running.buffers import HostTensor, memory_file
from grader.judging.running.device import working
from grader.judging.running.fork_servers import LaneForkServer
from grader.judging.running.time_budget import OWN, USED_UP, TimeBudget
from grader.plan import messages
from grader.plan.device import Device
from grader.plan.findings import Access, Finding
from grader.plan.messages import PLAIN, CannotSimulate, Exhausted, GivenTensor, RunOptions
from grader.plan.plan import Plan, write_plan
from grader.plan.traffic import LastStores, Watch
from grader.sandbox.forkserver import clock
from grader.sandbox.forkserver.conversation import Conversation, LostAnswer


@dataclass(frozen=True)
class CallResult:
    """The outcome of a call: its `outputs` by name, copied out of the process's reach, the names of inputs that have
    `changed`, and a simulator's findings and accesses. `seconds` is the time that the call took. `overruns` are tensors
    next to which the call wrote, `between` tensors between whose elements it wrote. `unwritten` marks elements that
    were never written, in outputs whose bits do not show it; `stored` is what a `Watch` asked for."""

    outputs: Mapping[str, torch.Tensor]
    changed: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    accesses: tuple[Access, ...] = ()
    printed: str = ""
    seconds: float = 0.0
    overruns: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    unwritten: Mapping[str, torch.Tensor] = field(default_factory=dict)
    stored: tuple[LastStores, ...] = ()

    @property
    def one_element(self) -> bool:
        """Return whether each output is a single element, which is little evidence."""
        return all(output.numel() == 1 for output in self.outputs.values())

    def same_answer(self, other: CallResult) -> bool:
        return all(same_bits(output, other.outputs[name]) for name, output in self.outputs.items())


OPERATIONS = 4_000_000_000
"""Most element operations of a simulated call, which take ten seconds and more."""
NoResult = TypeVar("NoResult")


def run_on_both_poisons(run: Callable[[bool], CallResult | NoResult]) -> CallResult | NoResult:
    """Run a call once on poisoned outputs, `run(False)`. If an answer may legitimately hold the poison's bytes, run the
    call again on the other poison, `run(True)`: an element that holds the poison both times was never written."""
    result = run(False)
    if not isinstance(result, CallResult):
        return result
    doubtful = [name for name, output in result.outputs.items()
                if output.dtype not in UNAMBIGUOUS and bool(poison_mask(output).any())]
    if not doubtful:
        return result
    again = run(True)
    if not isinstance(again, CallResult):
        return again
    return replace(result, unwritten={
        name: poison_mask(result.outputs[name]) & poison_mask(again.outputs[name], other=True) for name in doubtful})


class TensorHolder(Protocol):
    @property
    def tensor(self) -> torch.Tensor: ...


def fill(tensor: torch.Tensor, given: GivenTensor, inputs: Inputs, *, other: bool) -> None:
    """Put a call's input into its memory, or poison into that of an output."""
    fill_gaps(tensor, other=other)
    if given.filled:
        tensor.copy_(inputs[given.name])
    else:
        poison_(tensor, other=other)


def result_of_calls(
    assignment: Assignment, calls: Sequence[Mapping[str, TensorHolder]], inputs: Inputs, *, other: bool,
) -> CallResult:
    """Return what calls left in their memory: the last one's outputs, and which inputs and gaps they have changed.
    `inputs` are the last call's."""
    last = calls[-1]
    changed = tuple(p.name for p in assignment.parameters
                    if isinstance(p, Input) and not same_bits(last[p.name].tensor, inputs[p.name]))
    between = [name for call in calls for name, holder in call.items() if gaps_written(holder.tensor, other=other)]
    return CallResult({output.name: last[output.name].tensor.clone() for output in assignment.outputs}, changed,
               between=tuple(dict.fromkeys(between)))


class Simulation:
    """A runner of calls in one simulator as long as that lives. The first call starts the simulator.

    The simulator is that of the file that `toolchain` is for, or of another `language`. A call may take `operations`
    element operations and `seconds`. `on` is the simulated device, `budget` bounds all calls together, and the
    simulator is a process of `fork_server`; the defaults are the device of `toolchain`, no bound, and the fork server
    of `toolchain`.
    """

    def __init__(
        self, toolchain: Toolchain, language: str = "", *, operations: int = OPERATIONS, seconds: float,
        on: Device | None = None, budget: TimeBudget | None = None, fork_server: LaneForkServer | None = None,
    ) -> None:
        self._fork_server = toolchain.fork_server if fork_server is None else fork_server
        self._budget = TimeBudget(inf) if budget is None else budget
        self._toolchain, self._language = toolchain, language
        self._on = toolchain.device if on is None else on
        self._operations = operations
        self._seconds = seconds
        self._open: list[Conversation] = []

    def under(self, budget: TimeBudget, fork_server: LaneForkServer | None = None) -> Simulation:
        """Return the same simulation with another budget for its calls: in the same simulator, or in one of another
        fork server."""
        simulation = copy(self)
        simulation._budget = budget
        if fork_server not in (None, self._fork_server):
            simulation._fork_server, simulation._open = fork_server, []
        return simulation

    def run(
        self, assignment: Assignment, case: Case, plan: Plan, inputs: Sequence[Inputs], options: RunOptions = PLAIN
    ) -> CallResult | CannotSimulate | Exhausted | LostAnswer:
        """Run the plan's calls one after another, each on a copy of its `inputs` and poisoned outputs. Returns the
        outcome of the last call: one element of `inputs` runs the first call, two run the steady call after it.

        Raises InfrastructureError, NoRoomError.
        """
        with working():
            here = [{name: value.cpu() if isinstance(value, torch.Tensor) else value for name, value in tensors.items()}
                    for tensors in inputs]
        return run_on_both_poisons(lambda other: self._run(assignment, case, plan, here, options, other))

    def inspect(
        self, assignment: Assignment, plan: Plan, watch: Watch, *, operations: int,
        memory: Mapping[str, HostTensor] | None = None,
    ) -> messages.Simulated | CannotSimulate | Exhausted | LostAnswer:
        """Run a part of the plan's first call, of at most `operations`. `memory` has tensors by parameter; without it,
        inputs are zeros that take no memory. Returns what `watch` asks for. Raises InfrastructureError."""
        sizes = {buffer.given: buffer.bytes for buffer in plan.buffers if buffer.given}
        zeros: list[int] = []
        try:
            if memory is None:
                zeros += [memory_file(size) for size in sizes.values()]
            reply, _ = self._ask(
                assignment, plan, zeros if memory is None else [memory[name].descriptor for name in sizes],
                sum(sizes.values()), operations=operations, options=RunOptions(watch=watch))
            return reply
        finally:
            for file in zeros:
                os.close(file)

    def _run(
        self, assignment: Assignment, case: Case, plan: Plan, inputs: Sequence[Inputs], options: RunOptions, other: bool
    ) -> CallResult | CannotSimulate | Exhausted | LostAnswer:
        calls: list[dict[str, HostTensor]] = []
        try:
            for tensors in inputs:
                calls.append({})
                _share(assignment, case, tensors, calls[-1], other)
            given = [tensor for shared in calls for tensor in shared.values()]
            reply, seconds = self._ask(
                assignment, plan, [tensor.descriptor for tensor in given],
                sum(tensor.tensor.untyped_storage().nbytes() for tensor in given), call=1 if len(calls) > 1 else 0,
                operations=self._operations, options=options)
            if not isinstance(reply, messages.Simulated):
                return reply
            return replace(
                result_of_calls(assignment, calls, inputs[-1], other=other), findings=tuple(reply.findings),
                accesses=tuple(reply.accesses), printed=reply.printed, seconds=seconds, stored=tuple(reply.stored))
        finally:
            for shared in calls:
                for tensor in shared.values():
                    tensor.close()

    def _ask(
        self, assignment: Assignment, plan: Plan, memory: Sequence[int], size: int, *, operations: int,
        options: RunOptions, call: Literal[0, 1] = 0,
    ) -> tuple[messages.Simulated | CannotSimulate | Exhausted | LostAnswer, float]:
        """Return the simulator's answer and the seconds that it took. `size` is the shared memory in bytes; the
        last three are as in `messages.Simulate`. A watch concerns the output that `assignment` is about."""
        if options.watch is not None:
            watch = options.watch.model_copy(update={"output": assignment.output.name})
            options = options.model_copy(update={"watch": watch})
        text = write_plan(plan)
        file = memory_file(contents=text)
        try:
            with self._fork_server.lock, self._budget.spend(self._seconds) as seconds:
                if not seconds:
                    return USED_UP, 0.0
                if not self._open or self._open[-1].over:
                    self._open[:] = [self._toolchain.start("simulator", self._language, self._fork_server)]
                (conversation,) = self._open
                conversation.give(size)
                started = clock.now()
                reply = conversation.ask(
                    messages.Simulate(
                        seq=conversation.next_seq(), bytes=len(text), device=self._on, seconds=OWN * seconds,
                        outputs=[parameter.name for parameter in assignment.outputs
                                 if isinstance(parameter, Output)],
                        operations=operations, options=options, call=call),
                    messages.SIMULATOR_REPLY, seconds=seconds, descriptors=[file, *memory])
                taken = clock.now() - started
        finally:
            os.close(file)
        if isinstance(reply, LostAnswer):
            self.end()
            if self._budget.left <= 0:
                reply = USED_UP
        elif isinstance(reply, Exhausted) and reply.what == "time" and seconds < self._seconds:
            reply = USED_UP
        return reply, taken

    def end(self) -> None:
        """End the simulator. If another thread holds the fork server's lock, do nothing: that thread's process replaces
        the simulator."""
        if self._fork_server.lock.acquire(blocking=False):
            try:
                while self._open:
                    self._open.pop().end()
            finally:
                self._fork_server.lock.release()


def _share(assignment: Assignment, case: Case, inputs: Inputs, into: dict[str, HostTensor], other: bool) -> None:
    """Fill `into` with shared memory for the tensors of a call, by name: a copy of `inputs`, and poisoned outputs."""
    for parameter in assignment.parameters:
        if isinstance(parameter, Scalar):
            continue
        given = given_tensor(parameter, case)
        tensor = into[parameter.name] = HostTensor(given.shape, dtype_of(parameter, case), given.strides)
        fill(tensor.tensor, given, inputs, other=other)
