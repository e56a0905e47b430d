"""New contents for a batch: put in place while a submission's processes are stopped, and nothing of it runs on the GPU.

What it has queued there goes on all the same, and may wait for memory to change. Before contents are written nothing
may be at work. On the device they are written under a veil (`grader.judge.veil`); when that comes off, work that has
been waiting shows, since a GPU's contexts take turns: the pass that takes it off takes longer, or the look after it
waits. Then there are other contents. Host memory has no veil, since no pass over it is short: there, what is written
last is written when the clock starts (`grader.judge.withheld`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NoReturn

from grader.forkserver.handle import InfrastructureError
from grader.judge import device, health
from grader.judge.ring import Ring
from grader.judge.session import Refused, Session

STUDENT, BASELINE = "student", "baseline"
# What taking the veil off may take longer than it does alone: a share, and what a launch may be delayed. So long, and
# for what a look lets pass, somebody else can have computed unseen.
SLOWER, DELAY_SECONDS = 0.2, 200e-6
# Passes by which it is known how long one takes alone: an odd number, which leaves the veil off.
PASSES = 5
# Contents that somebody was at work on are not used. Another program may be so now and then: so often in a row, and in
# all batches of a duel.
TRIES, ALARMS = 10, 20


@dataclass
class Placing:
    """Of one ring, against one student's session. Methods raise Refused if the submission goes on computing, which ends
    it, and InfrastructureError if somebody else does."""

    ring: Ring
    student: Session
    cuda: bool
    # A slot's share of a pass with no work of the submission about; None before there was one.
    _pass_seconds: float | None = None
    _alarms: int = 0

    def first(self) -> None:
        """Contents for everybody to see, before a submission knows of this memory; shows how long a pass takes."""
        with self.student.halt.frozen():
            self.await_quiet()
            self.ring.fill()
            self._pass_seconds = min(self.ring.turn(BASELINE) for _ in range(PASSES)) / self.ring.count

    def for_student(self) -> float:
        """New inputs and poisoned outputs, which nobody has had time to compute from. Returns the seconds that it took
        the judge, without those that work of the submission was waited for or found."""
        self.await_quiet()
        tries = 0
        while True:
            started = time.monotonic()
            self.ring.fill()
            taken = time.monotonic() - started
            self.await_quiet()
            started = time.monotonic()
            alone = self._turn_alone(STUDENT)
            if not self.ring.still_poisoned(STUDENT):
                raise Refused(self.student.lose(
                    "late_write", "Work that the submission had left on the GPU wrote to an output of a timed call "
                                  "before the call was made."))
            if alone:
                return taken + time.monotonic() - started
            tries += 1
            self._alarms += 1
            if tries == TRIES or self._alarms == ALARMS:
                self._blame("Work that the submission had left on the GPU began, again and again, when there were new "
                            "inputs for timed calls: before the calls were made.")

    def for_baseline(self) -> None:
        """Poisoned outputs, and the inputs that the student had: nobody gains by having changed them, and it leaves
        them as they are. But new ones on the host, where writing them fills the caches."""
        if self.ring.on_host or not self.ring.unchanged():
            self.ring.fill()
            self.ring.turn(BASELINE)
        else:
            self.ring.poison(BASELINE)
        if not self.ring.still_poisoned(BASELINE):
            raise InfrastructureError("somebody wrote to the baseline's outputs")
        # What was queued before may have begun meanwhile.
        self.await_quiet()

    def await_quiet(self) -> None:
        """Waits until nothing is at work on the device: what the submission left there would look at inputs before the
        clock starts, or slow the baseline down. Call it while the submission is frozen, so that nothing is added."""
        if self.cuda and not device.quiet():
            self._blame("Work of the submission was still running on the GPU, long after its function had returned.")

    def _turn_alone(self, side: str) -> bool:
        """Takes the veil off; whether nobody else computed then or does now."""
        seconds = self.ring.turn(side)
        if not self.cuda:
            return True
        assert self._pass_seconds is not None
        usual = self._pass_seconds * self.ring.count
        return seconds <= usual * (1 + SLOWER) + DELAY_SECONDS and device.at_rest()

    def _blame(self, message: str) -> NoReturn:
        """Ends the submission, and raises Refused if the device is quiet then: it was the submission's work."""
        if unfit := health.unfit(device.state()):
            raise InfrastructureError(unfit)
        lost = self.student.lose("late_write", message)
        # Who it was shows when the submission is gone.
        quiet = device.quiet()
        if quiet and (self._pass_seconds is None or all(self._turn_alone(BASELINE) for _ in range(PASSES))):
            raise Refused(lost)
        raise InfrastructureError("another program keeps the GPU, or the processor, busy")
