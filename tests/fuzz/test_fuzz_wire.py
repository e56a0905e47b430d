"""Whatever a worker writes into its socket, the judge gets a message of the asked shape or a ChannelError."""

import contextlib
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

from hypothesis import given, note, target
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from pydantic import TypeAdapter, ValidationError

from grader.device import messages as executor
from grader.plan import compiling, frames, messages, wire
from tests.fuzz.harness import ODD_JSON, bounded, mutated, no_descriptor_left, open_descriptors, within

SECONDS = 1.0
SEQ = 7
MANY_DESCRIPTORS = 40
SHAPES: dict[str, TypeAdapter[Any]] = {
    "planner request": messages.PLANNER_REQUEST,
    "planner reply": messages.PLANNER_REPLY,
    "simulator reply": messages.SIMULATOR_REPLY,
    "compiler reply": compiling.COMPILER_REPLY,
    "executor reply": executor.EXECUTOR_REPLY,
    "fork server request": wire.FORK_SERVER_REQUEST,
    "fork server reply": wire.FORK_SERVER_REPLY,
}
MODELS: dict[str, tuple[type[wire.Message], ...]] = {
    "planner request": (messages.Load, messages.PlanCall),
    "planner reply": (messages.Loaded, messages.Planned, messages.Refused, messages.Failed),
    "simulator reply": (messages.Simulated, messages.CannotSimulate, messages.Exhausted),
    "compiler reply": (compiling.Compiled,),
    "executor reply": (executor.ProgramReady, executor.Captured, executor.CallEnded, executor.Replayed, executor.Fault),
    "fork server request": (wire.Spawn, wire.Reap),
    "fork server reply": (wire.Ready, wire.Spawned, wire.Reaped),
}
ALL_MODELS = sorted({model for models in MODELS.values() for model in models}, key=lambda model: model.__name__)


@st.composite
def any_message(draw: st.DrawFn) -> wire.Message:
    """A message of any type, its fields drawn from their annotations."""
    try:
        return draw(st.builds(draw(st.sampled_from(ALL_MODELS)), seq=st.sampled_from([SEQ, SEQ, SEQ, 0, -1, 2**70])))
    except ValidationError:
        return messages.Loaded(seq=SEQ)


def written(message: wire.Message) -> bytes:
    return message.model_dump_json().encode() + b"\n"


@st.composite
def with_odd_values(draw: st.DrawFn) -> bytes:
    """A real frame, some of whose values are replaced, or whose keys are written twice."""
    fields = json.loads(written(draw(any_message())))
    pairs = [(json.dumps(key), json.dumps(value)) for key, value in fields.items()]
    for _ in range(draw(st.integers(1, 3))):
        key = draw(st.sampled_from([*(key for key, _ in pairs), '"op"', '"seq"', '"extra"', '"\\ud800"']))
        value = draw(ODD_JSON)
        pairs = [*pairs, (key, value)] if draw(st.booleans()) else [
            (one, value if one == key else old) for one, old in pairs]
    return ("{" + ",".join(f"{key}:{value}" for key, value in pairs) + "}\n").encode()


@st.composite
def near_the_cap(draw: st.DrawFn) -> bytes:
    """A frame of nearly the greatest length: padded between tokens, or by a text."""
    length = frames.FRAME_BYTES + draw(st.integers(-2, 2))
    start, end = draw(st.sampled_from([
        (b'{"op":"loaded","seq":7', b"}\n"), (b'{"op":"failed","seq":7,"failure":"exception","message":"', b'"}\n'),
        (b'{"op":"', b'","seq":7}\n'), (b'{"op":"loaded","seq":', b"}\n")]))
    filling = draw(st.sampled_from([b" ", b"x", b"7", b"[", b"\\", b"\xff", b"\t"]))
    return start + filling * (length - len(start) - len(end)) + end


@st.composite
def nested(draw: st.DrawFn) -> bytes:
    opening, closing = draw(st.sampled_from([(b"[", b"]"), (b'{"a":', b"}"), (b'{"op":', b"}"), (b'[{"seq":', b"}]")]))
    depth = draw(st.sampled_from([1, 100, 127, 128, 129, 199, 200, 201, 255, 256, 1000, 9000]))
    return opening * depth + b"1" + draw(st.sampled_from([closing * depth, b""])) + b"\n"


FRAMES = st.one_of(
    st.binary(max_size=200),
    st.binary(max_size=60).map(lambda data: data + b"\n"),
    any_message().map(written),
    mutated(any_message().map(written), st.one_of(st.binary(max_size=8), ODD_JSON.map(str.encode))),
    with_odd_values(),
    near_the_cap(),
    nested(),
)


