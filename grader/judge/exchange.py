"""One question to a confined process that lives for it alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import TypeAdapter

from grader.engine.forkserver.conversation import Conversation, Lost
from grader.judge.buffers import memory_file
from grader.plan import wire

Start = Callable[[], Conversation]
M = TypeVar("M", bound=wire.Message)


def exchange(
    start: Start, request: wire.Message, replies: TypeAdapter[M], contents: Sequence[bytes], room: int, *,
    seconds: float,
) -> tuple[M | Lost, bytes]:
    """Return the process's reply, and what it wrote: as many bytes as its reply says.

    Memory files go with the request: one for each of `contents`, then one of `room` bytes for the answer. The process
    has ended when this returns. Raises InfrastructureError.
    """
    files = [memory_file(contents=one) for one in contents]
    files.append(memory_file(room))
    try:
        reply = ask_once(start, request, replies, files, seconds=seconds)
        # What a hostile process says of its size may be anything.
        return reply, os.pread(files[-1], min(getattr(reply, "bytes", 0), room), 0)
    finally:
        for file in files:
            os.close(file)


def ask_once(
    start: Start, request: wire.Message, replies: TypeAdapter[M], files: list[int], *, seconds: float
) -> M | Lost:
    """Return the process's reply to a request that `files` travel with. It has ended when this returns. Raises
    InfrastructureError."""
    process = start()
    try:
        return process.ask(
            request.model_copy(update={"seq": process.next_seq()}), replies, seconds=seconds, descriptors=files)
    finally:
        process.end()
