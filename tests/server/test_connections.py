"""Connections that a stranger opens and does not use."""

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

from grader.server import serving
from grader.server.serving import BoundedProtocol

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def slow(request: Request) -> PlainTextResponse:
    await asyncio.sleep(1)
    return PlainTextResponse("answered")


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(serving, "MOST_OWING", 3)
    app = Starlette(routes=[Route("/", slow, methods=["GET", "POST"])])
    server = uvicorn.Server(uvicorn.Config(
        app, http=BoundedProtocol, log_level="critical", timeout_graceful_shutdown=1))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listening.getsockname()
    server.should_exit = True
    thread.join()


def ended_at_once(connection: socket.socket) -> bool:
    connection.settimeout(0.05)
    try:
        return connection.recv(100) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


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


def test_an_address_has_a_few_half_sent_bodies(address: tuple[str, int]) -> None:
    half = [socket.create_connection(address) for _ in range(3)]
    for connection in half:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
    time.sleep(0.1)
    with socket.create_connection(address) as one_more:
        assert ended_at_once(one_more) and not any(ended_at_once(one) for one in half)
    for connection in half:
        connection.close()


def test_an_address_has_a_few_silent_connections_and_many_that_speak(address: tuple[str, int]) -> None:
    speaking = []
    for _ in range(6):
        speaking.append(socket.create_connection(address))
        speaking[-1].sendall(REQUEST)
        # It is heard before the next one comes.
        time.sleep(0.05)
    silent = [socket.create_connection(address) for _ in range(3)]
    with socket.create_connection(address) as one_more:
        # At once, and not only after the time that a head may take.
        assert ended_at_once(one_more) and not any(ended_at_once(one) for one in silent)
    for connection in speaking:
        connection.settimeout(5)
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    for connection in (*speaking, *silent):
        connection.close()
    time.sleep(0.1)
    with socket.create_connection(address) as later:
        later.sendall(REQUEST)
        later.settimeout(5)
        assert later.recv(100).startswith(b"HTTP/1.1 200")