def parsed(name: str, frame: bytes, seq: int | None) -> wire.Message | None:
    """The frame as one of a shape's messages; None if it is refused, in the only way there is."""
    try:
        with within(SECONDS):
            message: wire.Message = frames.Channel.parse(SHAPES[name], frame, seq)
    except frames.ChannelError as error:
        assert str(error)
        return None
    assert type(message) in MODELS[name]
    assert seq is None or message.seq == seq
    # What was let in is within the fields' bounds, and could be sent on.
    assert SHAPES[name].validate_json(message.model_dump_json()) == message
    return message


@bounded(200)
@given(st.sampled_from(sorted(SHAPES)), FRAMES, st.sampled_from([SEQ, None]))
def test_any_frame_is_a_message_of_the_shape_or_refused(name: str, frame: bytes, seq: int | None) -> None:
    target(float(len(frame)))
    parsed(name, frame, seq)


@bounded(80)
@given(any_message())
def test_every_real_message_arrives_as_it_was_sent(message: wire.Message) -> None:
    name = next(name for name, models in MODELS.items() if type(message) in models)
    frame = written(message)
    assert parsed(name, frame, message.seq) == message


@bounded(100)
@given(FRAMES, st.integers(0, MANY_DESCRIPTORS))
def test_no_descriptor_is_taken_from_a_worker(frame: bytes, count: int) -> None:
    with no_descriptor_left():
        left, right = frames.socket_pair()
        with left, right, Path(os.devnull).open("rb") as device:
            judge = frames.Channel(left, limit=frames.TOTAL_BYTES)
            socket.send_fds(right, [frame or b"x"], [device.fileno()] * count)
            before = open_descriptors()
            with contextlib.suppress(frames.ChannelError):
                judge.receive(messages.PLANNER_REPLY, seq=SEQ, deadline=time.monotonic() + SECONDS)
            assert open_descriptors() == before


class HostilePeer(RuleBasedStateMachine):
    """A judge's channel and a peer that does what it likes: frames come out in order, or as ChannelErrors."""

    LIMIT = 4 * frames.FRAME_BYTES

    def __init__(self) -> None:
        super().__init__()
        left, self.peer = frames.socket_pair()
        self.judge = frames.Channel(left, limit=self.LIMIT)
        self.peer.settimeout(0)
        self.waiting: list[bytes] = []
        self.received = 0
        self.gone = False
        self.device = os.open(os.devnull, os.O_RDONLY)
        self.descriptors = open_descriptors()

    def teardown(self) -> None:
        self.judge.close()
        self.peer.close()
        os.close(self.device)

    @precondition(lambda self: not self.gone)
    @rule(frame=st.one_of(FRAMES, st.just(b"")), count=st.sampled_from([0, 0, 1, 16, 253]), times=st.integers(1, 5))
    def write(self, frame: bytes, count: int, times: int) -> None:
        for _ in range(times):
            with contextlib.suppress(BlockingIOError):
                socket.send_fds(self.peer, [frame], [self.device] * count)
                self.waiting.append(frame)

    @precondition(lambda self: not self.gone)
    @rule()
    def hang_up(self) -> None:
        self.peer.close()
        self.gone = True
        self.descriptors -= 1

    @precondition(lambda self: not self.gone)
    @rule()
    def half_hang_up(self) -> None:
        self.peer.shutdown(socket.SHUT_RD)

    @rule(message=st.sampled_from([
        messages.Loaded(seq=SEQ), messages.Failed(seq=1, failure="exception", message="x" * 8000)]))
    def send(self, message: wire.Message) -> None:
        with contextlib.suppress(frames.ChannelError):
            self.judge.send(message, seconds=0.001)

    @rule(seq=st.sampled_from([SEQ, SEQ, None]))
    def receive(self, seq: int | None) -> None:
        frame = self.waiting.pop(0) if self.waiting else None
        expected: object = None
        if frame is not None:
            self.received += min(len(frame), frames.FRAME_BYTES + 1)
            if frame and len(frame) <= frames.FRAME_BYTES and self.received <= self.LIMIT:
                expected = parsed("planner reply", frame, seq)
        note(f"{len(frame or b'')} bytes expected, {expected!r:.100}")
        try:
            with within(SECONDS):
                message: object = self.judge.receive(messages.PLANNER_REPLY, seq=seq, deadline=time.monotonic())
        except frames.ChannelTimeout:
            assert frame is None and not self.gone
        except frames.ChannelError:
            assert frame is not None or self.gone
            assert expected is None
        else:
            assert message == expected and expected is not None

    @invariant()
    def no_descriptor_comes_in(self) -> None:
        assert open_descriptors() == self.descriptors


HostilePeer.TestCase.settings = bounded(20)
TestHostilePeer = HostilePeer.TestCase
