"""The speed of a case: the student's time against the baseline's, by replay, with each answer of the student checked.

No process of the submission is alive meanwhile: an executor of ours launches its kernels, as CUDA graphs if all data
is on the device, so that the device's time is measured.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TypeVar

from grader.course.assignment import Assignment
from grader.course.cases import Case, TimedCase
from grader.course.course import Threshold
from grader.course.parameters import Input, Value
from grader.errors import InfrastructureError
from grader.judging.running.device import FreeMemory, working
from grader.judging.running.execution import Executor, GpuFailure
from grader.judging.running.lane import LANE
from grader.judging.speed import baselines as baseline_programs
from grader.judging.speed import fitness, roofline
from grader.judging.speed.baselines import COMPILED, EAGER, Baselines
from grader.judging.speed.paired import Block, Blocks, OutOfTime, block, paired, warm_up
from grader.judging.speed.pool import Pool, ReplayFault, slot_bytes
from grader.judging.speed.replays import Replays
from grader.plan.compiled import Binary
from grader.plan.plan import Plan
from grader.results.estimate import Estimate, estimate, is_decided, straddles
from grader.results.result import Interval, Timing
from grader.sandbox.forkserver import clock

# The time of any replay wavers by some 10 µs on an H200: 1 % of the time that reading and writing 6 GiB takes there.
POOL_BYTES = 12 << 30
# Host memory takes longer to set up: its pages are made when they are touched.
HOST_POOL_BYTES, MOST_HOST_SLOTS = 16 << 30, 12
FEWEST_SLOTS, MOST_SLOTS = 4, 256
# The calls of a replay touch this many times the size of the device's last cache.
CACHES = 4
# Share of free memory given to the pool; checking needs the rest.
MEMORY_SHARE = 0.4
# Replays of the compiled baseline, which is only reported.
REPORTED_REPLAYS = 3
# Seconds after its last work for which a power-bound device keeps its pace.
WARM_SECONDS = 2.0
# An interval this narrow, which leaves no threshold open, needs no further blocks.
WIDTH = 2e-3
# Most measurements of a case: it is measured again if the machine is unfit, or the baseline unsteady or slower than
# before.
TRIES = 3
BASELINE_SECONDS = 180.0

T = TypeVar("T")


def largest_fitting(assignment: Assignment, case: TimedCase, free: FreeMemory) -> tuple[Case, int]:
    """Return the case, or else its largest smaller sibling, whose pool fits into this machine's memory, and the number
    of slots.

    Raises InfrastructureError if none fits.
    """
    on_host = {p.name for p in assignment.parameters if isinstance(p, Input)} if assignment.on_host else set()
    for sibling in case.siblings():
        whole = slot_bytes(assignment, sibling)
        host = slot_bytes(assignment, sibling, only=on_host)
        least = max(FEWEST_SLOTS, math.ceil(CACHES * free.cache / whole))
        pool, most = (HOST_POOL_BYTES, MOST_HOST_SLOTS) if on_host else (POOL_BYTES, MOST_SLOTS)
        room = [max(least, pool // whole), int(MEMORY_SHARE * free.device) // (whole - host)]
        if on_host:
            room.append(int(MEMORY_SHARE * free.host) // host)
        if min(room) >= least:
            return sibling, min(max(least, most), *room)
    raise InfrastructureError(f"{case.name}: no size of it fits into the free memory")


@dataclass(frozen=True)
class TimedCall:
    """A case to be timed: its plan with machine code, and its `scalars`. `largest_fitting` chose `case` and `slots`."""

    assignment: Assignment
    case: Case
    slots: int
    plan: Plan
    binaries: Sequence[Binary]
    scalars: Mapping[str, Value]

    @property
    def names(self) -> tuple[str, str]:
        return self.assignment.name, self.case.name


@dataclass(frozen=True)
class Bounds:
    """Bounds of a measurement: it ends once the ratio is distinguished from the ends of the `threshold`, at latest at
    `until` (clock.now). A replay of the student that takes `seconds` is a `time_limit`."""

    threshold: Threshold
    seconds: float
    until: float

    def later(self, waited: float) -> Bounds:
        """Return the same bounds, with an end that is `waited` seconds later: these were none of the submission's."""
        return replace(self, until=self.until + waited)


@dataclass(frozen=True)
class MeasuredCase:
    """A finished measurement. `compiled_baseline` is the seconds a call of the compiled baseline, which is only
    reported."""

    blocks: Blocks
    slots: int
    compiled_baseline: float
    notes: list[str]

    @property
    def estimate(self) -> Estimate:
        return estimate(self.blocks.ratios)


