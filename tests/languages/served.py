"""A part of a language as a grading runs it: forked, and asked by messages with memory files beside them."""

import os
import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from pydantic import TypeAdapter

from grader.plan.frames import Channel, socket_pair
from grader.plan.wire import Message

SECONDS = 100.0
Reply = TypeVar("Reply", bound=Message)


class PartProcess:
    """A part in a process of its own. `with PartProcess(…) as part:` ends it."""

    def __init__(self, serve: Callable[[Channel], None], *, address_space: int = 0) -> None:
        ours, theirs = socket_pair()
        self._folder = tempfile.TemporaryDirectory()
        self._pid = os.fork()
        if not self._pid:
            code = 1
            try:
                ours.close()
                # A plot, say, is saved where the process works.
                os.chdir(self._folder.name)
                os.environ["TMPDIR"] = self._folder.name
                tempfile.tempdir = None
                # As without pytest, whose filters make errors of a submission's warnings.
                warnings.resetwarnings()
                if address_space:
                    resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
                serve(Channel(theirs))
                code = 0
            finally:
                os._exit(code)
        theirs.close()
        self._channel = Channel(ours)
        self._seq = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._channel.close()
        _, status = os.waitpid(self._pid, 0)
        self._folder.cleanup()
        assert status == 0 or error is not None

    def ask(self, request: Message, replies: TypeAdapter[Reply], *files: int) -> Reply:
        self._seq += 1
        self._channel.send(request.model_copy(update={"seq": self._seq}), [*files])
        return self._channel.receive(replies, seq=self._seq, deadline=time.monotonic() + SECONDS)


def memory_file(contents: bytes = b"", room: int = 0) -> int:
    file = os.memfd_create("test", os.MFD_CLOEXEC)
    os.ftruncate(file, max(room, len(contents)))
    os.pwrite(file, contents, 0)
    return file
