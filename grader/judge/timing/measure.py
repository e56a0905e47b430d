"""The speed of one case: student against baseline, by replay, with every answer of the student's checked.

No process of the submission is alive meanwhile: its kernels are launched by an executor of ours, as CUDA graphs where
all is on the device, so that what is measured is the device's time.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from grader.engine.forkserver.handle import InfrastructureError
from grader.judge.device import Memory
from grader.judge.execution import Executor, Lost
from grader.judge.timing import baselines as ours
from grader.judge.timing import fitness, roofline
from grader.judge.timing.baselines import COMPILED, EAGER, Baselines
from grader.judge.timing.paired import Blocks, OutOfTime, paired, warmed
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
# Of the memory that is free; checking needs room beside it.
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


@dataclass
class Measured:
    """What came of it. `compiled` are seconds a call of the baseline that is reported beside."""

    blocks: Blocks
    slots: int
    compiled: float | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def estimate(self) -> Estimate:
        return estimate(self.blocks.ratios)


def measure(
    assignment: Assignment, case: Case, plan: Plan, binaries: Sequence[Binary], scalars: Mapping[str, float],
    executor: Executor, baselines: Baselines, threshold: Threshold, *, slots: int, seconds: float, until: float,
    quiet: Callable[[], None],
) -> Timing | Lost | Wrong:
    """Times a plan on a case against the baseline. `case` and `slots` come from `fitting`.

    `executor` is the submission's, `scalars` are the numbers in the plan. A replay that takes `seconds` is a
    `time_limit`. `until` is when there is no time left for more (time.monotonic). `quiet` returns when nothing of this
    grading keeps processors busy. Raises InfrastructureError, NoRoomError and torch.OutOfMemoryError.
    """
    notes: list[str] = []
    for _ in range(TRIES):
        before = fitness.state()
        found = _measure(
            assignment, case, plan, binaries, scalars, executor, baselines, threshold, slots, seconds, until, quiet)
        if not isinstance(found, Measured):
            if notes and isinstance(found, Lost) and time.monotonic() > until:
                raise InfrastructureError(f"{case.name}: no time was left for it. {notes[-1]}")
            return found
        after = fitness.state()
        took = fitness.figure(found.blocks.baseline)
        odd = baselines.drift.odd(assignment.name, case.name, took.seconds)
        unfit = fitness.unfit(after) or odd or (None if assignment.on_host else fitness.unsteady(took))
        if not unfit:
            break
        notes.append(f"Measured again: {unfit}")
    else:
        if unfit == odd:
            baselines.drift.record(assignment.name, case.name, took)
        raise InfrastructureError(f"{case.name}: the machine is not fit to measure on: {unfit}")
    baselines.drift.record(assignment.name, case.name, took)
    return _timing(assignment, case, found, [*notes, *found.notes, *fitness.describe(before, after)])


def _measure(
    assignment: Assignment, case: Case, plan: Plan, binaries: Sequence[Binary], scalars: Mapping[str, float],
    executor: Executor, baselines: Baselines, threshold: Threshold, slots: int, seconds: float, until: float,
    quiet: Callable[[], None],
) -> Measured | Lost | Wrong:
    if assignment.on_host:
        quiet()
    # Where the host is in the clock, one process serves both sides.
    other = executor if assignment.on_host else baselines.executor()
    program = executor.load(plan, binaries)
    if isinstance(program, Lost):
        return program
    pool = Pool(assignment, case, slots, cuda=True)
    try:
        student = Replays(executor, program, scalars, pool, seconds)
        baseline = Replays(
            other, _program(assignment, case, EAGER, other, baselines), ours.scalars(assignment, case), pool,
            BASELINE_SECONDS)
        if other is not executor:
            _sure(other.bind(pool.slots(), pool.look))
        lost = executor.bind(pool.slots(), pool.look)
        if lost is not None:
            return lost
        _right(baseline)
        lost = student.prepare()
        if lost is not None:
            return lost
        known = assignment.name, case.name
        _sure(baseline.prepare(baselines.counts.get(known, 1)))
        baselines.counts[known] = baseline.count
        # At the power limit what is done between replays counts as well.
        limited = assignment.work is not None and assignment.work(case.sizes).flop > 0

        def one_of_baseline() -> float:
            taken = _sure(baseline.replay(expect=limited))
            if limited:
                pool.doubtful(baseline.count)
            return taken

        def one_of_student() -> float | Lost | Wrong:
            taken = student.replay(expect=True)
            if isinstance(taken, Lost):
                return taken
            return pool.check(student.count) or taken

        def enough(ratios: Sequence[float]) -> bool:
            """Whether further blocks could change nothing, or nothing that matters."""
            ends, one = (threshold.floor, threshold.target), estimate(ratios)
            narrow = (one.high - one.low) / one.median < WIDTH
            return settled(one, *ends) or (narrow and not straddles(one, ends))

        def blocks_of() -> Blocks | Lost | Wrong:
            return paired(
                one_of_baseline, one_of_student, settled=enough, until=until,
                clock=fitness.sm_clock if limited else lambda: None)

        if limited and time.monotonic() > baselines.warm_until:
            failed = warmed(one_of_baseline, one_of_student, until=until)
            if isinstance(failed, Lost | Wrong):
                return failed
        try:
            blocks = blocks_of()
            if student.clocks_differ:
                # A host with busy processors hears late of every end.
                quiet()
                student.forget()
                blocks = blocks_of()
            if student.clocks_differ:
                student.trust_host()
                baseline.trust_host()
                blocks = blocks_of()
        except OutOfTime:
            return Lost("time_limit", "the time for timed calls was used up before there were enough of them")
        if not isinstance(blocks, Blocks):
            return blocks
        if limited:
            baselines.warm_until = time.monotonic() + WARM_SECONDS
        found = Measured(blocks, student.count)
        if student.by_host:
            found.notes.append("Measured by the host's clock: the device's clock said less.")
        if blocks.dropped:
            found.notes.append(f"{blocks.dropped} blocks within which the device's clock changed do not count.")
        if known not in baselines.compiled:
            baselines.compiled[known] = _compiled(assignment, case, baseline, baselines, limited)
        found.compiled = baselines.compiled[known]
        return found
    finally:
        # Memory may be given back only when no executor has it bound.
        for one in {executor, other}:
            one.unbind()
        pool.close()


def _program(assignment: Assignment, case: Case, function: str, executor: Executor, baselines: Baselines) -> int:
    if assignment.on_host:
        return ours.load(executor, assignment, case, function)
    return baselines.program(assignment, case, function)


def _right(baseline: Replays) -> None:
    """Looks at one answer of the baseline's. Raises InfrastructureError if it is wrong."""
    baseline.pool.draw(1, baseline.scalars)
    _sure(baseline.executor.run(baseline.program, 0, seconds=BASELINE_SECONDS))
    wrong = baseline.pool.check(1, looked=False)
    if wrong is not None:
        raise InfrastructureError(f"the baseline's answer is wrong: {wrong.what}")


