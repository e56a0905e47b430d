"""The channel between judge, fork server and worker: frames of one line of JSON, and file descriptors beside them.

Every frame has a sequence number. Frames from a worker are hostile: they are capped, parsed into exactly the expected
shapes, and their texts are quoted, never believed. Nothing is pickled.
"""

from __future__ import annotations

import os
import select
import socket
import time
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from grader.plan.wire import Message

FRAME_BYTES = 128 * 1024
TOTAL_BYTES = 1024 * 1024
MAX_DESCRIPTORS = 16
QUOTED = 200

M = TypeVar("M", bound=Message)


class ChannelError(Exception):
    """A breach of the protocol by the other side; the message says how."""


class ChannelClosed(ChannelError):
    """A channel whose other side is gone."""


class ChannelTimeout(ChannelError):
    """An error: no frame came before the deadline, or the other side did not read one."""


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Return the two ends of a channel. A packet socket keeps frames apart, so no half frame can stay in the stream."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class Channel:
    """One end of a channel: frames of JSON, at most `FRAME_BYTES` each and `limit` bytes received in all."""

    def __init__(self, sock: socket.socket, *, limit: int | None = None) -> None:
        self.sock = sock
        self._limit = self._left = limit

    def fileno(self) -> int:
        return self.sock.fileno()

    def close(self) -> None:
        self.sock.close()

    def renew(self) -> None:
        """Start counting received bytes from zero again."""
        self._left = self._limit

    def send(self, message: Message, descriptors: list[int] | None = None, *, seconds: float = 5) -> None:
        """Send a frame. Raises ChannelClosed if the other side is gone, ChannelTimeout if it does not read."""
        frame = message.model_dump_json().encode() + b"\n"
        if len(frame) > FRAME_BYTES:
            raise ChannelError(f"a frame of {len(frame)} bytes exceeds the cap of {FRAME_BYTES}")
        try:
            self.sock.settimeout(seconds)
            socket.send_fds(self.sock, [frame], descriptors or [])
        except TimeoutError:
            raise ChannelTimeout("the other side does not read") from None
        except OSError as error:
            raise ChannelClosed(str(error)) from None

    def receive(
        self, shape: TypeAdapter[M], *, seq: int | None, deadline: float, descriptors: list[int] | None = None
    ) -> M:
        """Return the next frame, of one of `shape`'s types and with number `seq` (None: any), before `deadline`
        (time.monotonic).

        Adds the frame's descriptors to the list `descriptors`; without a list the kernel closes them. Raises
        ChannelError.
        """
        if self.sock.fileno() < 0:
            raise ChannelClosed("this side is closed")
        # select takes no descriptor above 1023.
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise ChannelTimeout("no answer before the deadline")
        frame, received = self._read(MAX_DESCRIPTORS if descriptors is not None else 0)
        try:
            message = self.parse(shape, frame, seq)
        except ChannelError:
            _close(received)
            raise
        if descriptors is not None:
            descriptors += received
        return message

    def receive_with_descriptors(self, shape: TypeAdapter[M]) -> tuple[M, list[int]]:
        """Return the next frame and its descriptors, waiting as long as it takes. For the side that serves."""
        self.sock.settimeout(None)
        frame, descriptors = self._read(MAX_DESCRIPTORS)
        try:
            return self.parse(shape, frame, None), descriptors
        except ChannelError:
            _close(descriptors)
            raise

    def _read(self, max_descriptors: int = 0) -> tuple[bytes, list[int]]:
        try:
            try:
                frame, descriptors, flags = self._next(max_descriptors)
            except ConnectionResetError:
                # The other side hung up with unread messages of ours. The kernel reports this once; frames that it sent
                # before can still be read.
                frame, descriptors, flags = self._next(max_descriptors)
        except OSError as error:
            raise ChannelClosed(str(error)) from None
        if not frame:
            raise ChannelClosed("the other side closed the channel")
        if self._left is not None:
            self._left -= len(frame)
        if len(frame) > FRAME_BYTES or flags & socket.MSG_TRUNC or (self._left is not None and self._left < 0):
            _close(descriptors)
            raise ChannelError("frame or total size over the cap")
        return frame, descriptors

    def _next(self, max_descriptors: int) -> tuple[bytes, list[int], int]:
        if max_descriptors:
            frame, descriptors, flags, _ = socket.recv_fds(self.sock, FRAME_BYTES + 1, max_descriptors)
            return frame, descriptors, flags
        frame, _, flags, _ = self.sock.recvmsg(FRAME_BYTES + 1)
        return frame, [], flags

    @staticmethod
    def parse(shape: TypeAdapter[M], frame: bytes, seq: int | None) -> M:
        """Parse a frame as one of the fixed shapes. Raises ChannelError for all other bytes."""
        if not frame.endswith(b"\n") or b"\n" in frame[:-1]:
            raise ChannelError("one line of JSON expected")
        try:
            message = shape.validate_json(frame)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise ChannelError(f"not a known message: {_quoted(first['msg'])}") from None
        except (ValueError, RecursionError) as error:
            raise ChannelError(f"not a known message: {type(error).__name__}") from None
        if seq is not None and message.seq != seq:
            raise ChannelError(f"sequence number {message.seq} where {seq} was expected")
        return message


def _quoted(text: str) -> str:
    """Return the text, which may hold the other side's bytes, cut short and made printable."""
    text = text if len(text) <= QUOTED else f"{text[:QUOTED]}…"
    return "".join(character if character.isprintable() else "�" for character in text)


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
