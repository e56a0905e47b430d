"""A channel takes exactly the shapes that are asked for, and survives everything else."""

import os
import time
from collections.abc import Iterator

import pytest

from grader.plan import frames, messages, wire
from grader.plan.limits import MOST_EXCUSED, Budget, Limit

SOON = 0.2


@pytest.fixture
def pair() -> Iterator[tuple[frames.Channel, frames.Channel]]:
    left, right = frames.socket_pair()
    with left, right:
        yield frames.Channel(left, limit=frames.TOTAL_BYTES), frames.Channel(right)


Pair = tuple[frames.Channel, frames.Channel]


def receive(channel: frames.Channel, seq: int = 1) -> wire.Message:
    return channel.receive(messages.PLANNER_REPLY, seq=seq, deadline=time.monotonic() + SOON)


def test_messages_and_descriptors_arrive(pair: Pair) -> None:
    judge, worker = pair
    read, write = os.pipe()
    judge.send(messages.Simulate(seq=7, bytes=5, outputs=["out"], operations=1), [write])
    request, descriptors = worker.receive_with_descriptors(messages.SIMULATOR_REQUEST)
    assert request == messages.Simulate(seq=7, bytes=5, outputs=["out"], operations=1)
    os.write(descriptors[0], b"through")
    assert os.read(read, 7) == b"through"
    for descriptor in (read, write, *descriptors):
        os.close(descriptor)
    worker.send(messages.Planned(seq=7, bytes=3))
    assert receive(judge, 7) == messages.Planned(seq=7, bytes=3)


BAD_FRAMES = {
    "no newline": b'{"op":"loaded","seq":1}',
    "two lines": b'{"op":"loaded","seq":1}\n{"op":"loaded","seq":2}\n',
    "no JSON": b"PASSED\n",
    "other type": b"[1]\n",
    "unknown op": b'{"op":"accepted","seq":1}\n',
    "extra key": b'{"op":"loaded","seq":1,"score":100}\n',
    "text for a number": b'{"op":"loaded","seq":"1"}\n',
    "old sequence number": b'{"op":"loaded","seq":0}\n',
    "half a frame": b'{"op":"loa\n',
    "deep": b"[" * 60_000 + b"\n",
    "not UTF-8": b'{"op":"\xff"}\n',
    "pickle": b"\x80\x04\x95\n",
    "giant": b'{"op":"failed","seq":1,"failure":"exception","message":"' + b"x" * frames.FRAME_BYTES + b'"}\n',
    "text over its cap": b'{"op":"failed","seq":1,"failure":"exception","message":"' + b"x" * 8_001 + b'"}\n',
    "infrastructure by a worker's word": b'{"op":"failed","seq":1,"failure":"infrastructure","message":""}\n',
}


@pytest.mark.parametrize("frame", BAD_FRAMES.values(), ids=BAD_FRAMES)
def test_bad_frames_are_refused(pair: Pair, frame: bytes) -> None:
    judge, worker = pair
    worker.sock.send(frame)
    with pytest.raises(frames.ChannelError):
        receive(judge)


def test_silence_and_hanging_up_are_told_apart(pair: Pair) -> None:
    judge, worker = pair
    with pytest.raises(frames.ChannelTimeout):
        receive(judge)
    worker.close()
    with pytest.raises(frames.ChannelClosed):
        receive(judge)


def test_the_total_is_capped(pair: Pair) -> None:
    judge, worker = pair
    text = "x" * 8_000
    with pytest.raises(frames.ChannelError, match="cap"):
        for seq in range(1 + frames.TOTAL_BYTES // len(text)):
            worker.send(messages.Failed(seq=seq, failure="exception", message=text))
            receive(judge, seq)


def test_descriptors_from_a_worker_are_dropped(pair: Pair) -> None:
    judge, worker = pair
    before = len(os.listdir("/proc/self/fd"))
    read, write = os.pipe()
    worker.send(messages.Loaded(seq=1), [read, write])
    os.close(read)
    os.close(write)
    receive(judge)
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_was_said_before_hanging_up_is_read_though_something_was_left_unread() -> None:
    ours, theirs = frames.socket_pair()
    judge, worker = frames.Channel(ours), frames.Channel(theirs)
    worker.send(messages.Loaded(seq=7))
    # Unread on the other side: the kernel then tells of a reset before it gives what lies in the queue.
    judge.send(messages.Simulate(seq=8, bytes=0, outputs=["out"], operations=1))
    worker.close()
    assert judge.receive(messages.PLANNER_REPLY, seq=7, deadline=time.monotonic() + 1) == messages.Loaded(seq=7)
    with pytest.raises(frames.ChannelClosed):
        judge.receive(messages.PLANNER_REPLY, seq=8, deadline=time.monotonic() + 1)
    judge.close()


def test_a_run_that_gets_no_processor_ends_by_itself() -> None:
    budget = Budget(10, 0.02)
    budget.charge(1)
    time.sleep(0.02 * (1 + MOST_EXCUSED))
    with pytest.raises(Limit) as stopped:
        budget.charge(1)
    assert stopped.value.what == "time"
