"""The speed of one case: student against baseline, by replay, with every answer of the student's checked.

No process of the submission is alive meanwhile: its kernels are launched by an executor of ours, as CUDA graphs where
all is on the device, so that what is measured is the device's time.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from grader.engine.forkserver.handle import InfrastructureError
from grader.judge.device import Memory
from grader.judge.execution import Executor, Lost
from grader.judge.timing import baselines as ours
from grader.judge.timing import fitness, roofline
from grader.judge.timing.baselines import COMPILED, EAGER, Baselines
from grader.judge.timing.paired import Block, Blocks, OutOfTime, block, paired, warmed
from grader.judge.timing.pool import Pool, Wrong, slot_bytes
from grader.judge.timing.replays import Replays
from grader.model.assignment import Assignment, Case, Input, TimedCase
from grader.model.course import Threshold
from grader.model.estimate import Estimate, estimate, settled, straddles
from grader.model.result import Interval, Timing
from grader.plan.compiled import Binary
from grader.plan.plan import Plan

# Whatever a replay's length, its time wavers by some 10 µs on an H200: 1 % of what 6 GiB of slots take to be read and
# written there.
POOL_BYTES = 12 << 30
# Host memory takes longer: a page of it is made when it is touched.
HOST_POOL_BYTES, MOST_HOST_SLOTS = 16 << 30, 12
FEWEST_SLOTS, MOST_SLOTS = 4, 256
# What the calls of one replay touch passes through the device's last cache so many times over.
CACHES = 4
# Share of free memory given to the pool; checking needs the rest.
MEMORY_SHARE = 0.4
# Of what is reported beside the baseline.
REPORTED_REPLAYS = 3
# A power-bound device that was at work so long ago is at its pace still.
WARM_SECONDS = 2.0
# An interval this narrow, which leaves no threshold open, needs no further blocks.
WIDTH = 2e-3
# So many tries an unfit machine gets, or a baseline slower than before.
TRIES = 3
BASELINE_SECONDS = 180.0

T = TypeVar("T")


def fitting(assignment: Assignment, case: TimedCase, free: Memory) -> tuple[Case, int]:
    """The largest of the case and its smaller siblings whose pool fits into a GPU's machine, and its number of slots.

    Raises InfrastructureError if none fits.
    """
    on_host = {p.name for p in assignment.parameters if isinstance(p, Input)} if assignment.on_host else set()
    for one in case.siblings():
        whole = slot_bytes(assignment, one)
        host = slot_bytes(assignment, one, only=on_host)
        least = max(FEWEST_SLOTS, math.ceil(CACHES * free.cache / whole))
        pool, most = (HOST_POOL_BYTES, MOST_HOST_SLOTS) if on_host else (POOL_BYTES, MOST_SLOTS)
        room = [max(least, pool // whole), int(MEMORY_SHARE * free.device) // (whole - host)]
        if on_host:
            room.append(int(MEMORY_SHARE * free.host) // host)
        if min(room) >= least:
            return one, min(max(least, most), *room)
    raise InfrastructureError(f"{case.name}: no size of it fits into the memory that is free")


@dataclass(frozen=True)
class Timed:
    """A case to be timed: its plan with machine code and the numbers in it, on so many slots. Case and slots come from
    `fitting`."""

    assignment: Assignment
    case: Case
    slots: int
    plan: Plan
    binaries: Sequence[Binary]
    scalars: Mapping[str, float]

    @property
    def names(self) -> tuple[str, str]:
        return self.assignment.name, self.case.name


@dataclass(frozen=True)
class Bounds:
    """How long is measured: until a ratio is told apart from the `threshold`, and not beyond `until` (time.monotonic).
    A replay of the student's that takes `seconds` is a `time_limit`. `quiet` returns when nothing of this grading keeps
    processors busy."""

    threshold: Threshold
    seconds: float
    until: float
    quiet: Callable[[], None]


@dataclass(frozen=True)
class Measured:
    """What came of it. `compiled` are seconds a call of the baseline that is reported beside."""

    blocks: Blocks
    slots: int
    compiled: float
    notes: list[str]

    @property
    def estimate(self) -> Estimate:
        return estimate(self.blocks.ratios)


def measure(timed: Timed, executor: Executor, baselines: Baselines, bounds: Bounds) -> Timing | Lost | Wrong:
    """Times a case against the baseline, again where the machine was not fit. `executor` is the submission's. Raises
    InfrastructureError, NoRoomError and torch.OutOfMemoryError."""
    notes: list[str] = []
    drift, case = baselines.drift, timed.case.name
    for _ in range(TRIES):
        before = fitness.state()
        found = _measured(timed, executor, baselines, bounds)
        if not isinstance(found, Measured):
            if notes and isinstance(found, Lost) and time.monotonic() > bounds.until:
                raise InfrastructureError(f"{case}: no time was left for it. {notes[-1]}")
            return found
        after = fitness.state()
        took = fitness.figure(found.blocks.baseline)
        slowed = fitness.unfit(after)
        odd = drift.odd(*timed.names, took.seconds)
        trouble = slowed or odd or (None if timed.assignment.on_host else fitness.unsteady(took))
        if trouble is None:
            drift.record(*timed.names, took)
            return _timing(timed, found, [*notes, *found.notes, *fitness.describe(before, after)])
        notes.append(f"Measured again: {trouble}")
    if slowed is None and odd is not None:
        drift.record(*timed.names, took)
    raise InfrastructureError(f"{case}: the machine is not fit to measure on: {trouble}")


def _measured(timed: Timed, executor: Executor, baselines: Baselines, bounds: Bounds) -> Measured | Lost | Wrong:
    """One try."""
    assignment, case = timed.assignment, timed.case
    if assignment.on_host:
        bounds.quiet()
    # Where the host is in the clock, one process serves both sides.
    other = executor if assignment.on_host else baselines.executor()
    program = executor.load(timed.plan, timed.binaries)
    if isinstance(program, Lost):
        return program
    pool = Pool(assignment, case, timed.slots, cuda=True)
    try:
        student = Replays(executor, program, timed.scalars, pool, bounds.seconds)
        baseline = Replays(
            other, _program(timed, EAGER, other, baselines), ours.scalars(assignment, case), pool, BASELINE_SECONDS)
        return Measurement(timed, student, baseline, baselines, bounds).take()
    finally:
        # Memory may be given back only when no executor has it bound.
        for one in {executor, other}:
            one.unbind()
        pool.close()


class Measurement:
    """One timed case under way: both sides' replays over one pool. Its methods are the steps, in their order; what the
    student's side meets is returned, what ours does is raised as InfrastructureError."""

    def __init__(
        self, timed: Timed, student: Replays, baseline: Replays, baselines: Baselines, bounds: Bounds
    ) -> None:
        self._timed, self._baselines, self._bounds = timed, baselines, bounds
        self._student, self._baseline = student, baseline
        self._pool = student.pool
        # At the power limit what is done between replays counts as well.
        work = timed.assignment.work
        self._limited = work is not None and work(timed.case.sizes).flop > 0

    def take(self) -> Measured | Lost | Wrong:
        """All steps."""
        stopped = self.bind() or self.size() or self.warm()
        if stopped is not None:
            return stopped
        blocks = self.settle()
        return self.measured(blocks) if isinstance(blocks, Blocks) else blocks

    def bind(self) -> Lost | None:
        """Maps the pool for both sides, and looks at one answer of the baseline's."""
        slots, look = self._pool.slots(), self._pool.look
        if self._baseline.executor is not self._student.executor:
            _sure(self._baseline.executor.bind(slots, look))
        lost = self._student.executor.bind(slots, look)
        if lost is None:
            _right(self._baseline)
        return lost

    def size(self) -> Lost | None:
        """Gives the replays of each side as many slots as make them long enough."""
        lost = self._student.prepare()
        if lost is None:
            known = self._timed.names
            _sure(self._baseline.prepare(self._baselines.counts.get(known, 1)))
            self._baselines.counts[known] = self._baseline.count
        return lost

    def warm(self) -> Lost | Wrong | None:
        """Keeps a power-bound device at work until it is at its pace, unless it is."""
        if not self._limited or time.monotonic() <= self._baselines.warm_until:
            return None
        stopped = warmed(self.block, until=self._bounds.until)
        return stopped if isinstance(stopped, Lost | Wrong) else None

    def draw(self, side: Replays) -> None:
        """New contents for a side's next replay."""
        side.draw(expect=self._limited or side is self._student)

    def block(self) -> Block | Lost | Wrong:
        """A replay of the baseline's, two of the student's, whose answers are checked, and one of the baseline's."""
        return block(self._baseline_seconds, self._student_seconds,
                     clock=fitness.sm_clock if self._limited else lambda: None)

    def settle(self) -> Blocks | Lost | Wrong:
        """Blocks until more would change nothing, by a clock that can be trusted."""
        try:
            blocks = self._blocks()
            if self._student.clocks_differ:
                # A host with busy processors hears late of every end.
                self._bounds.quiet()
                self._student.forget()
                blocks = self._blocks()
            if self._student.clocks_differ:
                self._student.trust_host()
                self._baseline.trust_host()
                blocks = self._blocks()
        except OutOfTime:
            return Lost("time_limit", "the time for timed calls was used up before there were enough of them")
        return blocks

    def measured(self, blocks: Blocks) -> Measured:
        """The blocks with what is reported beside them."""
        if self._limited:
            self._baselines.warm_until = time.monotonic() + WARM_SECONDS
        notes = []
        if self._student.by_host:
            notes.append("Measured by the host's clock: the device's clock said less.")
        if blocks.dropped:
            notes.append(f"{blocks.dropped} blocks within which the device's clock changed do not count.")
        compiled = self._baselines.compiled
        if self._timed.names not in compiled:
            compiled[self._timed.names] = self._compiled()
        return Measured(blocks, self._student.count, compiled[self._timed.names], notes)

    def _blocks(self) -> Blocks | Lost | Wrong:
        found: Blocks | Lost | Wrong = paired(self.block, settled=self._settled, until=self._bounds.until)
        return found

    def _baseline_seconds(self) -> float:
        self.draw(self._baseline)
        taken = _sure(self._baseline.replay())
        if self._limited:
            # As much work as after the student's.
            self._pool.doubtful(self._baseline.count)
        return taken

    def _student_seconds(self) -> float | Lost | Wrong:
        self.draw(self._student)
        taken = self._student.replay()
        return taken if isinstance(taken, Lost) else self._pool.check(self._student.count) or taken

    def _settled(self, ratios: Sequence[float]) -> bool:
        """Whether further blocks could change nothing, or nothing that matters."""
        ends, one = (self._bounds.threshold.floor, self._bounds.threshold.target), estimate(ratios)
        narrow = (one.high - one.low) / one.median < WIDTH
        return settled(one, *ends) or (narrow and not straddles(one, ends))

    def _compiled(self) -> float:
        """Seconds a call of what is reported and not graded."""
        compiled = replace(self._baseline, program=_program(
            self._timed, COMPILED, self._baseline.executor, self._baselines))
        _right(compiled)
        _sure(compiled.prepare(self._baseline.count))
        taken = []
        for _ in range(REPORTED_REPLAYS):
            self.draw(compiled)
            taken.append(_sure(compiled.replay()))
        return statistics.median(taken)


