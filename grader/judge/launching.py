"""A plan's calls run on a GPU: by an executor, on the judge's memory between guard zones."""

from __future__ import annotations

import time
from collections.abc import Sequence

from grader.assignment import Assignment, Case, Input, Inputs, Scalar
from grader.judge.arena import Arena, Piece
from grader.judge.compare import poison_, same_bits
from grader.judge.execution import Executor, Executors, Lost
from grader.judge.planning import Wanted, given_of
from grader.judge.simulation import Ran
from grader.plan.compiled import Binary
from grader.plan.messages import GivenTensor
from grader.plan.plan import Plan


class Launching:
    """Runs calls of one submission in one executor as long as that lives, and takes one when there is something to run.

    `seconds` is how long a call may take.
    """

    def __init__(self, executors: Executors, *, seconds: float) -> None:
        self._executors = executors
        self._seconds = seconds
        self._executor: Executor | None = None

    def executor(self) -> Executor:
        """A living one. Raises InfrastructureError."""
        if self._executor is None or self._executor.over:
            self._executor = self._executors.take()
        return self._executor

    def run(
        self, assignment: Assignment, case: Case, plan: Plan, binaries: Sequence[Binary], inputs: Sequence[Inputs]
    ) -> Ran | Lost:
        """Runs the plan's calls one after another, each on a copy of its `inputs` and an output full of NaN, and
        returns what the last one left: one of inputs is the first call, two are the steady call after it.

        Raises InfrastructureError, BufferError.
        """
        executor = self.executor()
        arenas: list[Arena] = []
        try:
            slots = [_slot(assignment, case, one, arenas) for one in inputs]
            started = time.monotonic()
            program = executor.load(plan, binaries)
            if isinstance(program, Lost):
                return program
            lost = executor.bind(slots)
            if lost is not None:
                return lost
            done = executor.run(
                program, len(slots) - 1, first=0 if len(slots) > 1 else None, seconds=self._seconds)
            if isinstance(done, Lost):
                return done
            seconds = time.monotonic() - started
            slot = slots[-1]
            changed = tuple(
                p.name for p in assignment.parameters
                if isinstance(p, Input) and not same_bits(slot[p.name].tensor, inputs[-1][p.name]))
            touched = tuple(
                name for one in slots for name, piece in one.items()
                if piece.arena.pieces.index(piece) in piece.arena.touched())
            stray = tuple(f"a tensor allocated in line {plan.buffers[number].line}" for number in done.touched)
            return Ran(
                slot[assignment.output.name].tensor.clone(), changed, (), executor.printed, seconds,
                tuple(dict.fromkeys((*touched, *stray))))
        finally:
            if not executor.over:
                executor.bind([])
            for arena in arenas:
                arena.close()

    def end(self) -> None:
        if self._executor is not None:
            self._executor.close()
            self._executor = None


def _slot(assignment: Assignment, case: Case, inputs: Inputs, arenas: list[Arena]) -> dict[str, Piece]:
    """Memory for one call: its inputs, as given, and an output full of NaN. Guard zones are written."""
    scalars = {p.name: inputs[p.name] for p in assignment.parameters if isinstance(p, Scalar)}
    given = [one for one in given_of(assignment, Wanted(case, scalars, debug=False)) if isinstance(one, GivenTensor)]
    slot: dict[str, Piece] = {}
    for group in (
        [one for one in given if not one.output and one.place == "device"],
        [one for one in given if not one.output and one.place == "host"], [one for one in given if one.output],
    ):
        if not group:
            continue
        arena = Arena(group, place=group[0].place, guard="secret" if group[0].output else "nan")
        arenas.append(arena)
        arena.guard()
        for one, piece in zip(group, arena.pieces, strict=True):
            slot[one.name] = piece
            if one.output:
                poison_(piece.tensor)
            else:
                piece.tensor.copy_(inputs[one.name])
    return slot
