"""The answers of several assignments of one submission at the same time: most of that is compiling, on a core each.

Only answers: speed is measured alone, while the other workers are stopped or gone. What may have come of the company,
and not of the submission, is judged again alone, and that counts.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial

from grader.assignment import Case, TimedCase
from grader.forkserver.handle import InfrastructureError
from grader.judge import device
from grader.judge.attempt import RECORD, SOURCE, Attempt, case_id
from grader.result import CheckResult, Detail

# What a neighbour may be the cause of.
SHARED = ("infrastructure", "time_out", "out_of_memory", "over_limit", "crash")
# Between two looks at whether those that are to stop have.
PAUSE_SECONDS = 0.02

Make = Callable[[Callable[[], int]], Attempt]
"""Makes an attempt whose workers come from the zygote of the number that the function returns, from 0 on."""


class Member:
    """One assignment in company: to be asked as an `Attempt` is, which answers at once what is known already."""

    def __init__(self, company: Company, make: Make, cases: Sequence[Case]) -> None:
        self._company = company
        self._make = make
        self._place = 0
        self._found: dict[str, CheckResult | Exception] = {}
        self.attempt = make(lambda: self._place)
        self.attempt.free = company.before
        self._steps: dict[str, Callable[[], CheckResult]] = {
            SOURCE: self.attempt.read, **{case_id(case): partial(self.attempt.check, case) for case in cases},
            RECORD: self.attempt.record}
        # Here, not in a thread: Python's own parser warns through what all threads share.
        self._take(SOURCE)
        self._known = company.pool.submit(self._judge)

    def read(self) -> CheckResult:
        return self._answer(SOURCE) or self.attempt.read()

    def check(self, case: Case) -> CheckResult:
        return self._answer(case_id(case)) or self.attempt.check(case)

    def record(self) -> CheckResult:
        return self._answer(RECORD) or self.attempt.record()

    def time(self, case: TimedCase) -> CheckResult:
        self._company.settle()
        try:
            return self.attempt.time(case)
        except InfrastructureError:
            if not self._company.settle(alone=True, but=self):
                raise
            return self.attempt.time(case)

    def close(self) -> dict[str, Detail]:
        if not self.done:
            # Whoever asked is interrupted.
            self._company.stop()
        return self.attempt.close()

    @property
    def done(self) -> bool:
        return self._known.done()

    def _judge(self) -> None:
        self._place = self._company.places.pop()
        for step in self._steps:
            if step != SOURCE and not self._company.stopped:
                self._take(step)
        try:
            self.attempt.rest(end=self._company.crowded)
        except Exception as error:
            self._found[RECORD] = error
        if self._company.crowded:
            self._company.places.append(self._place)

    def _take(self, step: str) -> None:
        try:
            self._found[step] = self._steps[step]()
        except Exception as error:
            # It is raised where it is asked for.
            self._found[step] = error

    def _answer(self, step: str) -> CheckResult | None:
        """What was found; None if it has to be found alone."""
        if not self._known.cancelled():
            wait([self._known])
        if self._company.stopped:
            raise InfrastructureError("the grading was interrupted")
        if any(_shared(found) for found in self._found.values()):
            self._company.settle(alone=True)
            # What it did itself stands: nobody gets a second try by running out of time.
            if not self.attempt.close() and not self.attempt.violations:
                self._found.clear()
                self.attempt = self._make(lambda: self._place)
        if not self._found:
            return None
        found = self._found[step]
        if isinstance(found, Exception):
            raise found
        return found


class Company:
    """The members named by `makers`, with their cases, `most` of them at work at once."""

    def __init__(self, makers: Mapping[str, tuple[Make, Sequence[Case]]], most: int, *, cuda: bool) -> None:
        self.places = list(range(most))
        # A worker that is to wait for its turn keeps its zygote.
        self.crowded = len(makers) > most
        self.pool = ThreadPoolExecutor(most)
        self._cuda = cuda
        self.before = device.memory(cuda)
        self._settled = False
        self.stopped = False
        self.members: dict[str, Member] = {}
        self.members = {name: Member(self, make, cases) for name, (make, cases) in makers.items()}

    def settle(self, *, alone: bool = False, but: Member | None = None) -> bool:
        """Waits for all answers. Afterwards nothing of any member is at work; `alone`, or where one has left work on
        the device or holds much of its memory, nothing of them is there. Whether any but one had a worker still."""
        self.pool.shutdown()
        if not alone and not self._settled and self._cuda:
            alone = not device.quiet() or bool(device.hoarded(device.memory(True), self.before))
        self._settled = True
        there = [member for member in self.members.values() if member is not but and member.attempt.pid]
        if alone:
            for member in self.members.values():
                member.attempt.rest(end=True)
        return bool(there)

    def stop(self) -> None:
        """Ends what is at work, for good."""
        self.stopped = True
        self.pool.shutdown(wait=False, cancel_futures=True)
        while not all(member.done for member in self.members.values()):
            for member in self.members.values():
                if not member.done and (pid := member.attempt.pid):
                    # No more than that: its own thread takes note, and does the rest.
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            time.sleep(PAUSE_SECONDS)

    def close(self) -> None:
        """Ends what is at work, if anything is, and the threads."""
        self.stop()
        self.pool.shutdown()


def _shared(found: CheckResult | Exception) -> bool:
    return isinstance(found, Exception) or (found.detail is not None and found.detail.kind in SHARED)
