"""Connections of a server without a proxy: those that send nothing, or half a request, end; an address has few such."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""The seconds in which the head of a request has to arrive, at most twice that."""
MOST_SILENT = 100
"""The most connections of one address that have not sent a request yet. A whole class may have one address."""


class BoundedProtocol(H11Protocol):
    """HTTP on one connection. `free` is the address whose connections are not counted, that of a proxy."""

    free = ""
    _silent: Counter[str] = Counter()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waited, self._heard = False, False
        self._peer = self.client[0] if self.client else ""
        self._silent[self._peer] += 1
        if self._peer != self.free and self._silent[self._peer] > MOST_SILENT:
            transport.abort()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._look)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None:
            self._hear()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._hear()
        super().connection_lost(exc)

    def _hear(self) -> None:
        if not self._heard:
            self._heard = True
            self._silent[self._peer] -= 1
            if not self._silent[self._peer]:
                del self._silent[self._peer]

    def _look(self) -> None:
        # uvicorn itself ends connections that are idle between two requests.
        cycle: Any = self.cycle
        # An answer is complete before all of it is sent.
        waits = (cycle is None or cycle.response_complete) and not self.transport.get_write_buffer_size()
        if waits and self._waited:
            self.transport.abort()
            return
        self._waited = waits
        self._timer = self.loop.call_later(HEAD_SECONDS, self._look)
