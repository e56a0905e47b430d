"""Pages and commands that hear of changes while they are open."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from typing import Any

import anyio
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import StreamingResponse

from grader.server.access import Denial, ServerAccess
from grader.server.queue import ServerPerson, ServerQueue

EVENT_SECONDS, BEAT_SECONDS = 0.2, 15.0
MOST_STREAMS = 8
"""The most streams of one person that are open at a time."""


class LiveStreams:
    """The open streams of a server, as server-sent events."""

    def __init__(self, queue: ServerQueue, access: ServerAccess) -> None:
        self._queue, self._access = queue, access
        self._open: Counter[int] = Counter()

    def follow(
        self, request: Request, person: ServerPerson, state: Callable[[], Any], over: Callable[[Any], bool]
    ) -> StreamingResponse:
        """Send the `state` whenever it changes, until it is `over`, or until the person's link ends."""
        if self._open[person.id] >= MOST_STREAMS:
            raise Denial(HTTPStatus.TOO_MANY_REQUESTS, "Too many pages are open; close some.", BEAT_SECONDS)

        async def states() -> AsyncIterator[str]:
            last, seen, quiet = None, -1, 0.0
            self._open[person.id] += 1
            try:
                while not await request.is_disconnected():
                    if seen != self._queue.version:
                        seen = self._queue.version
                        if await run_sync(self._access.person, request) is None:
                            return
                        now = await run_sync(state)
                        if now != last:
                            last, quiet = now, 0.0
                            yield f"data: {json.dumps(now)}\n\n"
                            if over(now):
                                return
                    await anyio.sleep(EVENT_SECONDS)
                    quiet += EVENT_SECONDS
                    if quiet >= BEAT_SECONDS:
                        # Links may be ended by another process.
                        seen, quiet = -1, 0.0
                        yield ":\n\n"
            finally:
                self._open[person.id] -= 1

        return StreamingResponse(states(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
