"""The judge's handle on its fork server: it starts the server, requests workers, and has whole process trees killed."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import cached_property
from importlib import metadata
from pathlib import Path

from grader import temporary
from grader.errors import InfrastructureError
from grader.plan import frames, language_folders, wire
from grader.sandbox.confine import bubblewrap, processes, surroundings
from grader.sandbox.confine.cgroup import Cgroup

START_SECONDS = 120.0
REPLY_SECONDS = 15.0
# MiB of a cgroup's limit for bubblewrap and the fork server, which uses 170 MiB with torch imported.
OWN_MB = 384
OWN_TASKS = 64
# Threads in a library's pool on the host. They count among a worker's processes and threads.
MOST_THREADS = 16
# Characters of the last output of our own process that a reason quotes.
LINE = 300

# Variables that a worker's programs may need to find libraries and a device. No other variable is passed on.
KEPT = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
# Workers do not get the judge's own PATH: it shows where the grader is, and what else a TA has.
PATH = "/usr/local/bin:/usr/bin:/bin"

BOOT = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])["path"]
from grader.plan import wire
from grader.sandbox.forkserver.server import main
main(wire.Settings.model_validate_json(sys.argv[1]))
"""


# The pids of this process's living fork servers. The lock is held while one starts, so that `_kill_orphans` does not
# take it for an orphan.
_living: set[int] = set()
_starting = threading.Lock()


