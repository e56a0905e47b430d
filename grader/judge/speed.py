"""The speed of one case: how many slots fit, the duel, the machine's roof and state, as a result's `Timing`."""

from __future__ import annotations

import statistics as middle
from dataclasses import dataclass

from grader.assignment import Assignment, Case, Input, TimedCase, Work
from grader.course import Threshold
from grader.forkserver.handle import InfrastructureError
from grader.judge import device, health, history, roofs
from grader.judge.baselines import Baselines
from grader.judge.contention import crowded
from grader.judge.device import Memory
from grader.judge.duel import Measured, Side, duel
from grader.judge.ring import Wrong, slot_bytes
from grader.judge.session import Lost, Session
from grader.plan import wire
from grader.result import Interval, Timing
from grader.statistics import settled, straddles

# On the fastest devices as much is moved in the time that a batch should take (`duel.BATCH_SECONDS`).
RING_BYTES = 16 << 30
# Host memory takes longer to fill.
HOST_RING_BYTES = 8 << 30
FEWEST_SLOTS, MOST_SLOTS = 4, 128
# The ring passes through the device's last cache this many times over.
CACHES = 3
# Of the memory that is free, host's or device's; comparing needs room beside it.
MEMORY_SHARE = 0.4
# An interval this narrow, which leaves no threshold open, needs no further blocks.
WIDTH = 0.01
# So many tries an unfit machine gets, or a baseline slower than before.
TRIES = 3


@dataclass(frozen=True)
class Speed:
    """What was measured, and the record of what ran in the timed calls."""

    timing: Timing
    operators: list[wire.OperatorUse]
    kernels: list[wire.KernelUse]


def plan(assignment: Assignment, case: TimedCase, free: Memory) -> tuple[Case, int, int]:
    """The largest of the case and its smaller siblings whose ring fits; how many slots there have to be for a cache to
    be no help, and how many it gets.

    Raises InfrastructureError if none fits.
    """
    on_host = {p.name for p in assignment.parameters if isinstance(p, Input) and p.place == "host"}
    for one in case.siblings():
        whole = slot_bytes(assignment, one)
        host = whole if free.device is None else slot_bytes(assignment, one, only=on_host)
        on_device = 0 if free.device is None else whole - host
        # Both sides have outputs of their own.
        output = slot_bytes(assignment, one, only={assignment.output.name})
        least = max(FEWEST_SLOTS, -(-CACHES * free.cache // whole))
        room = [MOST_SLOTS, max(least, (HOST_RING_BYTES if on_host else RING_BYTES) // whole)]
        if host:
            room.append(int(MEMORY_SHARE * free.host) // (host + output * (free.device is None)) - 1)
        if free.device is not None:
            # One slot more is for warming up.
            room.append(int(MEMORY_SHARE * free.device) // (on_device + output) - 1)
        if min(room) >= min(least, MOST_SLOTS):
            return one, min(least, MOST_SLOTS), min(room)
    raise InfrastructureError(f"{case.name}: no size of it fits into the memory that is free")


def measure(
    assignment: Assignment, case: TimedCase, session: Session, baselines: Baselines, threshold: Threshold, *,
    free: Memory, until: float, cuda: bool,
) -> Speed | Lost | Wrong:
    """Times a session's submission on a case, against the baseline.

    `free` is the memory that there was before the submission had any: it does not choose its own case by holding some.
    `until` is when there is no time left for more (time.monotonic). Raises InfrastructureError, BufferError and
    torch.OutOfMemoryError.
    """
    one, least, slots = plan(assignment, case, free)
    notes = []
    if one.name != case.name:
        notes.append(f"{case.name} does not fit into this device's memory: {one.name} instead.")
    baseline = baselines.side(assignment)
    student = Side(session)

    def enough(found: Measured) -> bool:
        """Whether further blocks could change nothing, or nothing that matters."""
        ends, one = (threshold.floor, threshold.target), found.estimate
        narrow = (one.high - one.low) / one.median < WIDTH
        return settled(one, *ends) or (narrow and not straddles(one, ends)) or (cuda and bool(crowded(found.contended)))

    try:
        for _ in range(TRIES):
            before = device.state() if cuda else None
            found = duel(assignment, one, student, baseline, slots, least=least, cuda=cuda, until=until,
                         settled=enough)
            if not isinstance(found, Measured):
                return found
            after = device.state() if cuda else None
            key, took = history.Key(assignment.name, one.name, found.slots), history.figure(found.clocked)
            # An interpreter's times are too noisy to tell.
            odd = baselines.history.odd(key, took.seconds) if cuda else None
            unfit = (health.unfit(after) or crowded(found.contended) if after is not None else None) or odd
            if not unfit:
                break
            notes.append(f"Measured again: {unfit}")
        else:
            if unfit == odd:
                baselines.history.record(key, took)
            raise InfrastructureError(f"{case.name}: the machine is not fit to measure on: {unfit}")
    finally:
        student.clock.close()
    baselines.history.record(key, took)
    if before is not None and after is not None:
        notes += health.describe(before, after)
    work = assignment.work(one.sizes) if assignment.work and cuda else None
    return Speed(_timing(one, found, notes, work), found.operators, found.kernels)


def _timing(case: Case, found: Measured, notes: list[str], work: Work | None) -> Timing:
    estimate = found.estimate
    student, baseline = middle.median(found.student), middle.median(found.baseline)
    timing = Timing(
        case=case.name, sizes=case.sizes, slots=found.slots, student_us=student * 1e6, baseline_us=baseline * 1e6,
        compiled_us=None if found.compiled is None else found.compiled * 1e6, ratios=found.ratios,
        speedup=Interval(median=estimate.median, low=estimate.low, high=estimate.high),
        round_trip_us=found.round_trip * 1e6, exposed_us=found.exposed * 1e6, notes=notes)
    if work is None:
        return timing
    try:
        fraction, name = roofs.nearness(work, student)
    except roofs.RoofsError as error:
        return timing.model_copy(update={"notes": [*notes, f"The machine's roofs could not be measured: {error}."]})
    return timing.model_copy(update={"roof": name, "roof_fraction": fraction, "roof_us": fraction * student * 1e6})

