"""The wire takes exactly its shapes and survives everything else."""

import os
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.plan import frames, wire

SOON = 0.2


@pytest.fixture
def pair() -> Iterator[tuple[frames.Channel, frames.Channel]]:
    left, right = frames.socket_pair()
    with left, right:
        yield frames.Channel(left, limit=frames.TOTAL_BYTES), frames.Channel(right)


Pair = tuple[frames.Channel, frames.Channel]


def receive(channel: frames.Channel, seq: int = 1) -> wire.Message:
    return channel.receive(wire.REPLY, seq=seq, deadline=time.monotonic() + SOON)


def test_messages_and_descriptors_arrive(pair: Pair) -> None:
    judge, worker = pair
    read, write = os.pipe()
    judge.send(wire.Call(seq=7, arguments=[wire.ScalarArgument(value=0.5)]), [write])
    request, descriptors = worker.receive_with_descriptors(wire.REQUEST)
    assert isinstance(request, wire.Call) and request.seq == 7
    assert isinstance(request.arguments[0], wire.ScalarArgument) and request.arguments[0].value == 0.5
    os.write(descriptors[0], b"through")
    assert os.read(read, 7) == b"through"
    for descriptor in (read, write, *descriptors):
        os.close(descriptor)
    worker.send(wire.Done(seq=7, operators=[wire.OperatorUse(name="aten::mm", line=3, count=2)], kernels=[]))
    reply = receive(judge, 7)
    assert isinstance(reply, wire.Done) and reply.operators[0].name == "aten::mm"


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
    "text over its cap": b'{"op":"failed","seq":1,"failure":"exception","message":"' + b"x" * 20_001 + b'"}\n',
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
    text = "x" * 20_000
    with pytest.raises(frames.ChannelError, match="cap"):
        for seq in range(1 + frames.TOTAL_BYTES // len(text)):
            worker.send(wire.Failed(seq=seq, failure="exception", message=text))
            receive(judge, seq)


def test_descriptors_from_a_worker_are_dropped(pair: Pair) -> None:
    judge, worker = pair
    before = len(os.listdir("/proc/self/fd"))
    read, write = os.pipe()
    worker.send(wire.Loaded(seq=1), [read, write])
    os.close(read)
    os.close(write)
    receive(judge)
    assert len(os.listdir("/proc/self/fd")) == before


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.binary(max_size=300), st.text(max_size=200).map(str.encode)))
def test_any_bytes_parse_or_are_refused(frame: bytes) -> None:
    try:
        message = frames.Channel.parse(wire.REPLY, frame, None)
    except frames.ChannelError:
        return
    assert isinstance(message, wire.Loaded | wire.Done | wire.Failed)


def test_what_was_said_before_hanging_up_is_read_though_something_was_left_unread() -> None:
    ours, theirs = frames.socket_pair()
    judge, worker = frames.Channel(ours), frames.Channel(theirs)
    worker.send(wire.Loaded(seq=7))
    # Unread on the other side: the kernel then tells of a reset before it gives what lies in the queue.
    judge.send(wire.Unmap(seq=8))
    worker.close()
    assert judge.receive(wire.REPLY, seq=7, deadline=time.monotonic() + 1) == wire.Loaded(seq=7)
    with pytest.raises(frames.ChannelClosed):
        judge.receive(wire.REPLY, seq=8, deadline=time.monotonic() + 1)
    judge.close()
