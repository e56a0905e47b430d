"""Who may join a cluster: one file holds a private key and its own certificate, and nobody without both gets in."""

from __future__ import annotations

import logging
import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import dask
from distributed import Security

LOOPBACK = ("127.0.0.1", "::1", "localhost")
PORT = 8786
# Nothing of the engine's is reached by HTTP, no task moves by itself, and nobody is profiled.
SETTINGS = {
    "distributed.scheduler.http.routes": [], "distributed.worker.http.routes": [],
    "distributed.scheduler.work-stealing": False, "distributed.worker.profile.enabled": False,
    "distributed.scheduler.worker-ttl": "60s", "distributed.scheduler.active-memory-manager.start": False,
}


class ClusterError(Exception):
    """A cluster cannot be made or joined; one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


@dataclass(frozen=True)
class Endpoint:
    """Where a scheduler listens, and what lets somebody in: without `security`, whoever is on this machine."""

    scheme: str
    host: str
    port: int
    security: Security | None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def write_key(path: Path) -> None:
    """Makes a new key, good for a year, for its owner alone to read. Raises ClusterError."""
    try:
        made = Security.temporary()
    except ImportError:
        raise ClusterError("package cryptography: not installed; .venv/bin/pip install -e '.[cluster]'") from None
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise ClusterError(f"{path}: {error.strerror}; a new file in a writable folder expected") from None
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(made.tls_client_key + made.tls_ca_file)


def endpoint(address: str, key: Path | None, submissions: Path | None = None) -> Endpoint:
    """The scheduler at `tls://host:port`, or `tcp://` on this machine. Raises ClusterError, one line, also for a key
    that others can read, such as students whose `submissions` it lies among."""
    expected = "tls://host:8786 expected"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", PORT if parts.port is None else parts.port
    except ValueError:
        raise ClusterError(f"{address}: {expected}") from None
    if parts.scheme not in ("tls", "tcp") or not host or parts.path or parts.username:
        raise ClusterError(f"{address}: {expected}")
    if parts.scheme == "tcp" and host not in LOOPBACK:
        raise ClusterError(f"{address}: whoever reached it would own every lane; tls://{host}:{port} and --key FILE "
                           "expected, except on this machine itself")
    if (parts.scheme == "tls") != (key is not None):
        raise ClusterError(f"{address}: --key FILE expected (kernelmark cluster-key FILE makes one)" if key is None
                           else f"{address}: tls://{host}:{port} expected with --key")
    return Endpoint(parts.scheme, host, port, None if key is None else _security(key, submissions))


def _security(key: Path, submissions: Path | None) -> Security:
    expected = "a file that kernelmark cluster-key has made expected"
    try:
        mode = key.stat().st_mode
        if mode & 0o077:
            raise ClusterError(f"{key}: others may open it; chmod 600 expected")
        if submissions is not None and key.resolve().is_relative_to(submissions.resolve()):
            raise ClusterError(f"{key}: lies among the submissions in {submissions}; a folder outside expected")
        ssl.create_default_context(cafile=str(key)).load_cert_chain(key)
    except OSError as error:
        # Of the ssl module's, too: what is no key and no certificate.
        said = "no private key with its certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise ClusterError(f"{key}: {said}; {expected}") from None
    path = str(key)
    return Security(
        require_encryption=True, tls_ca_file=path, tls_client_cert=path, tls_client_key=path, tls_worker_cert=path,
        tls_worker_key=path, tls_scheduler_cert=path, tls_scheduler_key=path)


def quiet() -> None:
    """The engine logs nothing from now on: what a TA must know of lanes is said by whoever grades."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    dask.config.set(SETTINGS)
