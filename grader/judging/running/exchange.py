"""A request to a confined process that lives for this request alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import TypeAdapter

from grader.judging.running.buffers import memory_file
from grader.plan import wire
from grader.sandbox.forkserver.conversation import Conversation, LostAnswer

Start = Callable[[], Conversation]
M = TypeVar("M", bound=wire.Message)


def exchange(
    start: Start, request: wire.Message, replies: TypeAdapter[M], contents: Sequence[bytes], room: int, *,
    seconds: float,
) -> tuple[M | LostAnswer, bytes]:
    """Send a request to a new confined process. Returns its reply, and its answer, whose size the reply says.

    Memory files go with the request: one for each of `contents`, then one of `room` bytes for the answer. The process
    has ended when this returns. Raises InfrastructureError.
    """
    files = [memory_file(contents=content) for content in contents]
    files.append(memory_file(room))
    try:
        reply = ask_once(start, request, replies, files, seconds=seconds)
        # A hostile process may state any size.
        return reply, os.pread(files[-1], min(getattr(reply, "bytes", 0), room), 0)
    finally:
        for file in files:
            os.close(file)


def ask_once(
    start: Start, request: wire.Message, replies: TypeAdapter[M], files: list[int], *, seconds: float
) -> M | LostAnswer:
    """Send a request to a new confined process, with the descriptors `files`, and return its reply. The process has
    ended when this returns. Raises InfrastructureError."""
    process = start()
    try:
        return process.ask(
            request.model_copy(update={"seq": process.next_seq()}), replies, seconds=seconds, descriptors=files)
    finally:
        process.end()
