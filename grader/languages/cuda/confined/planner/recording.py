"""Recording of calls under one seed, in a child process of its own, so that no later recording sees its effects."""

from __future__ import annotations

import os
import select
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from grader.languages.cuda.confined.planner import child
from grader.languages.cuda.confined.planner.records import HostRecord, Kind, read_records
from grader.plan.plan import Malformed

_MOST_BYTES = child.MOST_RECORD_BYTES + (1 << 20)
# Seconds for a child that runs too long to report the line in which it was stopped.
_GRACE = 1.0
_STEP = 0.05
SIDE_BY_SIDE = 2
"""The number of children at a time: each may take as much memory as a call."""
# Children that have not been reaped yet.
_left: list[int] = []
_LAST = (Kind.REFUSED, Kind.FAILED, Kind.END)


@dataclass
class Recording:
    """Records of one child: while the file was loaded, and in each call. `last` says how it ended; None if the process
    ended without such a record, or its time was `up`."""

    seed: int
    loading: list[HostRecord] = field(default_factory=list)
    calls: list[list[HostRecord]] = field(default_factory=list)
    last: HostRecord | None = None
    up: bool = False

    def phases(self) -> list[list[HostRecord]]:
        return [self.loading, *self.calls]

    def resource_queries(self) -> list[HostRecord]:
        return [record for phase in self.phases() for record in phase if record.kind == Kind.ASKED]


def record(session: child.CallSession, seeds: Sequence[int], until: float) -> Iterator[Recording]:
    """Record the calls under each seed, SIDE_BY_SIDE at a time, until the time `until` of the monotonic clock. Raises
    Malformed for forged records."""
    begun: deque[_Recorder] = deque()
    left = deque(seeds)
    try:
        while begun or left:
            while left and len(begun) < SIDE_BY_SIDE:
                begun.append(_start(session, left.popleft(), until))
            yield _recording(session, begun.popleft(), until)
    finally:
        for recorder in begun:
            os.close(recorder.reading)
            _end(recorder.pid)


class _Recorder(NamedTuple):
    seed: int
    pid: int
    reading: int


def _start(session: child.CallSession, seed: int, until: float) -> _Recorder:
    reading, writing = os.pipe2(os.O_CLOEXEC)
    try:
        pid = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        raise Malformed("host code has left too many processes behind") from None
    if not pid:
        os.close(reading)
        child.run(session, seed, writing, max(0.001, until - time.monotonic()))
    os.close(writing)
    return _Recorder(seed, pid, reading)


def _recording(session: child.CallSession, begun: _Recorder, until: float) -> Recording:
    try:
        made, up = _read_output(begun.reading, begun.pid, until + _GRACE)
    finally:
        os.close(begun.reading)
        _end(begun.pid)
    recording = Recording(begun.seed, up=up)
    for host_record in read_records(made):
        if host_record.kind == Kind.CALL:
            recording.calls.append([])
        elif host_record.kind in _LAST:
            recording.last = host_record
            break
        else:
            (recording.calls[-1] if recording.calls else recording.loading).append(host_record)
    if recording.last is not None and recording.last.kind == Kind.END and len(recording.calls) != len(session.calls):
        raise Malformed("it has ended before its calls")
    return recording


def _read_output(reading: int, pid: int, until: float) -> tuple[bytes, bool]:
    """Return what the child writes until it has ended, and whether its time was up before."""
    made, ended = bytearray(), False
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    while len(made) < _MOST_BYTES:
        left = until - time.monotonic()
        if left <= 0:
            return bytes(made), True
        if poll.poll(0 if ended else 1000 * min(left, _STEP)):
            part = os.read(reading, 1 << 20)
            if not part:
                break
            made += part
        elif ended:
            # Processes that the child has left behind may hold the pipe open.
            break
        else:
            ended = _has_ended(pid)
    return bytes(made), False


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(pid: int) -> None:
    """Kill the child and reap it. A confined process may not kill another: there the child ends with this process,
    which the judge ends."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    _left.append(pid)
    until = time.monotonic() + _GRACE
    while not _has_ended(pid) and time.monotonic() < until:
        time.sleep(_STEP / 50)
    for left_pid in list(_left):
        if os.waitpid(left_pid, os.WNOHANG)[0]:
            _left.remove(left_pid)
