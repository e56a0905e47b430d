"""A server from start to end: its lanes, its queue, and uvicorn."""

from __future__ import annotations

import ipaddress
import os
import resource
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from grader import home, languages
from grader.classroom.attempts.lock import locked
from grader.classroom.attempts.store import FOLDER, Store
from grader.classroom.attempts.student_files import refresh
from grader.course import catalogue
from grader.course.course import Course, CourseError, read_course
from grader.grading import gpus, preflight
from grader.grading.lanes import Lanes, LocalLanes, spare_lanes
from grader.grading.preflight import PlanError
from grader.results.text import plural
from grader.sandbox.confine import surroundings
from grader.server.access import ServerAccess
from grader.server.app import CourseServer
from grader.server.connections import BoundedProtocol
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


SPARE_FILES = 256
"""Descriptors that are left to files, when all others are connections."""
MOST_FAR = 10_000
"""The most files that are graded at a time on other machines: one for each lane."""
TRIAL = [("trial-student", "Trial student", False), ("trial-staff", "Trial staff", True)]
"""The people of a trial: name, name as shown, staff."""


@dataclass(frozen=True)
class ServerAsked:
    """The options of a server. `far` opens lanes on other machines, given the least isolation level."""

    out: Path
    course_file: Path
    only: tuple[str, ...]
    jobs: int
    address: Address
    far: Callable[[int], Lanes] | None = None
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
    open_lanes, side_by_side, on = _lanes(asked, 0 if asked.allow_degraded else course.isolation.minimum)
    surroundings.withhold([asked.out.resolve()])
    # Each connection takes a descriptor, also one that sends nothing.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    BoundedProtocol.free = address.proxy
    with ExitStack() as open_:
        store = open_.enter_context(Store.create(asked.out))
        open_.enter_context(locked(asked.out / FOLDER))
        # Lanes of other machines have tools of their own.
        lacking = {} if asked.far else preflight.lacking(course.languages)
        for language, missing in lacking.items():
            say(f"Files in {languages.front_ends()[language].title} are refused: {missing}.")
        ground = ServerGround(
            asked.out, course, "Kernels" if home.here().shipped else home.root().name, names, lacking=lacking)
        ground.read_folders(store)
        # The course may count other attempts by now.
        for line in refresh(store, asked.out, course.late):
            failed(line)
        queue = ServerQueue(asked.out / FOLDER)
        open_.callback(queue.close)
        listening = open_.enter_context(address.bound())
        url = address.url(listening.getsockname()[1])
        grading = ServerGrading(ground, queue, open_lanes, side_by_side, failed)
        if again := queue.recover():
            say(f"{plural(again, 'file')} that an earlier server had begun will be graded again.")
        access = ServerAccess(queue, secure=bool(address.certificate or address.proxy), proxy=address.proxy,
                              user_header=address.user_header)
        if asked.trial:
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


def _lanes(asked: ServerAsked, least: int) -> tuple[Callable[[], Lanes], int, str]:
    """Return a function that opens lanes of this isolation level or a higher one, the most files that are graded at a
    time, and where that is. Raises PlanError."""
    # Anyone who reaches a proxy's address could pose as anybody.
    least = max(least, bool(asked.address.user_header))
    if (far := asked.far) is not None:
        return lambda: far(least), asked.jobs or MOST_FAR, "lanes of other machines"
    measured = preflight.least_isolation(least)
    cards = gpus.chosen("all")
    environments = [card.environment for card in cards] or [{}] * (asked.jobs or len(os.sched_getaffinity(0)))
    on = plural(len(cards), "GPU") if cards else f"{plural(len(environments), 'core')}, without speed"
    return (lambda: LocalLanes(environments, measured, spare=spare_lanes(len(cards)))), len(environments), on


def _course(asked: ServerAsked) -> tuple[Course, tuple[str, ...]]:
    """Return the course and the names of its assignments that are asked for."""
    try:
        course = read_course(asked.course_file, frozenset(catalogue.files()))
        return course, tuple(course.select(catalogue.files(), asked.only))
    except (CourseError, ValueError) as error:
        raise PlanError(str(error)) from None


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
        raise PlanError(f"--proxy {address.proxy}: give an IP address, such as 127.0.0.1") from None
    if address.user_header and not address.proxy:
        raise PlanError("--user-header: believed from a proxy alone; pass --proxy with its address, too")