def _compiled(
    assignment: Assignment, case: Case, baseline: Replays, baselines: Baselines, limited: bool
) -> float:
    """Seconds a call of what is reported and not graded."""
    program = _program(assignment, case, COMPILED, baseline.executor, baselines)
    compiled = replace(baseline, program=program)
    _right(compiled)
    _sure(compiled.prepare(baseline.count))
    return statistics.median(_sure(compiled.replay(expect=limited)) for _ in range(REPORTED_REPLAYS))


def _sure(answer: T | Lost) -> T:
    """Of ours. Raises InfrastructureError if it was lost."""
    if isinstance(answer, Lost):
        raise InfrastructureError(f"the baseline failed: {answer.message}")
    return answer


def _timing(assignment: Assignment, case: Case, found: Measured, notes: list[str]) -> Timing:
    one = found.estimate
    student, baseline = statistics.median(found.blocks.student), statistics.median(found.blocks.baseline)
    timing = Timing(
        case=case.name, sizes=case.sizes, slots=found.slots, student_us=student * 1e6, baseline_us=baseline * 1e6,
        compiled_us=None if found.compiled is None else found.compiled * 1e6, ratios=found.blocks.ratios,
        speedup=Interval(median=one.median, low=one.low, high=one.high), notes=notes)
    if assignment.work is None:
        return timing
    try:
        share, name = roofline.fraction(assignment.work(case.sizes), student)
    except roofline.RooflineError as error:
        return timing.model_copy(update={"notes": [*notes, f"The machine's roofs could not be measured: {error}."]})
    return timing.model_copy(update={"roof": name, "roof_fraction": share, "roof_us": share * student * 1e6})
