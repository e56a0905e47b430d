"""Builders of a lane: they compile files for planners, in parallel with the lane's other work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from grader.judging.running.allowance import Allowance
from grader.judging.running.exchange import exchange
from grader.judging.running.kept_builds import KeptBuilds
from grader.plan import wire
from grader.plan.messages import BUILDER_REPLY, BUILT_BYTES, Build, Built, Failed, MakeShared
from grader.sandbox.forkserver.conversation import Conversation, Lost
from grader.sandbox.forkserver.handle import ForkServer, InfrastructureError
from grader.sandbox.forkserver.isolation import Isolation

AT_ONCE = 2
"""Files that are built at a time. A file's compilers run one after another, so two files keep two cores busy."""
# Seconds to build a file: a file that includes large template libraries takes 10 on a free processor.
SECONDS = 60.0


class Builders:
    """Builders of a lane, AT_ONCE of them. Each has a fork server, which starts with its first file and has one worker
    at a time. `isolation` is the lane's; the folder `cache` retains builds."""

    def __init__(self, isolation: Isolation, cache: Path) -> None:
        self._isolation = isolation
        self._kept = KeptBuilds(cache / "built")
        self._own = threading.local()
        self._turns = [threading.RLock() for _ in range(AT_ONCE)]
        # Threads that live as long as the lane: the system ends a thread's processes with the thread.
        self._hands = ThreadPoolExecutor(AT_ONCE, initializer=self._take_turn, initargs=([*self._turns],))
        self._changing, self._sharing = threading.Lock(), threading.Lock()
        self._fork_servers: list[ForkServer] = []
        self._shared: dict[wire.Role, bytes] = {}
        self._closed = False

    def submit(
        self, role: wire.Role, request: Build, source: bytes, limits: wire.Limits, allowance: Allowance
    ) -> Future[bytes | Failed | Lost]:
        """Return the future of a file's build for planners, or of the reason why there is none. The future raises
        InfrastructureError for failures of ours."""
        return self._hands.submit(self._build_in_turn, role, request, source, limits, allowance)

    @contextmanager
    def still(self) -> Iterator[None]:
        """Hold all builders' locks for the block, which begins when running builds have ended."""
        with ExitStack() as stack:
            for turn in self._turns:
                stack.enter_context(turn)
            yield

    def close(self) -> None:
        """End all builders, whatever they are doing."""
        self._hands.shutdown(wait=False, cancel_futures=True)
        with self._changing:
            self._closed = True
        with ExitStack() as stack:
            # Runs last: a thread ends when its builder has ended.
            stack.callback(self._hands.shutdown)
            while self._fork_servers:
                stack.callback(self._fork_servers.pop().close)

    def _take_turn(self, left: list[threading.RLock]) -> None:
        self._own.turn = left.pop()

    def _build_in_turn(
        self, role: wire.Role, request: Build, source: bytes, limits: wire.Limits, allowance: Allowance
    ) -> bytes | Failed | Lost:
        with self._own.turn:
            return self._build(role, request, source, limits, allowance)

    def _build(
        self, role: wire.Role, request: Build, source: bytes, limits: wire.Limits, allowance: Allowance
    ) -> bytes | Failed | Lost:
        with self._sharing:
            if role not in self._shared:
                # The shared part is made in a process that has seen no submission.
                reply, made = exchange(lambda: self._start(role, limits), MakeShared(seq=0), BUILDER_REPLY, [],
                                       BUILT_BYTES, seconds=SECONDS)
                if not isinstance(reply, Built):
                    raise InfrastructureError(f"nothing can be built here: {reply.message}; run kernelmark doctor")
                self._shared[role] = made
        parts = role.encode(), request.model_dump_json().encode(), source, self._shared[role]
        if (kept := self._kept.get(*parts)) is not None:
            return kept
        with allowance.spend(SECONDS) as seconds:
            reply, made = exchange(lambda: self._start(role, limits), request, BUILDER_REPLY,
                                   [source, self._shared[role]], BUILT_BYTES, seconds=seconds)
        if not isinstance(reply, Built):
            return reply
        self._kept.keep(made, *parts)
        return made

    def _start(self, role: wire.Role, limits: wire.Limits) -> Conversation:
        """Fork a confined process. Raises InfrastructureError."""
        fork_server: ForkServer | None = getattr(self._own, "fork_server", None)
        if fork_server is None or not fork_server.alive:
            with self._changing:
                if self._closed:
                    raise InfrastructureError("nothing is built any more: the lane ends")
                if fork_server is not None:
                    self._fork_servers.remove(fork_server)
                    fork_server.close()
                fork_server = self._own.fork_server = self._isolation.of_another_user().fork_server("builder")
                self._fork_servers.append(fork_server)
        return Conversation(fork_server, role, limits)
