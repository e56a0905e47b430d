"""A server from start to end: its lanes, its queue, and uvicorn, whose connections end if they send nothing."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import resource
import signal
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from grader import home, languages, temporary
from grader.classroom.attempts.lock import locked
from grader.classroom.attempts.store import FOLDER, Store
from grader.classroom.attempts.student_files import refresh
from grader.course import catalogue
from grader.course.course import Course, read_course
from grader.errors import UserError
from grader.grading import gpus, preflight
from grader.grading.lanes import Lanes, LocalLanes, spare_lanes
from grader.results.text import plural
from grader.sandbox.confine import surroundings
from grader.server.access import ServerAccess
from grader.server.app import CourseServer
from grader.server.facts import ServerFacts
from grader.server.queue import ServerQueue
from grader.server.work import ServerGrading, ServerGround


@dataclass(frozen=True)
class Address:
    """Where a server listens. `proxy` is the address of a proxy that ends TLS, and names who has signed in to it in
    `user_header`, if there is one."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None
    proxy: str = ""
    user_header: str = ""

    @property
    def loopback(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def bound(self) -> socket.socket:
        """Return a socket that listens there. Raises UserError."""
        try:
            family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
            return socket.create_server((self.host, self.port), family=family, backlog=2048)
        except OSError as error:
            raise UserError(f"--listen {self.host}:{self.port}: {error.strerror or error}; choose another port, or "
                            "port 0 for any that is free") from None

    def url(self, port: int) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.certificate else 'http'}://{host}:{port}"


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn raises a signal anew once it has ended; here the lanes end after it, and then all is well.
        yield


SPARE_FILES = 256
"""Descriptors that are left to files, when all others are connections."""
MOST_FAR = 10_000
"""The most files that are graded at a time on other machines: one for each lane."""
TRIAL = [("trial-student", "Trial student", False), ("trial-staff", "Trial staff", True)]
"""The people of a trial: name, name as shown, staff."""


@dataclass(frozen=True)
class ServerOptions:
    """The options of a server. `far` opens lanes on other machines, given the least isolation level."""

    out: Path
    course_file: Path
    only: tuple[str, ...]
    jobs: int
    address: Address
    far: Callable[[int], Lanes] | None = None
    allow_degraded: bool = False
    trial: bool = False


def serve_course(options: ServerOptions, say: Callable[[str], object], failed: Callable[[str], object]) -> None:
    """Serve until interrupted. Raises UserError before the first request."""
    address = options.address
    _check_address(address)
    course, names = _course(options)
    preflight.installed()
    preflight.temporary()
    preflight.results(options.out, (), len(names))
    surroundings.withhold([options.out.resolve()])
    # Each connection takes a descriptor, also one that sends nothing.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    BoundedProtocol.free = address.proxy
    with ExitStack() as open_:
        locks = open_.enter_context(temporary.folder("locks"))
        open_lanes, side_by_side, on = _lanes(
            options, 0 if options.allow_degraded else course.isolation.minimum, locks)
        store = open_.enter_context(Store.create(options.out))
        open_.enter_context(locked(options.out / FOLDER))
        # Lanes of other machines have tools of their own.
        missing = {} if options.far else preflight.missing_tools(course.languages)
        for language, tools in missing.items():
            say(f"Files in {languages.front_ends()[language].title} are refused: {tools}.")
        ground = ServerGround(
            options.out, course, "Kernels" if home.here().shipped else home.root().name, names, missing_tools=missing)
        ground.read_folders(store)
        # The course may count other attempts by now.
        for line in refresh(store, options.out, course.late):
            failed(line)
        queue = ServerQueue(options.out / FOLDER)
        open_.callback(queue.close)
        listening = open_.enter_context(address.bound())
        url = address.url(listening.getsockname()[1])
        grading = ServerGrading(ground, queue, open_lanes, side_by_side, failed)
        if again := queue.recover():
            say(f"{plural(again, 'file')} that an earlier server had begun will be graded again.")
        access = ServerAccess(queue, secure=bool(address.certificate or address.proxy), proxy=address.proxy,
                              user_header=address.user_header)
        if options.trial:
            for name, token in queue.admit(TRIAL):
                say(f"{name}: {url}/#{token}")
        grading.start()
        say(f"Serving {plural(len(names), 'assignment')} at {url}, grading on {on}. Ctrl-C ends it.")
        try:
            running = _Uvicorn(uvicorn.Config(
                CourseServer(ServerFacts(ground, queue, grading), access).app(),
                log_level="warning", access_log=False, server_header=False,
                date_header=False, ssl_certfile=address.certificate, ssl_keyfile=address.key,
                proxy_headers=False, timeout_graceful_shutdown=2, http=BoundedProtocol,
                limit_concurrency=max(1, (most if most > 0 else 1 << 16) - SPARE_FILES)))
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, running.handle_exit)
            running.run(sockets=[listening])
        finally:
            grading.end()


