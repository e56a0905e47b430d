"""Connections of a server without a proxy: those that send nothing, or half a request, end; an address has few such."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""The seconds in which the head of a request has to arrive, at most twice that."""
MOST_OWING = 100
"""The most connections of one address that have not sent a request, or not all of one. A whole class may have one
address."""


class BoundedProtocol(H11Protocol):
    """HTTP on one connection. `free` is the address whose connections are not counted, that of a proxy."""

    free = ""
    _owing: Counter[str] = Counter()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waited, self._owes = False, False
        self._peer = self.client[0] if self.client else ""
        self._owe(True)
        self._timer = self.loop.call_later(HEAD_SECONDS, self._look)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._owe(self.cycle is None or self.cycle.more_body)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._owe(False)
        super().connection_lost(exc)

    def _owe(self, owes: bool) -> None:
        """Count the connection among those that owe a request, or no longer. One too many of an address is ended."""
        if owes == self._owes:
            return
        self._owes = owes
        self._owing[self._peer] += 1 if owes else -1
        if not self._owing[self._peer]:
            del self._owing[self._peer]
        if owes and self._peer != self.free and self._owing[self._peer] > MOST_OWING:
            self.transport.abort()

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
