"""A server from start to end: its lanes, its queue, and uvicorn."""

from __future__ import annotations

import ipaddress
import os
import resource
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from grader import home
from grader.engine.confine import surroundings
from grader.model import catalogue
from grader.model.course import Course, CourseError, read_course
from grader.records.lock import locked
from grader.records.store import FOLDER, Store
from grader.run import gpus, preflight
from grader.run.preflight import PlanError
from grader.server.access import ServerAccess
from grader.server.app import CourseServer
from grader.server.desk import ServerDesk
from grader.server.queue import ServerQueue
from grader.server.work import ServerGround, ServerLane


@dataclass(frozen=True)
class Address:
    """Where a server listens. `proxy` is the address of a proxy that ends TLS."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None
    proxy: str = ""

    @property
    def loopback(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def bound(self) -> socket.socket:
        """Return a socket that listens there. Raises PlanError."""
        try:
            family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
            return socket.create_server((self.host, self.port), family=family, backlog=2048)
        except OSError as error:
            raise PlanError(f"--listen {self.host}:{self.port}: {error.strerror or error}; choose another port, or "
                            "port 0 for any that is free") from None

    def url(self, port: int) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.certificate else 'http'}://{host}:{port}"


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn raises a signal anew once it has ended; here the lanes end after it, and then all is well.
        yield


TRIAL = [("trial-student", "Trial student", False), ("trial-staff", "Trial staff", True)]
"""The people of a trial: name, name as shown, staff."""


@dataclass(frozen=True)
class ServerAsked:
    """The options of a server."""

    out: Path
    course_file: Path
    only: tuple[str, ...]
    jobs: int
    address: Address
    allow_degraded: bool = False
    trial: bool = False


def serve_course(asked: ServerAsked, say: Callable[[str], object], failed: Callable[[str], object]) -> None:
    """Serve until interrupted. Raises PlanError, QueueError and LockedError before the first request."""
    address = asked.address
    _check_address(address)
    course, names = _course(asked)
    preflight.installed()
    preflight.temporary()
    preflight.results(asked.out, (), len(names))
    measured = preflight.least_isolation(0 if asked.allow_degraded else course.isolation.minimum)
    surroundings.withhold([asked.out.resolve()])
    # Each connection takes a descriptor, also one that sends nothing.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    cards = gpus.chosen("all")
    environments = [card.environment for card in cards] or [{}] * (asked.jobs or len(os.sched_getaffinity(0)))
    with ExitStack() as open_:
        store = open_.enter_context(Store.create(asked.out))
        open_.enter_context(locked(asked.out / FOLDER))
        store.attempts()
        queue = ServerQueue(asked.out / FOLDER)
        open_.callback(queue.close)
        listening = open_.enter_context(address.bound())
        url = address.url(listening.getsockname()[1])
        recording = threading.Lock()
        ground = ServerGround(asked.out, course, "Kernels" if home.here().shipped else home.root().name, names)
        desk = ServerDesk(ground, queue, recording)

        def told(line: str) -> None:
            desk.failed(line)
            failed(line)

        desk.lanes = [ServerLane(f"lane {number}", ground, queue, recording, dict(environment), measured,
                                 len(environments), told) for number, environment in enumerate(environments, start=1)]
        if again := queue.recover():
            say(f"{again} file{'s' if again > 1 else ''} that an earlier server had begun will be graded again.")
        access = ServerAccess(queue, secure=bool(address.certificate or address.proxy), proxy=address.proxy)
        if asked.trial:
            for name, token in queue.admit(TRIAL):
                say(f"{name}: {url}/#{token}")
        on = _many(len(cards), "GPU") if cards else f"{_many(len(environments), 'core')}, without speed"
        say(f"Serving {_many(len(names), 'assignment')} at {url}, grading on {on}. Ctrl-C ends it.")
        for lane in desk.lanes:
            lane.start()
        try:
            running = _Uvicorn(uvicorn.Config(
                CourseServer(desk, access).app(), log_level="warning", access_log=False, server_header=False,
                date_header=False, ssl_certfile=address.certificate, ssl_keyfile=address.key,
                proxy_headers=False, timeout_graceful_shutdown=2))
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, running.handle_exit)
            running.run(sockets=[listening])
        finally:
            # All stop before the first ends, so that no lane takes another's end for a failure.
            for lane in desk.lanes:
                lane.stop()
            for lane in desk.lanes:
                lane.end()


def _course(asked: ServerAsked) -> tuple[Course, tuple[str, ...]]:
    """Return the course and the names of its assignments that are asked for."""
    try:
        course = read_course(asked.course_file, frozenset(catalogue.files()))
        return course, tuple(course.select(catalogue.files(), asked.only))
    except (CourseError, ValueError) as error:
        raise PlanError(str(error)) from None


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def _check_address(address: Address) -> None:
    """Raise PlanError for a server without TLS that others reach, an unusable certificate, and a proxy without an
    address."""
    if not address.loopback and not address.certificate and not address.proxy:
        raise PlanError(f"--listen {address.host}: off the loopback tokens need TLS: pass --tls-certificate and "
                        "--tls-key, or --proxy with the address of a proxy that ends TLS")
    if bool(address.certificate) != bool(address.key):
        raise PlanError("--tls-certificate and --tls-key: one without the other is of no use; pass both")
    try:
        if address.certificate and address.key:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(address.certificate, address.key)
    except (OSError, ssl.SSLError) as error:
        raise PlanError(f"--tls-certificate {address.certificate}: {error.strerror or error}; pass a certificate "
                        "and its key as PEM") from None
    try:
        if address.proxy:
            ipaddress.ip_address(address.proxy)
    except ValueError:
        raise PlanError(f"--proxy {address.proxy}: an IP address expected, such as 127.0.0.1") from None