def _lanes(options: ServerOptions, least: int, locks: Path) -> tuple[Callable[[], Lanes], int, str]:
    """Return a function that opens lanes of this isolation level or a higher one, the most files that are graded at a
    time, and where that is. Lanes hold locks in the folder `locks`. Raises UserError."""
    # Anyone who reaches a proxy's address could pose as anybody.
    least = max(least, bool(options.address.user_header))
    if (far := options.far) is not None:
        return lambda: far(least), options.jobs or MOST_FAR, "lanes of other machines"
    measured = preflight.least_isolation(least)
    cards = gpus.select("all")
    environments = gpus.lanes(cards, locks) or [{}] * (options.jobs or len(os.sched_getaffinity(0)))
    on = plural(len(cards), "GPU") if cards else f"{plural(len(environments), 'core')}, without speed"
    spare = spare_lanes(len(environments) if cards else 0)
    return (lambda: LocalLanes(environments, measured, spare=spare)), len(environments), on


def _course(options: ServerOptions) -> tuple[Course, tuple[str, ...]]:
    """Return the course and the names of its assignments that are asked for."""
    course = read_course(options.course_file, frozenset(catalogue.files()))
    return course, tuple(course.select(catalogue.files(), options.only))


def _check_address(address: Address) -> None:
    """Raise UserError for a server without TLS that others reach, an unusable certificate, and a proxy without an
    address."""
    if not address.loopback and not address.certificate and not address.proxy:
        raise UserError(f"--listen {address.host}: off the loopback tokens need TLS: pass --tls-certificate and "
                        "--tls-key, or --proxy with the address of a proxy that ends TLS")
    if bool(address.certificate) != bool(address.key):
        raise UserError("--tls-certificate and --tls-key: one without the other is of no use; pass both")
    try:
        if address.certificate and address.key:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(address.certificate, address.key)
    except (OSError, ssl.SSLError) as error:
        raise UserError(f"--tls-certificate {address.certificate}: {error.strerror or error}; pass a certificate "
                        "and its key as PEM") from None
    try:
        if address.proxy:
            ipaddress.ip_address(address.proxy)
    except ValueError:
        raise UserError(f"--proxy {address.proxy}: give an IP address, such as 127.0.0.1") from None
    if address.user_header and not address.proxy:
        raise UserError("--user-header: believed from a proxy alone; pass --proxy with its address, too")


HEAD_SECONDS = 10.0
"""The seconds in which the head of a request has to arrive, at most twice that."""
MOST_OWING = 100
"""The most connections of one address that have not sent a request, or not all of one. A whole class may have one
address."""


class BoundedProtocol(H11Protocol):
    """HTTP on one connection. `free` is the address of a proxy, whose connections are not counted."""

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
        """Count the connection as one that owes a request, or as one that no longer does. End it if its address has one
        too many."""
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
