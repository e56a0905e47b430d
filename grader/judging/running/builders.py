"""Builders of a lane: they compile files for planners, in parallel with the lane's other work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue

from grader.errors import InfrastructureError
from grader.judging.running.build_cache import BuildCache
from grader.judging.running.exchange import Start, exchange
from grader.judging.running.fork_servers import LaneForkServer
from grader.judging.running.time_budget import TimeBudget
from grader.plan import wire
from grader.plan.messages import BUILDER_REPLY, BUILT_BYTES, Build, Built, Failed, MakeShared
from grader.sandbox.forkserver.conversation import LostAnswer
from grader.sandbox.forkserver.handle import ForkServer
from grader.sandbox.forkserver.isolation import Isolation

AT_ONCE = 2
"""Files that are built at a time. A file's compilers run one after another, so two files keep two cores busy."""
# Seconds to build a file: a file that includes large template libraries takes 10 on a free processor.
SECONDS = 60.0


class Builders:
    """Builders of a lane: AT_ONCE fork servers, which start with their first files. `isolation` is the lane's; the
    folder `cache` retains builds."""

    def __init__(self, isolation: Isolation, cache: Path) -> None:
        self._isolation = isolation
        self._kept = BuildCache(cache / "built")
        self._fork_servers = [LaneForkServer(self._start) for _ in range(AT_ONCE)]
        self._idle = SimpleQueue[LaneForkServer]()
        for fork_server in self._fork_servers:
            self._idle.put(fork_server)
        # Threads that live as long as the lane: the system ends a thread's processes with the thread.
        self._threads = ThreadPoolExecutor(AT_ONCE)
        self._sharing = threading.Lock()
        self._shared: dict[wire.Role, bytes] = {}
        self._closed = False

    def submit(
        self, role: wire.Role, request: Build, source: bytes, limits: wire.Limits, budget: TimeBudget
    ) -> Future[bytes | Failed | LostAnswer]:
        """Return the future of a file's build for planners, or of the reason why there is none. The future raises
        InfrastructureError for failures of ours."""
        return self._threads.submit(self._build_on_idle, role, request, source, limits, budget)

    @contextmanager
    def still(self) -> Iterator[None]:
        """Hold all builders' locks for the block, which begins when running builds have ended."""
        with ExitStack() as stack:
            for fork_server in self._fork_servers:
                stack.enter_context(fork_server.lock)
            yield

    def close(self) -> None:
        """End all builders, whatever they are doing."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._closed = True
        with ExitStack() as stack:
            # Runs last: a thread ends when its builder has ended.
            stack.callback(self._threads.shutdown)
            for fork_server in self._fork_servers:
                stack.callback(fork_server.close)

    def _build_on_idle(
        self, role: wire.Role, request: Build, source: bytes, limits: wire.Limits, budget: TimeBudget
    ) -> bytes | Failed | LostAnswer:
        fork_server = self._idle.get()
        try:
            with fork_server.lock:
                return self._build(lambda: fork_server.fork(role, limits), role, request, source, budget)
        finally:
            self._idle.put(fork_server)

    def _build(
        self, start: Start, role: wire.Role, request: Build, source: bytes, budget: TimeBudget
    ) -> bytes | Failed | LostAnswer:
        with self._sharing:
            if role not in self._shared:
                # The shared part is made in a process that has seen no submission.
                reply, made = exchange(start, MakeShared(seq=0), BUILDER_REPLY, [], BUILT_BYTES, seconds=SECONDS)
                if not isinstance(reply, Built):
                    raise InfrastructureError(f"nothing can be built here: {reply.message}; run kernelmark doctor")
                self._shared[role] = made
        parts = role.encode(), request.model_dump_json().encode(), source, self._shared[role]
        if (kept := self._kept.get(*parts)) is not None:
            return kept
        with budget.spend(SECONDS) as seconds:
            reply, made = exchange(start, request, BUILDER_REPLY, [source, self._shared[role]], BUILT_BYTES,
                                   seconds=seconds)
        if not isinstance(reply, Built):
            return reply
        self._kept.keep(made, *parts)
        return made

    def _start(self) -> ForkServer:
        if self._closed:
            raise InfrastructureError("nothing is built any more: the lane ends")
        return self._isolation.of_another_user().fork_server("builder")
