"""Student against baseline: batches of both in turn, every answer of the student's checked, the ratio and its interval.

Both sides are workers that know nothing of each other; neither runs while the other is timed. New contents are put in
place (`grader.judge.placing`) while the student's processes are stopped and nothing computes on the device, so that
what could be computed ahead is bounded by the moment between their waking and the clock's start, which is measured too,
and counts beyond a share of the batch. Both sides are treated alike in all that takes time.
"""

from __future__ import annotations

import math
import secrets
import statistics as middle
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from grader.assignment import Assignment, Case
from grader.forkserver.handle import InfrastructureError
from grader.judge.charges import charged
from grader.judge.clock import Clock, Timed
from grader.judge.placing import BASELINE, STUDENT, Placing
from grader.judge.ring import Ring, Wrong
from grader.judge.session import Lost, Refused, Session
from grader.plan import wire
from grader.statistics import FEWEST_RATIOS, Estimate, abba_ratios, estimate

# Batches of no calls: what the clock itself takes.
EMPTY_BATCHES = 15
# Of what is reported beside the baseline.
REPORTED_BATCHES = 3
MOST_BLOCKS = 24
# Beginning and ending a batch takes a tenth of a millisecond, more or less: a batch should be long against that, where
# there are slots enough. Slow kernels are timed on few slots.
BATCH_SECONDS = 6e-3
LONGEST_SECONDS = 0.5
# A worker's memory and the like are looked at before a batch, if that would come due within it.
WATCH_AHEAD = 0.15
# Who shows to be this much faster than when the slots were counted out gets more of them: while warming up, when memory
# is touched for the first time, a few times, and once later.
FASTER = 2
GUESSES = 3
# Calls before a batch, which leave the processor's caches as they are in the middle of it: so many, or as many as fit
# into this time and are few beside the batch, since inputs are in sight meanwhile.
MOST_WARM = 3
WARM_SECONDS = 150e-6
WARM_SHARE = 20
# Who takes this share of the time has used it up.
MOSTLY = 0.5
# Of the student's batches this share, drawn by the judge, is recorded and not counted.
RECORDED = 0.2


@dataclass
class Measured:
    """Seconds a call in each counted batch, in the order they ran, and what belongs to reading them.

    `clocked` is the baseline's by the clock alone: nothing that the student did is charged in it. `contended` is, for
    each of those batches, the time that judge and worker waited for a processor over the time that it took.
    `round_trip` is the median of batches of no calls; it is in every batch of both sides. `exposed` is the median time
    from the waking of the student's processes to the clock's start. `compiled` are the median seconds of the baseline's
    second function, if it has one that works.
    """

    slots: int
    student: list[float] = field(default_factory=list)
    baseline: list[float] = field(default_factory=list)
    clocked: list[float] = field(default_factory=list)
    contended: list[float] = field(default_factory=list)
    compiled: float | None = None
    round_trip: float = 0.0
    exposed: float = 0.0
    operators: list[wire.OperatorUse] = field(default_factory=list)
    kernels: list[wire.KernelUse] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """Baseline's time over the student's, one for each ABBA block."""
        return abba_ratios(self.baseline, self.student)

    @property
    def estimate(self) -> Estimate:
        return estimate(self.ratios)


class Side:
    """One of the two: a session that has loaded function number `which`, and its clock. `beside` is a further one."""

    def __init__(
        self, session: Session, clock: Clock | None = None, which: int = 0, beside: int | None = None
    ) -> None:
        self.session = session
        self.clock = clock or Clock(session)
        self.which = which
        self.beside = beside

    def join(self, ring: Ring, name: str) -> Lost | None:
        """Shows the worker the clock's page and every slot."""
        lost = self.clock.show()
        if lost is not None:
            return lost
        self.session.give(ring.host_bytes)
        for request, descriptors in ring.requests(name, self.session.next_seq):
            reply, _ = self.session.ask(request, descriptors)
            if isinstance(reply, Lost):
                return reply
        return None

    def leave(self) -> None:
        """Has the worker let go of every slot; one that does not answer is dead, and has."""
        if not self.session.over:
            self.session.ask(wire.Unmap(seq=self.session.next_seq()), [])


