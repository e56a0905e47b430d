"""New contents for a batch: put in place while a submission's processes are stopped, and nothing of it runs on the GPU.

What it has queued there goes on all the same, and may wait for memory to change. Before contents are written nothing
may be at work; they are written under a veil (`grader.judge.veil`); once that is off, work that has been waiting shows,
since a GPU's contexts take turns: the pass that takes the veil off takes longer, or the look after it waits. Then there
are other contents, and so on until nobody has had any time with them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NoReturn

from grader.judge import device, health
from grader.judge.ring import Ring
from grader.judge.session import Refused, Session
from grader.judge.zygote import InfrastructureError

STUDENT, BASELINE = "student", "baseline"
# How long work may go on that a submission has left on the device.
QUIET_SECONDS = 1.0
# What taking the veil off may take longer than it does alone: a share, and what a launch may be delayed. So long, at
# most, somebody else can have computed.
SLOWER, DELAY_SECONDS = 0.1, 200e-6
# Passes by which it is known how long one takes alone: an odd number, which leaves the veil off.
PASSES = 5
# Contents that somebody was at work on are not used. Another program may be so once or twice.
TRIES = 10


@dataclass
class Placing:
    """Of one ring, against one student's session. Methods raise Refused if the submission goes on computing, which ends
    it, and InfrastructureError if somebody else does."""

    ring: Ring
    student: Session
    cuda: bool
    # Of a slot, in a pass with nobody else about.
    _pass_seconds: float = 0.0

    def first(self) -> None:
        """Contents for everybody to see, before a submission knows of this memory; shows how long a pass takes."""
        with self.student.frozen():
            self.await_quiet()
            self.ring.fill()
            self._pass_seconds = min(self.ring.reveal(BASELINE) for _ in range(PASSES)) / self.ring.count

    def for_student(self) -> float:
        """New inputs and poisoned outputs, which nobody has had time to compute from. Returns the seconds of its own
        that it took, without those that work of the submission was waited for."""
        taken, tries = 0.0, 0
        self.await_quiet()
        while True:
            tries += 1
            started = time.monotonic()
            self.ring.fill()
            taken += time.monotonic() - started
            self.await_quiet()
            started = time.monotonic()
            alone = self._reveal(STUDENT)
            if not self.ring.still_poisoned(STUDENT):
                raise Refused(self.student.lose(
                    "late_write", "Work that the submission had left on the GPU wrote to an output of a timed call "
                                  "before the call was made."))
            taken += time.monotonic() - started
            if alone:
                return taken
            if tries == TRIES:
                self._blame("Work that the submission had left on the GPU began, again and again, when there were new "
                            "inputs for timed calls: before the calls were made.")

    def for_baseline(self) -> None:
        """Poisoned outputs, and the inputs that the student had: nobody gains by having changed them, and it leaves
        them as they are. But new ones on the host, where writing them fills the caches."""
        if self.ring.on_host or not self.ring.unchanged():
            self.ring.fill()
            self.ring.reveal(BASELINE)
        else:
            self.ring.poison(BASELINE)
        if not self.ring.still_poisoned(BASELINE):
            raise InfrastructureError("somebody wrote to the baseline's outputs")
        # What was queued before may have begun meanwhile.
        self.await_quiet()

    def await_quiet(self) -> None:
        """Waits until nothing is at work on the device: what the submission left there would look at inputs before the
        clock starts, or slow the baseline down. Call it while the submission is frozen, so that nothing is added."""
        if self.cuda and not device.quiet(QUIET_SECONDS):
            self._blame("Work of the submission was still running on the GPU, long after its function had returned.")

    def _reveal(self, side: str) -> bool:
        """Takes the veil off; whether nobody else computed then or does now."""
        seconds = self.ring.reveal(side)
        if not self.cuda:
            return True
        usual = self._pass_seconds * self.ring.count
        return seconds <= usual * (1 + SLOWER) + DELAY_SECONDS and device.at_rest()

    def _blame(self, message: str) -> NoReturn:
        """Ends the submission, and raises Refused if the device is quiet then: it was the submission's work."""
        if self.cuda and (unfit := health.unfit(device.state())):
            raise InfrastructureError(unfit)
        lost = self.student.lose("late_write", message)
        # Who it was shows when the submission is gone.
        if not self.cuda or (device.quiet(QUIET_SECONDS) and all(self._reveal(BASELINE) for _ in range(PASSES))):
            raise Refused(lost)
        raise InfrastructureError("another program keeps the GPU busy")
