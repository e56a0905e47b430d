"""The clock times real workers from outside: what a submission does about it is seen, refused or bounded."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator

import pytest
import torch

from grader.assignment import Assignment
from grader.catalogue import assignments
from grader.forkserver.handle import InfrastructureError, Zygote
from grader.judge.buffers import HostTensor
from grader.judge.clock import Clock, Timed
from grader.judge.compare import poison_, unwritten
from grader.judge.session import Lost, Refused, Session
from grader.plan import wire
from tests.judge.test_contention import never_resting, told_by_the_kernel

LIMITS = wire.Limits(memory_mb=512, file_mb=8, processes=32, cpu_seconds=60)
SHAPE = (64, 64)
SLOTS = 3


@pytest.fixture(scope="module")
def silu() -> Assignment:
    return assignments()["silu"]


class Track:
    """A session with its clock and slots of one input and one output each."""

    def __init__(self, zygote: Zygote, assignment: Assignment, source: str, seconds: float = 10) -> None:
        self.session = Session(
            zygote, assignment, source.encode(), LIMITS, 1000, seconds, time.monotonic() + 60)
        self.clock = Clock(self.session)
        self.inputs = [HostTensor(SHAPE, "float32") for _ in range(SLOTS)]
        self.outputs = [HostTensor(SHAPE, "float32") for _ in range(SLOTS)]

    def start(self) -> None:
        assert self.session.load() is None
        assert self.clock.show() is None
        for slot, (x, out) in enumerate(zip(self.inputs, self.outputs, strict=True)):
            poison_(out.tensor)
            x.tensor.normal_()
            descriptors: list[int] = []
            arguments: list[wire.Argument] = [x.argument(descriptors), out.argument(descriptors)]
            request = wire.Map(seq=self.session.next_seq(), slot=slot, arguments=arguments)
            reply, _ = self.session.ask(request, descriptors)
            assert isinstance(reply, wire.Done), reply

    def close(self) -> None:
        self.session.close()
        self.clock.close()
        for tensor in (*self.inputs, *self.outputs):
            tensor.close()


@pytest.fixture
def track(zygote: Zygote, silu: Assignment, request: pytest.FixtureRequest) -> Iterator[Track]:
    one = Track(zygote, silu, request.param)
    try:
        one.start()
        yield one
    finally:
        one.close()


def source(text: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("track", [text], indirect=True, ids=[""])


@told_by_the_kernel
@source("import time\ndef silu(x, out):\n    until = time.monotonic() + 0.1\n    while time.monotonic() < until: pass")
def test_who_shares_its_core_is_seen_to_wait(track: Track) -> None:
    core = max(os.sched_getaffinity(track.session.worker.pid))
    os.sched_setaffinity(track.session.worker.pid, {core})
    with never_resting(core):
        beside = track.clock.batch([0, 1])
    assert isinstance(beside, Timed)
    # Of worker and judge each may wait all the time.
    assert 0.1 * beside.seconds < beside.contended < 2.2 * (beside.waited + beside.seconds)


@source("def silu(x, out):\n    out.copy_(x)")
def test_what_is_done_right_before_the_clock_starts_is_not_in_the_time(track: Track) -> None:
    asked = []

    def last() -> None:
        assert bool(unwritten(track.outputs[0].tensor).all())
        asked.append(track.inputs[0].tensor.fill_(5.0))
        time.sleep(0.2)

    timed = track.clock.batch([0], at_go=last)
    assert isinstance(timed, Timed) and len(asked) == 1 and timed.waited > 0.2 > timed.seconds
    assert bool((track.outputs[0].tensor == 5.0).all())


@source("def silu(x, out):\n    out.copy_(x)")
def test_every_slot_of_a_batch_is_called_and_no_other(track: Track) -> None:
    timed = track.clock.batch([0, 2], record=True)
    assert isinstance(timed, Timed) and timed.seconds > 0
    assert [bool(unwritten(out.tensor).all()) for out in track.outputs] == [False, True, False]
    assert torch.equal(track.outputs[2].tensor, track.inputs[2].tensor)
    assert [use.name for use in timed.operators] == ["aten::copy_"] and timed.operators[0].count == 2


@source("def silu(x, out):\n    out.copy_(x)")
def test_recording_is_off_unless_asked_for(track: Track) -> None:
    for wanted in (False, True, False):
        timed = track.clock.batch([1], record=wanted)
        assert isinstance(timed, Timed) and bool(timed.operators) == wanted


@source("import time\ndef silu(x, out):\n    time.sleep(0.02)")
def test_the_time_is_that_of_the_calls(track: Track) -> None:
    empty = [track.clock.batch([]) for _ in range(20)]
    assert all(isinstance(one, Timed) for one in empty)
    trip = statistics.median(one.seconds for one in empty if isinstance(one, Timed))
    one, three = track.clock.batch([0]), track.clock.batch([0, 1, 2])
    assert isinstance(one, Timed) and isinstance(three, Timed)
    assert 0 < trip < one.seconds and one.seconds >= 0.02 and three.seconds >= 0.06


@source("import time\ntime.perf_counter = time.monotonic = time.time = lambda: 0.0\n"
        "def silu(x, out):\n    time.sleep(0.02)")
def test_a_submissions_own_clock_is_nobodys(track: Track) -> None:
    timed = track.clock.batch([0])
    assert isinstance(timed, Timed) and timed.seconds >= 0.02


@source("def silu(x, out):\n    raise ValueError('why')")
def test_an_exception_in_a_batch_is_the_submissions(track: Track) -> None:
    lost = track.clock.batch([0, 1])
    assert isinstance(lost, Lost) and (lost.kind, lost.line, lost.message) == ("exception", 2, "ValueError: why")


@pytest.mark.parametrize(("text", "kind"), [
    ("import os\ndef silu(x, out):\n    os._exit(0)", "crash"),
    ("def silu(x, out):\n    while True: pass", "time_out"),
], ids=["exits", "never ends"])
def test_a_worker_that_is_lost_in_a_batch_is_told_as_elsewhere(
    zygote: Zygote, silu: Assignment, text: str, kind: str
) -> None:
    track = Track(zygote, silu, text, seconds=3)
    try:
        track.start()
        lost = track.clock.batch([0])
        assert isinstance(lost, Lost) and lost.kind == kind
    finally:
        track.close()


@source("def silu(x, out):\n    out.copy_(x)")
def test_where_no_inputs_come_there_is_no_batch_and_the_worker_waits_for_the_next(track: Track) -> None:
    def fails() -> float:
        raise MemoryError("ours")

    for _ in range(3):
        with pytest.raises(MemoryError, match="ours"):
            track.clock.batch([0], prepare=fails)
        assert bool(unwritten(track.outputs[0].tensor).all())
    assert isinstance(track.clock.batch([0]), Timed) and not track.session.over
    assert torch.equal(track.outputs[0].tensor, track.inputs[0].tensor)


@source("def silu(x, out):\n    out.copy_(x)")
def test_who_is_refused_a_batch_is_told_why(track: Track) -> None:
    def refuses() -> float:
        raise Refused(track.session.lose("late_write", "still at work"))

    lost = track.clock.batch([0], prepare=refuses)
    assert isinstance(lost, Lost) and (lost.kind, lost.message) == ("late_write", "still at work")
    assert track.session.over


@source("def silu(x, out):\n    out.copy_(x)")
def test_a_failure_of_ours_after_the_worker_was_ended_is_told_as_such(track: Track) -> None:
    def fails() -> float:
        track.session.lose("late_write", "still at work")
        raise InfrastructureError("and another program is, too")

    with pytest.raises(InfrastructureError, match="another program"):
        track.clock.batch([0], prepare=fails)


# A submission that has found the page among its memory maps says "done" before it has done anything.
EARLY = """
import ctypes, re, threading, time
page = [int(line.split('-')[0], 16) for line in open('/proc/self/maps') if 'memfd:clock' in line]
def silu(x, out):
    words = (ctypes.c_int64 * 512).from_address(
        [int(line.split('-')[0], 16) for line in open('/proc/self/maps') if 'memfd:clock' in line][0])
    words[32] = words[24]
    time.sleep(0.5)
    out.copy_(x)
"""


@source(EARLY)
def test_who_says_done_too_early_has_not_written_by_then(track: Track) -> None:
    seen: list[torch.Tensor] = []
    timed = track.clock.batch([0], at_done=lambda: seen.append(track.outputs[0].tensor.clone()))
    assert isinstance(timed, Timed)
    assert bool(unwritten(seen[0]).any())


RUNNER = """
import threading, time
box = []
def run():
    while True:
        for x, out in box:
            out.copy_(x)
def silu(x, out):
    box.append((x, out))
    if len(box) == 1:
        threading.Thread(target=run, daemon=True).start()
"""


@source(RUNNER)
def test_a_frozen_worker_computes_nothing_on_what_it_is_given(track: Track) -> None:
    assert isinstance(track.clock.batch([0]), Timed)
    with track.session.halt.frozen():
        poison_(track.outputs[0].tensor)
        track.inputs[0].tensor.normal_()
        time.sleep(0.2)
        assert bool(unwritten(track.outputs[0].tensor).all())
    deadline = time.monotonic() + 10
    while bool(unwritten(track.outputs[0].tensor).any()):
        assert time.monotonic() < deadline, "the control: a running one would have"
