"""Connections that a stranger opens and does not use."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from grader.server import connections
from grader.server.connections import BoundedProtocol

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def slow(request: Request) -> PlainTextResponse:
    await asyncio.sleep(1)
    return PlainTextResponse("answered")


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)
    server = uvicorn.Server(uvicorn.Config(
        Starlette(routes=[Route("/", slow)]), http=BoundedProtocol, log_level="critical", timeout_graceful_shutdown=1))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listening.getsockname()
    server.should_exit = True
    thread.join()


def ended(connection: socket.socket) -> bool:
    """Whether the server has ended a connection, within seconds, before it answered anything."""
    connection.settimeout(5)
    try:
        return connection.recv(100) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("half", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nX: "])
def test_a_request_that_does_not_arrive_ends_its_connection(address: tuple[str, int], half: bytes) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(half)
        assert ended(connection)


def test_a_second_request_that_does_not_arrive_ends_its_connection(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(REQUEST)
        connection.settimeout(5)
        # An answer takes longer than a head may.
        while b"answered" not in connection.recv(1000):
            pass
        connection.sendall(b"GET / HT")
        assert ended(connection)


def test_an_address_has_a_few_connections_at_a_time(address: tuple[str, int]) -> None:
    first = [socket.create_connection(address) for _ in range(3)]
    for connection in first:
        connection.sendall(REQUEST)
    time.sleep(0.1)
    with socket.create_connection(address) as one_more:
        assert ended(one_more)
    for connection in first:
        connection.settimeout(5)
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
        connection.close()
    time.sleep(0.2)
    with socket.create_connection(address) as later:
        later.sendall(REQUEST)
        later.settimeout(5)
        assert later.recv(100).startswith(b"HTTP/1.1 200")
