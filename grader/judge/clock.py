"""The clock of timed calls: the judge's own, started and stopped through words of a page that judge and worker share.

A batch is a number of calls, each on arguments of its own. The worker says MARKS when nothing is left to prepare; the
judge puts the inputs in place and says SET; the worker wakes its device and says READY. Now the judge reads its clock,
says GO, waits for DONE, and reads its clock again. Neither sleeps while it waits: no message, no system call and no
time of the worker's lies between. What the two sides take to see each other's word is measured by batches of no calls.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader.judge.contention import waits
from grader.judge.session import Lost, Session
from grader.plan import wire

# How often the page is read between two looks at whether the worker is still alive: about a tenth of a millisecond.
READS = 1500
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


@dataclass(frozen=True)
class Timed:
    """A batch that came to its end: seconds between "go" and "done", and the record of what ran.

    `waited` are the seconds from the inputs being in sight to "go"; `looked` those that the look at the answers took,
    from "done" on. `contended` are those for which judge and worker wanted a processor and had none, from the inputs
    being in place to the end of that look, added up.
    """

    seconds: float
    waited: float
    looked: float
    contended: float
    operators: list[wire.OperatorUse]
    kernels: list[wire.KernelUse]


class Clock:
    """Times batches of one session's worker."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._number = 0
        self._shown = False
        self._descriptor = os.memfd_create("clock", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self._descriptor, wire.PAGE_BYTES)
        # A page that shrinks under a reader kills it.
        fcntl.fcntl(self._descriptor, fcntl.F_ADD_SEALS, _SEALS)
        self._words = (ctypes.c_int64 * (wire.PAGE_BYTES // 8)).from_buffer(
            mmap.mmap(self._descriptor, wire.PAGE_BYTES))

    def show(self) -> Lost | None:
        """Gives the worker its view of the page, once."""
        if self._shown:
            return None
        reply, _ = self._session.ask(wire.Clock(seq=self._session.next_seq()), [self._descriptor])
        self._shown = not isinstance(reply, Lost)
        return reply if isinstance(reply, Lost) else None

    def batch(
        self, slots: Sequence[int], which: int = 0, at_done: Callable[[], None] = lambda: None, *,
        prepare: Callable[[], float] = time.perf_counter, at_go: Callable[[], None] = lambda: None,
        warm: Sequence[int] = (), record: bool = False,
    ) -> Timed | Lost:
        """Times one call on each of `slots`.

        `prepare` puts the inputs in place once the worker needs nothing but them, and returns when they came in sight
        (time.perf_counter); it may raise Refused. `at_go` runs right before the clock starts, `at_done` as soon as the
        worker says that it has finished. One call on each of the slots `warm` is made while the worker gets ready. With
        `record`, which takes time, the reply tells what ran.
        """
        self._number += 1
        number, seconds, waited, looked, contended = self._number, 0.0, 0.0, 0.0, 0.0

        def meanwhile(deadline: float) -> float:
            nonlocal seconds, waited, looked, contended
            words = self._words
            if not self._await(wire.MARKS, number, deadline):
                return 0
            asked = time.monotonic()
            try:
                prepared = prepare()
            except BaseException:
                # There will be no batch, and the worker is to wait for the next.
                words[wire.SET] = -number
                raise
            # Our time, not the worker's.
            ours = time.monotonic() - asked
            before = so_far()
            words[wire.SET] = number
            deadline += ours
            if not self._await(wire.READY, number, deadline):
                return ours
            at_go()
            started = time.perf_counter()
            words[wire.GO] = number
            if self._await(wire.DONE, number, deadline):
                done = time.perf_counter()
                at_done()
                seconds, waited, looked = done - started, started - prepared, time.perf_counter() - done
                contended = so_far() - before
            return ours

        request = wire.Batch(seq=self._session.next_seq(), which=which, number=number, slots=list(slots),
            warm=list(warm), record=record)
        with waits(self._session.worker.pid) as so_far:
            reply, _ = self._session.ask(request, [], meanwhile)
        if isinstance(reply, Lost):
            return reply
        assert isinstance(reply, wire.Done)
        if not seconds:
            return self._session.lose("protocol", "the worker answered without waiting for the clock")
        return Timed(seconds, waited, looked, contended, reply.operators, reply.kernels)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _await(self, word: int, number: int, deadline: float) -> bool:
        """Waits for the worker's word. False if it sends a message first, which then tells why."""
        words = self._words
        while True:
            for _ in range(READS):
                if words[word] == number:
                    return True
            if self._session.look(deadline):
                return words[word] == number