def duel(
    assignment: Assignment, case: Case, student: Side, baseline: Side, slots: int, *, least: int = 1, cuda: bool,
    until: float, settled: Callable[[Measured], bool] = lambda found: True,
) -> Measured | Lost | Wrong:
    """Measures until `settled` says that nothing is left open, MOST_BLOCKS have run, or it is `until`.

    There are `slots`; of fast kernels at least `least` of them have part in a batch.
    Returns what was measured, or how the student's side failed. Raises InfrastructureError if the baseline's does,
    BufferError or torch.OutOfMemoryError if there is no memory.
    """
    # One more, for calls that only warm up.
    ring = Ring(assignment, case, slots + 1, (STUDENT, BASELINE), cuda=cuda)
    try:
        placing = Placing(ring, student.session, cuda)
        return _Duel(student, baseline, ring, placing, Measured(slots), least, until).run(settled)
    finally:
        # Memory may be given back only when nobody has it open.
        for side in (student, baseline):
            side.leave()
        ring.close()


@dataclass
class _Duel:
    student: Side
    baseline: Side
    ring: Ring
    placing: Placing
    found: Measured
    least: int
    until: float
    # The batches since counting began.
    _student: list[Timed] = field(default_factory=list)
    _baseline: list[Timed] = field(default_factory=list)
    # Slots that there are, and that a batch has; the one after those, once for each call that only warms up.
    _planned: int = 0
    _count: int = 1
    _warm: list[int] = field(default_factory=list)
    # When it began, and the seconds that the student's batches took, but for what is ours in them.
    _started: float = field(default_factory=time.monotonic)
    _theirs: float = 0.0

    def run(self, settled: Callable[[Measured], bool]) -> Measured | Lost | Wrong:
        try:
            return self._run(settled)
        finally:
            self.student.session.halt.go_on()

    def _run(self, settled: Callable[[Measured], bool]) -> Measured | Lost | Wrong:
        try:
            self.placing.first()
        except Refused as refused:
            return refused.lost
        lost = self.student.join(self.ring, STUDENT)
        if lost is not None:
            return lost
        ours = self.baseline.join(self.ring, BASELINE)
        if ours is not None:
            raise InfrastructureError(f"the baseline failed: {ours.message}")
        self._planned = self.ring.count - 1
        failed = self._warm_up()
        if failed is not None:
            return failed
        while True:
            # Baseline, student, student, baseline: drift and the cost of going first cancel.
            for batch in (self._baseline_batch, self._student_batch, self._student_batch, self._baseline_batch):
                failed = batch()
                if failed is not None:
                    return failed
            blocks = len(self.found.student) // 2
            late = time.monotonic() > self.until
            if blocks < FEWEST_RATIOS:
                if late:
                    return self._no_time()
                continue
            count = self._slots()
            if not late and count >= FASTER * self._count:
                # It was slow only while the slots were counted out.
                self._start_counting(count)
                continue
            if late or blocks >= MOST_BLOCKS or settled(self.found):
                break
        self.found.slots = self._count
        lost = self._beside()
        if lost is not None:
            return lost
        self.student.session.halt.go_on()

        def watched() -> float:
            self.student.session.watch(WATCH_AHEAD)
            return time.perf_counter()

        trips = []
        for _ in range(EMPTY_BATCHES):
            trip = self.student.clock.batch([], prepare=watched)
            if isinstance(trip, Lost):
                return trip
            trips.append(trip.seconds)
        self.found.round_trip = middle.median(trips)
        self.found.exposed = middle.median(timed.waited for timed in self._student)
        return self.found

    def _warm_up(self) -> Lost | Wrong | None:
        """The first calls compile and try configurations; the next say how many slots a batch can have.

        They look like all the others, and are checked like them.
        """
        self.ring.use(1)
        for _ in range(2):
            failed = self._student_batch(record=True) or self._baseline_batch(check=True)
            if failed is not None:
                return failed
        # More of each: what a single call takes is mostly its beginning and end.
        for _ in range(GUESSES):
            self._start_counting(self._slots())
            failed = self._student_batch(record=True) or self._baseline_batch()
            if failed is not None:
                return failed
            if self._slots() < FASTER * self._count:
                break
        self._start_counting(self._slots())
        return None

    def _no_time(self) -> Lost:
        """How the time was used up before there were enough batches. Raises InfrastructureError if it was ours."""
        used = time.monotonic() - self._started
        if self._theirs < MOSTLY * used:
            raise InfrastructureError("the time for timed calls was used up before enough of them were made")
        return self.student.session.lose(
            "time_out", f"timed calls took {self._theirs:.0f} of {used:.0f} s, and there were not enough of them yet")

    def _slots(self) -> int:
        """How many slots a batch should have, going by the times so far."""
        student, baseline = self.found.student[-2:], self.found.baseline[-2:]
        fastest, slowest = sorted((min(student), min(baseline)))
        wanted = max(self.least, math.ceil(BATCH_SECONDS / fastest))
        return max(1, min(self._planned, wanted, int(LONGEST_SECONDS / slowest)))

    def _start_counting(self, slots: int) -> None:
        fastest = min(self.found.student[-1], self.found.baseline[-1])
        self._count = slots
        self._warm = [slots] * min(MOST_WARM, int(WARM_SECONDS / fastest), slots // WARM_SHARE)
        self.ring.use(slots, warm=int(bool(self._warm)))
        self._student.clear()
        self._baseline.clear()
        self._tell()

    def _student_batch(self, *, record: bool = False) -> Lost | Wrong | None:
        while secrets.randbelow(1000) < 1000 * RECORDED and not record:
            failed = self._one_student_batch(record=True, count=False)
            if failed is not None:
                return failed
        return self._one_student_batch(record=record, count=True)

    def _one_student_batch(self, *, record: bool, count: bool) -> Lost | Wrong | None:
        session = self.student.session
        session.halt.go_on()
        started = time.monotonic()

        def place() -> None:
            nonlocal started
            started += self.placing.for_student()

        timed = self._timed(self.student, STUDENT, self.student.which, place, record=record)
        self._theirs += time.monotonic() - started
        if isinstance(timed, Lost):
            return timed
        if count:
            self._student.append(timed)
            self._tell()
        # Of each kind one is enough: what counts is which there are.
        self.found.operators += [use for use in timed.operators if use not in self.found.operators]
        self.found.kernels += [use for use in timed.kernels if use not in self.found.kernels]
        session.halt.stop()
        return self.ring.check(STUDENT)

    def _baseline_batch(self, *, check: bool = False) -> Lost | None:
        # The student's processes have the inputs in sight.
        self.student.session.halt.stop()
        try:
            self.placing.await_quiet()
        except Refused as refused:
            return refused.lost
        timed = self._timed_baseline(self.baseline.which)
        wrong = self.ring.check(BASELINE) if check and isinstance(timed, Timed) else None
        if wrong is not None:
            raise InfrastructureError(f"the baseline's answer is wrong: {wrong.what}")
        if isinstance(timed, Lost):
            if self.student.session.over:
                return timed
            if timed.kind == "out_of_memory":
                # Whoever holds too much of it need not be the baseline.
                raise torch.OutOfMemoryError(f"the baseline found no memory: {timed.message}")
            raise InfrastructureError(f"the baseline failed: {timed.message}")
        self._baseline.append(timed)
        self._tell()
        return None

    def _timed_baseline(self, which: int) -> Timed | Lost:
        return self._timed(self.baseline, BASELINE, which, self.placing.for_baseline)

    def _timed(
        self, side: Side, name: str, which: int, place: Callable[[], None], *, record: bool = False
    ) -> Timed | Lost:
        """A batch of a side's function number `which`, on what `place` puts there: the same for both sides."""
        halt = side.session.halt

        def prepare() -> float:
            with halt.frozen():
                place()
                side.session.watch(WATCH_AHEAD)
            return halt.woken

        return side.clock.batch(
            range(self._count), which, lambda: self.ring.sample(name), prepare=prepare, at_go=self.ring.complete,
            warm=self._warm, record=record)

    def _tell(self) -> None:
        self.found.student, self.found.baseline = charged(
            self._student, self._baseline, calls=self._count, warm=len(self._warm))
        self.found.clocked = [timed.seconds / self._count for timed in self._baseline]
        self.found.contended = [timed.contended / (timed.waited + timed.seconds) for timed in self._baseline]

    def _beside(self) -> Lost | None:
        """Times what is reported and not graded: where it fails, it is left out."""
        which = self.baseline.beside
        if which is None:
            return None
        seconds = []
        # The first compiles.
        for number in range(1 + REPORTED_BATCHES):
            self.student.session.halt.stop()
            timed = self._timed_baseline(which)
            if isinstance(timed, Lost):
                return timed if self.student.session.over else None
            if number == 0 and self.ring.check(BASELINE) is not None:
                return None
            seconds.append(timed.seconds / self._count)
        self.found.compiled = middle.median(seconds[1:])
        return None