class ForkServer:
    """A fork server: a process that forks workers for a lane, one at a time.

    `roles` are the workers' roles. Without any, the fork server starts in a tenth of the time, and its workers can only
    be probes. `layers` are those of the workers' sandbox. The fork server runs inside `cgroup`, which `close` closes,
    too.
    """

    def __init__(
        self, roles: Sequence[wire.Role] = (), *, layers: wire.Layers, cgroup: Cgroup | None = None
    ) -> None:
        self._seq = 0
        self._layers = layers
        self._cgroup = cgroup
        self._home = temporary.make("fork-server")
        # Workers with another user id pass through this folder to their own folders.
        self._home.chmod(0o711)
        self.pid = 0
        own_end, server_end = frames.socket_pair()
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        # One thread: existing threads do not survive a fork.
        environment |= {"LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "HOME": str(self._home)}
        # A worker's user id may have no entry in passwd, where getpass and parts of torch look it up during their
        # import.
        environment |= dict.fromkeys(("LOGNAME", "USER"), "student")
        # The default of every Triton so far. Triton 3.9 warns if it is unset, and later versions will not fuse by
        # default.
        environment["TRITON_DEFAULT_FP_FUSION"] = "1"
        if "executor" in roles:
            # More threads than free cores wait milliseconds for each other.
            environment["PATH"] = os.environ.get("PATH", PATH)
            environment["OMP_NUM_THREADS"] = str(min(MOST_THREADS, max(1, len(os.sched_getaffinity(0)) // 2)))
        else:
            # A worker computes in one thread, and no code of a submission may see a GPU.
            path = os.pathsep.join((PATH, *(f"{folder}/bin" for folder in surroundings.tools())))
            environment |= {"PATH": path, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        whole, listed = surroundings.readable_paths()
        settings = wire.Settings(
            control=server_end.fileno(), roles=list(roles), home=str(self._home), path=surroundings.import_path(),
            front_ends=language_folders.homes(), readable=whole, listed=listed, layers=layers)
        around = bubblewrap.command(
            (*surroundings.readable(), *surroundings.own_code()), surroundings.hidden()) if layers.namespaces else []
        around = [*(cgroup.command() if cgroup else ()), *around]
        try:
            with _starting, server_end, (self._home / "fork-server.log").open("wb") as log:
                # -c puts no folder of the program on the path. -I ignores PYTHONPATH, so BOOT sets the path.
                self._process = subprocess.Popen(
                    [*around, os.path.normpath(sys.executable), "-I", "-B", "-c", BOOT, settings.model_dump_json()],
                    env=environment, cwd=self._home, pass_fds=[server_end.fileno()],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    # Ctrl-C in a terminal is for the judge alone.
                    process_group=0,
                )
                _living.add(self._process.pid)
        except BaseException as error:
            own_end.close()
            temporary.remove(self._home)
            if cgroup is not None:
                cgroup.close()
            if isinstance(error, OSError):
                raise InfrastructureError(f"no fork server could be started: {error}") from None
            raise
        self._channel = frames.Channel(own_end)

    @cached_property
    def ready(self) -> wire.Ready:
        """Return the fork server's report: the libraries' versions, and roles that cannot be had. The first use waits
        until the fork server has started. Raises InfrastructureError if it did not start."""
        descriptors: list[int] = []
        try:
            ready = self._channel.receive(
                wire.FORK_SERVER_REPLY, seq=0, deadline=time.monotonic() + START_SECONDS, descriptors=descriptors)
        except frames.ChannelError as error:
            raise self._lost("the fork server did not start", error) from None
        assert isinstance(ready, wire.Ready)
        self.pid = _pid_of(descriptors.pop())
        if ready.trouble:
            self.close()
            raise InfrastructureError(
                f"torch {ready.torch}, triton {ready.triton}: not as the grader knows them: {ready.trouble}; "
                f"{' and '.join(map(declared, ('torch', 'triton')))} expected")
        return ready

    def spawn(self, limits: wire.Limits, role: wire.Role) -> Worker:
        """Fork a worker in a new empty folder, and wait until it is inside its sandbox. Raises InfrastructureError."""
        if reason := self.ready.broken.get(role):
            raise InfrastructureError(reason)
        if self._cgroup is not None:
            self._cgroup.bound(OWN_MB + limits.memory_mb, OWN_TASKS + limits.processes)
            self._oom_kills = self._cgroup.oom_kills()
        own_end, worker_end = frames.socket_pair()
        read, write = os.pipe2(os.O_CLOEXEC)
        try:
            received: list[int] = []
            reply = self._ask(
                wire.Spawn(seq=self._next(), limits=limits, role=role), [worker_end.fileno(), write], received)
        except BaseException:
            own_end.close()
            os.close(read)
            raise
        finally:
            worker_end.close()
            os.close(write)
        assert isinstance(reply, wire.Spawned)
        worker = Worker(
            self, received.pop(), own_end, read, None if self._layers.namespaces else self._home / str(reply.seq))
        try:
            worker.channel.receive(wire.ENTERED, seq=0, deadline=time.monotonic() + REPLY_SECONDS)
        except frames.ChannelError as error:
            worker.kill()
            why = _last_line(worker.output)
            raise InfrastructureError(f"a worker did not get into its sandbox: {why or error}") from None
        except BaseException:
            worker.kill()
            raise
        return worker

    def reap(self) -> wire.Reaped:
        """Kill the worker with all its descendants; the worker of a closed fork server is dead already. Raises
        InfrastructureError if a process cannot be killed."""
        if self._channel.fileno() < 0:
            return wire.Reaped(seq=0)
        reply = self._ask(wire.Reap(seq=self._next()))
        assert isinstance(reply, wire.Reaped)
        if reply.survivors:
            self.close()
            raise InfrastructureError(f"{reply.survivors} processes of the submission could not be killed")
        return reply

    @property
    def out_of_memory(self) -> bool:
        """Return whether the kernel has killed a process since the last `spawn` because the lane's memory ran out."""
        return self._cgroup is not None and self._cgroup.oom_kills() > self._oom_kills

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """Kill the fork server and thereby its workers. A thread that waits for them gets an InfrastructureError.
        `close` must still be called."""
        self._process.kill()

    def close(self) -> None:
        """End the fork server and its workers. When its channel closes, it kills all processes below it and exits."""
        self._channel.close() if hasattr(self, "_channel") else None
        try:
            self._process.wait(REPLY_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        with _starting:
            self._kill_orphans()
        if self._cgroup is not None:
            self._cgroup.close()
        _living.discard(self._process.pid)
        temporary.remove(self._home)

    def _kill_orphans(self) -> None:
        """Kill the processes that a lost fork server left behind. A lane adopts orphans, so they are below this
        process."""
        if not processes.adopts_orphans():
            return
        deadline = time.monotonic() + REPLY_SECONDS
        while time.monotonic() < deadline:
            others = {pid for pid in _living if pid != self._process.pid}
            orphans = processes.descendants() - others.union(*map(processes.descendants, others))
            if not orphans:
                return
            for pid in orphans:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(0.001)

    def _next(self) -> int:
        self._seq += 1
        return self._seq

    def _ask(
        self, request: wire.Spawn | wire.Reap, descriptors: list[int] | None = None, received: list[int] | None = None
    ) -> wire.Message:
        try:
            self._channel.send(request, descriptors)
            return self._channel.receive(
                wire.FORK_SERVER_REPLY, seq=request.seq, deadline=time.monotonic() + REPLY_SECONDS,
                descriptors=received)
        except frames.ChannelError as error:
            raise self._lost("the fork server was lost", error) from None
        except BaseException:
            # After an interruption, the unread reply would count as the reply to the next request.
            self.kill()
            self.close()
            raise

    def _lost(self, message: str, error: Exception) -> InfrastructureError:
        """Close the fork server. Returns the exception to raise, with the end of the fork server's log."""
        log = ""
        with contextlib.suppress(OSError):
            log = _last_line((self._home / "fork-server.log").read_text(errors="replace"))
        self.close()
        return InfrastructureError(f"{message}: {error}{f' ({log})' if log else ''}")


def _last_line(text: str) -> str:
    """Return the end of the last line of a process's output, where a traceback says what went wrong."""
    return text.strip().rpartition("\n")[2][-LINE:].strip()


def declared(name: str) -> str:
    """Return the versions of a package that kernelmark supports, such as `torch>=2.11,<2.16`."""
    for requirement in metadata.requires("kernelmark") or ():
        match = re.fullmatch(rf"{re.escape(name)}\b([^;\[]*)", requirement)
        if match:
            return f"{name}{','.join(sorted(match[1].replace(' ', '').split(','), reverse=True))}"
    return name


class Worker:
    """A forked worker: its control channel, its output, and its end."""

    # The most bytes of replies: enough for an honest worker; a worker that sends more is flooding.
    REPLY_BYTES = frames.TOTAL_BYTES
    KEEP_OUTPUT = 20_000

    def __init__(
        self, fork_server: ForkServer, pidfd: int, control: socket.socket, output: int, folder: Path | None
    ) -> None:
        # None with namespaces: the worker then has a file system of its own, which has a limit and cannot be seen from
        # here.
        self.folder = folder
        self.channel = frames.Channel(control, limit=self.REPLY_BYTES)
        self.written = 0
        self._fork_server = fork_server
        self._output = output
        self._tail = b""
        self._pidfd = pidfd
        self._ended: wire.Reaped | None = None
        os.set_blocking(output, False)

    @property
    def pid(self) -> int:
        """Return the worker's pid in this process's namespace; 0 once it is dead."""
        return _pid_of(self._pidfd, keep=True)

    def descriptors(self) -> tuple[int, int, int]:
        """Return the control socket, the output pipe, and the pidfd (readable once the worker is dead)."""
        return self.channel.fileno(), self._output, self._pidfd

    def drain(self) -> bool:
        """Read the worker's output so far and store the end of it. False once every writer has closed the pipe."""
        while True:
            try:
                chunk = os.read(self._output, 1 << 16)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            self.written += len(chunk)
            self._tail = (self._tail + chunk)[-self.KEEP_OUTPUT :]

    @property
    def output(self) -> str:
        """Return the end of the worker's output."""
        text = self._tail.decode("utf-8", "replace")
        left_out = self.written - len(self._tail)
        return f"… {left_out} bytes left out\n{text}" if left_out else text

    @property
    def ended(self) -> bool:
        return self._ended is not None

    def kill(self) -> wire.Reaped:
        """Kill the worker and all its descendants; idempotent. Afterwards no process writes to its buffers."""
        if self._ended is None:
            # Set before the request: a lost fork server must not be asked a second time.
            self._ended = wire.Reaped(seq=0)
            try:
                self._ended = self._fork_server.reap()
            finally:
                self.drain()
                self.channel.close()
                os.close(self._output)
                os.close(self._pidfd)
        return self._ended


def _pid_of(pidfd: int, *, keep: bool = False) -> int:
    """Return the pid behind a pidfd, in this process's namespace; 0 if the process is dead. See pidfd_open(2),
    "fdinfo"."""
    try:
        fields = dict(line.split(":", 1) for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines())
    finally:
        if not keep:
            os.close(pidfd)
    return max(0, int(fields["Pid"]))
