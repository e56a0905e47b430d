"""Student against baseline: batches of both in turn, every answer of the student's checked, the ratio and its interval.

Both sides are workers that know nothing of each other; neither runs while the other is timed. New contents are written
while the student's processes are stopped, so that what a thread of theirs could compute ahead is bounded by the moment
between their waking and the clock's start, which is measured too.
"""

from __future__ import annotations

import statistics as middle
from collections.abc import Callable
from dataclasses import dataclass, field

from grader.assignment import Assignment, Case
from grader.judge import wire
from grader.judge.buffers import BufferError
from grader.judge.clock import Clock, Timed
from grader.judge.ring import Ring, Wrong
from grader.judge.session import Lost, Session
from grader.judge.zygote import InfrastructureError
from grader.statistics import FEWEST_RATIOS, Estimate, abba_ratios, estimate

STUDENT, BASELINE = "student", "baseline"
# Batches of no calls: what the clock itself takes.
EMPTY_BATCHES = 15
# Of what is reported beside the baseline.
REPORTED_BATCHES = 7
MOST_BLOCKS = 24
# A batch need not be longer: slow kernels are timed on fewer slots.
BATCH_SECONDS = 0.5


@dataclass
class Measured:
    """Seconds a call in each counted batch, in the order they ran, and what belongs to reading them.

    `round_trip` is the median of batches of no calls; it is in every batch of both sides. `exposed` is the median time
    from the waking of the student's processes to the clock's start. `compiled` are the median seconds of the baseline's
    second function, if it has one that works.
    """

    slots: int
    student: list[float] = field(default_factory=list)
    baseline: list[float] = field(default_factory=list)
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


def duel(
    assignment: Assignment, case: Case, student: Side, baseline: Side, slots: int, *, cuda: bool,
    settled: Callable[[Estimate], bool] = lambda found: True,
) -> Measured | Lost | Wrong:
    """Measures until `settled` says that the interval leaves nothing open, or MOST_BLOCKS have run.

    Returns what was measured, or how the student's side failed. Raises InfrastructureError if the baseline's does, or
    if there is no memory.
    """
    try:
        ring = Ring(assignment, case, slots, (STUDENT, BASELINE), cuda=cuda)
    except BufferError as error:
        raise InfrastructureError(f"{case.name}: {error}") from None
    try:
        return _Duel(student, baseline, ring, Measured(slots)).run(settled)
    finally:
        ring.close()


@dataclass
class _Duel:
    student: Side
    baseline: Side
    ring: Ring
    found: Measured
    _exposed: list[float] = field(default_factory=list)

    def run(self, settled: Callable[[Estimate], bool]) -> Measured | Lost | Wrong:
        for name in (STUDENT, BASELINE):
            self.ring.fill(name)
        lost = self.student.join(self.ring, STUDENT)
        if lost is not None:
            return lost
        ours = self.baseline.join(self.ring, BASELINE)
        if ours is not None:
            raise InfrastructureError(f"the baseline failed: {ours.message}")
        # The first calls compile and try configurations. They look like all the others, and are checked like them.
        failed = self._student_batch()
        if failed is not None:
            return failed
        self._baseline_batch()
        wrong = self.ring.check(BASELINE)
        if wrong is not None:
            raise InfrastructureError(f"the baseline's answer is wrong: {wrong.what}")
        failed = self._fit()
        if failed is not None:
            return failed
        self.found.student.clear()
        self.found.baseline.clear()
        self._exposed.clear()
        while True:
            # Baseline, student, student, baseline: drift and the cost of going first cancel.
            self._baseline_batch()
            for _ in range(2):
                failed = self._student_batch()
                if failed is not None:
                    return failed
            self._baseline_batch()
            blocks = len(self.found.student) // 2
            if blocks >= MOST_BLOCKS or (blocks >= FEWEST_RATIOS and settled(self.found.estimate)):
                break
        self._beside()
        trips = [self._timed(self.student, []) for _ in range(EMPTY_BATCHES)]
        self.found.round_trip = middle.median(trip.seconds for trip in trips if isinstance(trip, Timed))
        self.found.exposed = middle.median(self._exposed)
        return self.found

    def _fit(self) -> Lost | Wrong | None:
        """Takes fewer slots where calls are slow. What compiling takes is not in it: so one more batch of each."""
        if max(self.found.student + self.found.baseline) * self.ring.count <= BATCH_SECONDS:
            return None
        self.ring.use(1)
        failed = self._student_batch()
        if failed is not None:
            return failed
        self._baseline_batch()
        slowest = max(self.found.student[-1], self.found.baseline[-1])
        self.ring.use(max(1, min(self.found.slots, int(BATCH_SECONDS / slowest))))
        self.found.slots = self.ring.count
        return None

    def _student_batch(self) -> Lost | Wrong | None:
        with self.student.session.frozen():
            self.ring.fill(STUDENT)
        timed = self._timed(self.student, range(self.ring.count), lambda: self.ring.sample(STUDENT))
        if isinstance(timed, Lost):
            return timed
        self._exposed.append(timed.waited)
        self.found.student.append(timed.seconds / self.ring.count)
        # Of each kind one is enough: what counts is which there are.
        self.found.operators += [use for use in timed.operators if use not in self.found.operators]
        self.found.kernels += [use for use in timed.kernels if use not in self.found.kernels]
        with self.student.session.frozen():
            return self.ring.check(STUDENT)

    def _baseline_batch(self) -> None:
        with self.student.session.frozen():
            self.ring.fill(BASELINE)
            timed = self._timed(self.baseline, range(self.ring.count), lambda: self.ring.sample(BASELINE))
        if isinstance(timed, Lost):
            raise InfrastructureError(f"the baseline failed: {timed.message}")
        self.found.baseline.append(timed.seconds / self.ring.count)

    def _beside(self) -> None:
        """Times what is reported and not graded: where it fails, it is left out."""
        which = self.baseline.beside
        if which is None:
            return
        seconds = []
        # The first compiles.
        for _ in range(1 + REPORTED_BATCHES):
            with self.student.session.frozen():
                self.ring.fill(BASELINE)
                timed = self.baseline.clock.batch(
                    range(self.ring.count), which, lambda: self.ring.sample(BASELINE))
                if isinstance(timed, Lost) or self.ring.check(BASELINE) is not None:
                    return
            seconds.append(timed.seconds / self.ring.count)
        self.found.compiled = middle.median(seconds[1:])

    def _timed(self, side: Side, slots: range | list[int], at_done: Callable[[], None] = lambda: None) -> Timed | Lost:
        return side.clock.batch(slots, side.which, at_done)
