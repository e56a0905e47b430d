"""The loop in which a part of a front end serves the judge in its confined process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import TypeAdapter

from grader.plan.frames import Channel, ChannelClosed
from grader.plan.messages import Failed, Kernels, Refused
from grader.plan.plan import MOST_KERNELS, PLAN_BYTES, Kernel
from grader.plan.wire import Message

Request = TypeVar("Request", bound=Message)


def serve(
    channel: Channel, requests: TypeAdapter[Request], answer: Callable[[Request, list[int]], Message]
) -> None:
    """Answer requests until the judge hangs up. The memory files that come with a request are closed after `answer`."""
    while True:
        try:
            request, descriptors = channel.receive_with_descriptors(requests)
        except ChannelClosed:
            return
        try:
            reply = answer(request, descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        channel.send(reply)


def contents(file: int, size: int | None = None) -> bytes:
    """Return the first `size` bytes of a memory file, or all that it holds."""
    size, read = os.fstat(file).st_size if size is None else size, b""
    while part := os.pread(file, size - len(read), len(read)):
        read += part
    return read


Stop = TypeVar("Stop", Refused, Failed, Refused | Failed)


def with_resource_queries(stopped: Stop, kernels: Sequence[Kernel], file: int) -> Stop:
    """Return why a call stopped, and write to the file the kernels of whose resources host code got a guess."""
    written = Kernels(kernels=list(kernels[:MOST_KERNELS])).model_dump_json().encode()
    if not kernels or len(written) > PLAN_BYTES:
        return stopped
    os.pwrite(file, written, 0)
    return stopped.model_copy(update={"kernels_bytes": len(written)})
