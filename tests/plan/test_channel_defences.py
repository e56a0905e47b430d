"""What a frame may be: each bound refuses its attack, which passes without it."""

import time

import pytest
from pydantic import ConfigDict

from grader.plan import frames, messages

FRAMES: dict[str, tuple[bytes, str]] = {
    "a field more": (b'{"op":"planned","seq":1,"bytes":60,"score":60}\n', "extra"),
    "a number as text": (b'{"op":"planned","seq":"1","bytes":60}\n', "strict"),
}


class _AnyFields(messages.Planned):
    model_config = ConfigDict(extra="ignore")


class _AnyTypes(messages.Planned):
    model_config = ConfigDict(strict=False)


def _loosened(strictness: str, frame: bytes) -> bool:
    """Whether the frame passes for "planned" without that one strictness."""
    loose: dict[str, type[messages.Planned]] = {"extra": _AnyFields, "strict": _AnyTypes}
    return bool(loose[strictness].model_validate_json(frame))


@pytest.mark.parametrize(("frame", "strictness"), FRAMES.values(), ids=FRAMES)
def test_a_frame_has_exactly_its_shape(frame: bytes, strictness: str) -> None:
    with pytest.raises(frames.ChannelError):
        frames.Channel.parse(messages.PLANNER_REPLY, frame, 1)
    assert _loosened(strictness, frame)


def test_an_answer_given_in_advance_is_no_answer() -> None:
    frame = b'{"op":"planned","seq":1,"bytes":60}\n'
    with pytest.raises(frames.ChannelError, match="sequence"):
        frames.Channel.parse(messages.PLANNER_REPLY, frame, 2)
    assert frames.Channel.parse(messages.PLANNER_REPLY, frame, None)


@pytest.mark.parametrize("capped", [True, False])
def test_frames_and_their_sum_are_bounded(capped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    small = b'{"op":"planned","seq":1,"bytes":60}\n'
    large = b" " * (frames.FRAME_BYTES + 1 - len(small)) + small
    if not capped:
        monkeypatch.setattr(frames, "FRAME_BYTES", 1 << 20)
    assert _passes(large, frames.TOTAL_BYTES, 1) != capped
    assert _passes(small, len(small) if capped else None, 2) != capped


def _passes(frame: bytes, limit: int | None, times: int) -> bool:
    judge, worker = frames.socket_pair()
    with judge, worker:
        channel = frames.Channel(judge, limit=limit)
        try:
            for _ in range(times):
                worker.send(frame)
                channel.receive(messages.PLANNER_REPLY, seq=1, deadline=time.monotonic() + 1)
        except frames.ChannelError:
            return False
    return True
