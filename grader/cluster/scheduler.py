"""The scheduler, which connects lanes and gradings. It holds a submission only while a lane grades it.

Whoever joins needs its key: a file with a private key and the certificate.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import dask
from distributed import Scheduler, Security

from grader import home
from grader.errors import UserError
from grader.interruption import ending_signals


def serve(at: Endpoint, say: Callable[[str], None]) -> None:
    """Listen until this process is asked to end. Raises UserError."""
    quiet()
    asyncio.run(_serve(at, say))


async def _serve(at: Endpoint, say: Callable[[str], None]) -> None:
    ended = ending()
    try:
        # No retries: a lane's death is reported at once, and the grading itself sends the job to another lane.
        scheduler = await Scheduler(
            protocol="tls://", host=at.host, port=at.port, security=at.security, allowed_failures=0,
            dashboard=False, dashboard_address="127.0.0.1:0")
    except (OSError, ValueError) as error:
        raise UserError(f"{at}: {error}; choose an address of this machine and a free port") from None
    try:
        say(f"scheduler at {scheduler.address}")
        await ended.wait()
    finally:
        await scheduler.close()


def ending() -> asyncio.Event:
    """Return an event that is set when this process is asked to end."""
    ended = asyncio.Event()
    for number in ending_signals():
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    return ended


PORT = 8786
# dask.distributed serves no HTTP pages, moves no task by itself and profiles nothing.
SETTINGS = {
    "distributed.scheduler.http.routes": [], "distributed.worker.http.routes": [],
    "distributed.scheduler.work-stealing": False, "distributed.worker.profile.enabled": False,
    "distributed.scheduler.worker-ttl": "60s", "distributed.scheduler.active-memory-manager.start": False,
}


@dataclass(frozen=True)
class Endpoint:
    """The address of a scheduler, and the key to join it."""

    host: str
    port: int
    security: Security

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"tls://{host}:{self.port}"


def write_key(path: Path) -> None:
    """Write a new key, valid for a year and readable only by its owner. Raises UserError."""
    try:
        security = Security.temporary()
    except ImportError:
        raise UserError(f"package cryptography: not installed; run {home.with_extra('cluster')}") from None
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; choose a new file in a writable folder") from None
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(security.tls_client_key + security.tls_ca_file)


def endpoint(address: str, key: Path | None, submissions: Path | None = None) -> Endpoint:
    """Return the endpoint of the scheduler at `tls://host:port`. Raises UserError, also if `key` is None or if
    others could read the key, for example because it lies among students' `submissions`."""
    expected = "give an address such as tls://host:8786"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", PORT if parts.port is None else parts.port
    except ValueError:
        raise UserError(f"{address}: not an address; {expected}") from None
    if parts.scheme not in ("tls", "tcp") or not host or parts.path or parts.username:
        raise UserError(f"{address}: not a scheduler's address; {expected}")
    if parts.scheme == "tcp":
        raise UserError(f"{address}: everyone who reaches it, from any account of this machine, would control every "
                           f"lane; use tls://{host}:{port} and --key FILE")
    if key is None:
        raise UserError(f"{address}: no key given; pass --key FILE (kernelmark cluster-key FILE makes one)")
    return Endpoint(host, port, _security(key, submissions))


def _security(key: Path, submissions: Path | None) -> Security:
    try:
        if not _private(key.stat()):
            raise UserError(f"{key}: others may open it; run chmod 600 on it")
        if submissions is not None and key.resolve().is_relative_to(submissions.resolve()):
            raise UserError(f"{key}: lies among the submissions in {submissions}; move it to another folder")
        ssl.create_default_context(cafile=str(key)).load_cert_chain(key)
    except OSError as error:
        # SSLError is an OSError.
        reason = "no private key with its certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise UserError(f"{key}: {reason}; give a file that kernelmark cluster-key made") from None
    path = str(key)
    return Security(
        require_encryption=True, tls_ca_file=path, tls_client_cert=path, tls_client_key=path, tls_worker_cert=path,
        tls_worker_key=path, tls_scheduler_cert=path, tls_scheduler_key=path)


def _private(key: os.stat_result) -> bool:
    """Return whether this user alone can read a key. On Kubernetes a key is root's file, which the pod's group may
    read."""
    others = key.st_mode & 0o077
    if others == 0o040 and key.st_uid == 0:
        return key.st_gid in {os.getegid(), *os.getgroups()} - {0}
    return not others


def quiet() -> None:
    """Silence dask.distributed from now on: the grading reports about lanes itself."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    dask.config.set(SETTINGS)