def measure_case(
    timed: TimedCall, executor: Executor, baselines: Baselines, bounds: Bounds
) -> Timing | GpuFailure | ReplayFault:
    """Time a case against the baseline, up to TRIES times if the machine is unfit. `executor` is the submission's.
    Raises InfrastructureError, NoRoomError and torch.OutOfMemoryError."""
    notes: list[str] = []
    drift, case = baselines.drift, timed.case.name
    for _ in range(TRIES):
        before = fitness.state()
        # If the host's work is timed too, nothing else may keep it busy.
        with LANE.still() if timed.assignment.on_host else nullcontext(0.0) as waited:
            bounds = bounds.later(waited)
            measured = _measure_once(timed, executor, baselines, bounds)
        if not isinstance(measured, MeasuredCase):
            if notes and isinstance(measured, GpuFailure) and clock.now() > bounds.until:
                raise InfrastructureError(f"{case}: no time was left for it. {notes[-1]}")
            return measured
        after = fitness.state()
        took = fitness.figure(measured.blocks.baseline)
        slowed = fitness.unfit(after)
        odd = drift.odd(*timed.names, took.seconds)
        trouble = slowed or odd or (None if timed.assignment.on_host else fitness.unsteady(took))
        if trouble is None:
            drift.record(*timed.names, took)
            return _timing(timed, measured, [*notes, *measured.notes, *fitness.describe(before, after)])
        notes.append(f"Measured again: {trouble}")
    if slowed is None and odd is not None:
        drift.record(*timed.names, took)
    raise InfrastructureError(f"{case}: the machine is not fit to measure on: {trouble}")


def _measure_once(
    timed: TimedCall, executor: Executor, baselines: Baselines, bounds: Bounds
) -> MeasuredCase | GpuFailure | ReplayFault:
    assignment, case = timed.assignment, timed.case
    # If the host's work is timed too, one process serves both sides.
    baseline_executor = executor if assignment.on_host else baselines.executor()
    program = executor.load(timed.plan, timed.binaries)
    if isinstance(program, GpuFailure):
        return program
    pool = Pool(assignment, case, timed.slots, cuda=True)
    try:
        student = Replays(executor, program, timed.scalars, pool, bounds.seconds)
        baseline = Replays(
            baseline_executor, _program(timed, EAGER, baseline_executor, baselines),
            baseline_programs.scalars(assignment, case), pool, BASELINE_SECONDS)
        return Measurement(timed, student, baseline, baselines, bounds).take()
    finally:
        # Memory may be given back only when no executor has it bound.
        for bound in {executor, baseline_executor}:
            bound.unbind()
        pool.close()