def _program(timed: Timed, function: str, executor: Executor, baselines: Baselines) -> int:
    if timed.assignment.on_host:
        return ours.load(executor, timed.assignment, timed.case, function)
    return baselines.program(timed.assignment, timed.case, function)


def _right(baseline: Replays) -> None:
    """Looks at one answer of the baseline's. Raises InfrastructureError if it is wrong."""
    baseline.pool.draw(1, baseline.scalars)
    _sure(baseline.executor.run(baseline.program, 0, seconds=BASELINE_SECONDS))
    wrong = baseline.pool.check(1, looked=False)
    if wrong is not None:
        raise InfrastructureError(f"the baseline's answer is wrong: {wrong.what} {wrong.name}".strip())


def _sure(answer: T | Lost) -> T:
    """Of ours. Raises InfrastructureError if it was lost."""
    if isinstance(answer, Lost):
        raise InfrastructureError(f"the baseline failed: {answer.message}")
    return answer


def _timing(timed: Timed, found: Measured, notes: list[str]) -> Timing:
    case, work, one = timed.case, timed.assignment.work, found.estimate
    student, baseline = statistics.median(found.blocks.student), statistics.median(found.blocks.baseline)
    timing = Timing(
        case=case.name, sizes=case.sizes, slots=found.slots, student_us=student * 1e6, baseline_us=baseline * 1e6,
        compiled_us=found.compiled * 1e6, ratios=found.blocks.ratios, notes=notes,
        speedup=Interval(median=one.median, low=one.low, high=one.high))
    if work is None:
        return timing
    try:
        share, name = roofline.fraction(work(case.sizes), student)
    except roofline.RooflineError as error:
        return timing.model_copy(update={"notes": [*notes, f"The machine's roofs could not be measured: {error}."]})
    return timing.model_copy(update={"roof": name, "roof_fraction": share, "roof_us": share * student * 1e6})
