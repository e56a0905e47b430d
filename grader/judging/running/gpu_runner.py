"""Runner of a plan's calls on a GPU: in an executor, on the judge's memory between guard zones."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace

import torch

from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.course.parameters import Inputs, Scalar
from grader.judging.plans.planning import given_tensor
from grader.judging.running.arena import Allocation, Arena, Piece, guard_of
from grader.judging.running.device import working
from grader.judging.running.execution import Executor, Executors, GpuFailure
from grader.judging.running.gpu_lock import GPU_LOCK
from grader.judging.running.simulation import CallResult, fill, result_of_calls, run_on_both_poisons
from grader.plan.compiled import Binary
from grader.plan.messages import GivenTensor
from grader.plan.plan import Place, Plan


class GpuRunner:
    """A runner of one assignment's calls, in one executor until that ends. The first call takes the executor.

    All calls use the same memory, which has room for the largest case. A call may take `seconds`.
    """

    def __init__(self, assignment: Assignment, executors: Executors, *, seconds: float) -> None:
        self._assignment = assignment
        self._executors = executors
        self._seconds = seconds
        self._executor: Executor | None = None
        self._allocations: dict[tuple[Place, bool], Allocation] = {}

    def executor(self) -> Executor:
        """Return a living executor. Raises InfrastructureError."""
        if self._executor is None or self._executor.over:
            self._executor = self._executors.take()
        return self._executor

    def exclusive_executor(self) -> Executor:
        """Return a living executor, once no other one begins or ends on the GPU. Raises InfrastructureError."""
        executor = self.executor()
        self._executors.settle()
        return executor

    def run(
        self, case: Case, plan: Plan, binaries: Sequence[Binary], inputs: Sequence[Inputs]
    ) -> CallResult | GpuFailure:
        """Run the plan's calls one after another, each on a copy of its `inputs` and poisoned outputs, and return the
        last call's answer. One entry in `inputs` runs the first call, two run the steady call after it.

        Raises InfrastructureError, NoRoomError.
        """
        # If a call meets its limit, another lane's kernels may have had the GPU for a part of the time.
        for alone in (False, True) if GPU_LOCK in os.environ else (False,):
            # Before the GPU is held, since an executor may still be starting.
            self.executor()
            with working(alone=alone):
                ran = run_on_both_poisons(lambda other: self._run(case, plan, binaries, inputs, other))
            if not isinstance(ran, GpuFailure) or ran.kind != "time_limit":
                break
        return ran

    def _run(
        self, case: Case, plan: Plan, binaries: Sequence[Binary], inputs: Sequence[Inputs], other: bool
    ) -> CallResult | GpuFailure:
        executor = self.executor()
        slots = self._slots(case, inputs, other)
        started = time.monotonic()
        program = executor.load(plan, binaries)
        if isinstance(program, GpuFailure):
            return program
        lost = executor.bind(slots)
        if lost is not None:
            return lost
        around = executor.run(
            program, len(slots) - 1, first=0 if len(slots) > 1 else None, seconds=self._seconds)
        if isinstance(around, GpuFailure):
            return around
        seconds = time.monotonic() - started
        arenas = {piece.arena for tensors in slots for piece in tensors.values()}
        written = {arena.pieces[index] for arena in arenas for index in arena.overruns()}
        overruns = tuple(name for tensors in slots for name, piece in tensors.items() if piece in written)
        stray = tuple(f"a tensor allocated in line {plan.buffers[number].line}" for number in around)
        return replace(
            result_of_calls(self._assignment, slots, inputs[-1], other=other), printed=executor.printed,
            seconds=seconds, overruns=tuple(dict.fromkeys((*overruns, *stray))))

    def end(self) -> None:
        with working():
            if self._executor is not None:
                self._executor.unbind()
                self._executors.give_back()
                self._executor = None
            while self._allocations:
                self._allocations.popitem()[1].close()
            # Executors and other lanes cannot use memory that torch caches for the judge's next tensors.
            torch.cuda.empty_cache()

    def _slots(self, case: Case, inputs: Sequence[Inputs], other: bool) -> list[dict[str, Piece]]:
        """Return memory for the calls, with copies of their inputs, poisoned outputs and written guard zones."""
        slots: list[dict[str, Piece]] = [{} for _ in inputs]
        for (place, output), wanted in self._given(case).items():
            arena = Arena(
                wanted * len(slots), place=place, guard=guard_of(wanted) if output else "nan",
                allocation=self._allocation(place, output))
            arena.guard()
            pieces = iter(arena.pieces)
            for slot, values in zip(slots, inputs, strict=True):
                for tensor in wanted:
                    piece = slot[tensor.name] = next(pieces)
                    fill(piece.tensor, tensor, values, other=other)
        return slots

    def _allocation(self, place: Place, output: bool) -> Allocation:
        """Return room for two calls of any case."""
        if (place, output) not in self._allocations:
            most = max(
                Arena.most_bytes(self._given(case)[place, output] * 2) for case in self._assignment.cases_for("cuda"))
            self._allocations[place, output] = Allocation(most, place=place, sparse=True)
        return self._allocations[place, output]

    def _given(self, case: Case) -> dict[tuple[Place, bool], list[GivenTensor]]:
        """Return a call's tensors, grouped by their place and by whether they are written."""
        groups: dict[tuple[Place, bool], list[GivenTensor]] = {}
        for parameter in self._assignment.parameters:
            if not isinstance(parameter, Scalar):
                tensor = given_tensor(parameter, case)
                groups.setdefault((tensor.place, tensor.output), []).append(tensor)
        return groups