class Measurement:
    """A measurement under way: both sides' replays over one pool. Its methods are the steps, in order. Failures of the
    student's side are returned; our own failures are raised as InfrastructureError."""

    def __init__(
        self, timed: TimedCall, student: Replays, baseline: Replays, baselines: Baselines, bounds: Bounds
    ) -> None:
        self._timed, self._baselines, self._bounds = timed, baselines, bounds
        self._student, self._baseline = student, baseline
        self._pool = student.pool
        # The device may reach its power limit, where work between replays counts as well.
        work = timed.assignment.work
        self._limited = work is not None and work(timed.case).flop > 0

    def take(self) -> MeasuredCase | GpuFailure | ReplayFault:
        """Take all steps."""
        stopped = self.bind() or self.size()
        if stopped is not None:
            return stopped
        # Another lane's work between replays would change the pace of a power-bound device.
        with working(alone=True) if self._limited else nullcontext():
            blocks = self.warm() or self.settle()
        return self.measured(blocks) if isinstance(blocks, Blocks) else blocks

    def bind(self) -> GpuFailure | None:
        """Map the pool for both sides, and check an answer of the baseline."""
        slots, sample = self._pool.slots(), self._pool.sample
        if self._baseline.executor is not self._student.executor:
            _baseline_answer(self._baseline.executor.bind(slots, sample))
        lost = self._student.executor.bind(slots, sample)
        if lost is None:
            _check_answer(self._baseline, compiles=False)
        return lost

    def size(self) -> GpuFailure | None:
        """Give the replays of each side the number of slots that makes them long enough."""
        lost = self._student.prepare()
        if lost is None:
            known = self._timed.names
            _baseline_answer(self._baseline.prepare(self._baselines.counts.get(known, 1)))
            self._baselines.counts[known] = self._baseline.count
        return lost

    def warm(self) -> GpuFailure | ReplayFault | None:
        """Keep a power-bound device at work until it has reached its pace."""
        if not self._limited or time.monotonic() <= self._baselines.warm_until:
            return None
        stopped = warm_up(self.block, until=self._bounds.until)
        return stopped if isinstance(stopped, GpuFailure | ReplayFault) else None

    def draw(self, side: Replays) -> None:
        """Draw new contents for a side's next replay. A memory-bound baseline takes the student's contents again, if
        they are floats: their values do not change its time, and drawing takes longer than its calls."""
        fresh = self._limited or side is self._student
        side.draw(expect=fresh, again=not fresh)

    def block(self) -> Block | GpuFailure | ReplayFault:
        """Measure a replay of the baseline, two of the student, whose answers are checked, and another of the
        baseline."""
        return block(self._baseline_seconds, self._student_seconds,
                     clock=fitness.sm_clock if self._limited else lambda: None)

    def settle(self) -> Blocks | GpuFailure | ReplayFault:
        """Measure blocks until more would change nothing, by a clock that can be trusted."""
        try:
            blocks = self._blocks()
            if self._student.clocks_differ:
                # A host with busy processors notices late that a replay has ended.
                self._student.forget()
                with LANE.still() as waited:
                    self._bounds = self._bounds.later(waited)
                    blocks = self._blocks()
            if self._student.clocks_differ:
                self._student.trust_host()
                self._baseline.trust_host()
                blocks = self._blocks()
        except OutOfTime:
            return GpuFailure("time_limit", "the time for timed calls was used up before there were enough of them")
        return blocks

    def measured(self, blocks: Blocks) -> MeasuredCase:
        """Return the blocks, with notes and the compiled baseline's time."""
        if self._limited:
            self._baselines.warm_until = time.monotonic() + WARM_SECONDS
        notes = []
        if self._student.by_host:
            notes.append("Measured by the host's clock: the device's clock said less.")
        if blocks.dropped:
            notes.append(f"Measurements left out, since the device's clock changed: {blocks.dropped}.")
        compiled = self._baselines.compiled_seconds
        if self._timed.names not in compiled:
            compiled[self._timed.names] = self._compiled()
        return MeasuredCase(blocks, self._student.count, compiled[self._timed.names], notes)

    def _blocks(self) -> Blocks | GpuFailure | ReplayFault:
        blocks: Blocks | GpuFailure | ReplayFault = paired(
            self.block, is_decided=self._is_decided, until=self._bounds.until)
        return blocks

    def _baseline_seconds(self) -> float:
        self.draw(self._baseline)
        taken = _baseline_answer(self._baseline.replay())
        if self._limited:
            # The same work as after the student's replays.
            self._pool.doubtful(self._baseline.count)
        return taken

    def _student_seconds(self) -> float | GpuFailure | ReplayFault:
        self.draw(self._student)
        taken = self._student.replay()
        return taken if isinstance(taken, GpuFailure) else self._pool.check(self._student.count) or taken

    def _is_decided(self, ratios: Sequence[float]) -> bool:
        """Return whether further blocks would change nothing that matters."""
        ends, ratio = (self._bounds.threshold.floor, self._bounds.threshold.target), estimate(ratios)
        narrow = (ratio.high - ratio.low) / ratio.median < WIDTH
        return is_decided(ratio, *ends) or (narrow and not straddles(ratio, ends))

    def _compiled(self) -> float:
        """Return the compiled baseline's seconds a call, which are reported and not graded."""
        compiled = replace(self._baseline, program=_program(
            self._timed, COMPILED, self._baseline.executor, self._baselines))
        _check_answer(compiled, compiles=True)
        _baseline_answer(compiled.prepare(self._baseline.count))
        taken = []
        for _ in range(REPORTED_REPLAYS):
            self.draw(compiled)
            taken.append(_baseline_answer(compiled.replay()))
        return statistics.median(taken)


def _program(timed: TimedCall, function: str, executor: Executor, baselines: Baselines) -> int:
    if timed.assignment.on_host:
        return baseline_programs.load_baseline(executor, timed.assignment, timed.case, function)
    return baselines.program(timed.assignment, timed.case, function)


def _check_answer(baseline: Replays, *, compiles: bool) -> None:
    """Check the answer of a first call of the baseline, which may compile it. Raises InfrastructureError if it is
    wrong."""
    baseline.pool.draw(1, baseline.scalars)
    _baseline_answer(baseline.executor.run(baseline.program, 0, seconds=BASELINE_SECONDS, compiles=compiles))
    wrong = baseline.pool.check(1, sampled=False)
    if wrong is not None:
        raise InfrastructureError(f"the baseline's answer is wrong: {wrong.what} {wrong.name}".strip())


def _baseline_answer(answer: T | GpuFailure) -> T:
    """Return the answer of the baseline's side. Raises InfrastructureError if it failed."""
    if isinstance(answer, GpuFailure):
        raise InfrastructureError(f"the baseline failed: {answer.message}")
    return answer


def _timing(timed: TimedCall, measured: MeasuredCase, notes: list[str]) -> Timing:
    case, work, ratio = timed.case, timed.assignment.work, measured.estimate
    student, baseline = statistics.median(measured.blocks.student), statistics.median(measured.blocks.baseline)
    timing = Timing(
        case=case.name, sizes=case.sizes, slots=measured.slots, student_us=student * 1e6, baseline_us=baseline * 1e6,
        compiled_us=measured.compiled_baseline * 1e6, ratios=measured.blocks.ratios, notes=notes,
        speedup=Interval(median=ratio.median, low=ratio.low, high=ratio.high))
    if work is None:
        return timing
    try:
        share, name = roofline.fraction(work(case), student)
    except roofline.RooflineError as error:
        return timing.model_copy(update={"notes": [*notes, f"The machine's roofs could not be measured: {error}."]})
    return timing.model_copy(update={"roof": name, "roof_fraction": share, "roof_us": share * student * 1e6})
