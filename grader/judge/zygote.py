"""The judge's handle on its zygote: starts it, has it fork workers, and has whole process trees killed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from functools import cached_property
from pathlib import Path

from grader.judge import wire
from grader.worker import sandbox

START_SECONDS = 120.0
REPLY_SECONDS = 15.0

# What a worker's programs may need to find libraries and a device; everything else of the environment stays outside.
_KEEP = ("PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")

_BOOT = """
import json, sys
control, interpret, path = json.loads(sys.argv[1])
sys.path[:] = path
from grader.worker.zygote import main
main(control, interpret)
"""


# The zygotes of this process: one for each kind of device.
_living: set[int] = set()


class InfrastructureError(Exception):
    """A failure of ours: no worker could be had. It never costs a student points."""


class Zygote:
    """One process that forks workers, for one lane: at most one worker lives at a time."""

    def __init__(self, *, interpret: bool) -> None:
        self._seq = 0
        self._home = Path(tempfile.mkdtemp(prefix="kernelmark-"))
        ours, theirs = wire.socket_pair()
        environment = {name: os.environ[name] for name in _KEEP if name in os.environ}
        # One thread each: threads of a pool do not survive a fork, and a lane is one core.
        environment |= {"LANG": "C.UTF-8", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HOME": str(self._home)}
        if interpret:
            # Interpreted kernels run on CPU tensors: a GPU that is there must not change what a submission sees.
            environment["CUDA_VISIBLE_DEVICES"] = ""
        log = (self._home / "zygote.log").open("wb")
        try:
            with theirs, log:
                # A program given on the command line has no folder of its own on the path; -I would drop PYTHONPATH.
                path = [str(Path(entry).absolute()) for entry in sys.path if entry]
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-B", "-c", _BOOT, json.dumps([theirs.fileno(), interpret, path])],
                    env=environment, cwd=self._home, pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                )
        except OSError as error:
            ours.close()
            raise InfrastructureError(f"no zygote could be started: {error}") from None
        self._channel = wire.Channel(ours)
        _living.add(self._process.pid)

    @cached_property
    def versions(self) -> wire.Ready:
        """What it has imported. The first look waits for it. Raises InfrastructureError if it did not start."""
        try:
            ready = self._channel.receive(wire.ZYGOTE_REPLY, seq=0, deadline=time.monotonic() + START_SECONDS)
        except wire.ChannelError as error:
            log = (self._home / "zygote.log").read_text(errors="replace")[-2000:].strip()
            self.close()
            raise InfrastructureError(f"the zygote did not start: {error}\n{log}") from None
        assert isinstance(ready, wire.Ready)
        return ready

    def spawn(self, limits: wire.Limits) -> Worker:
        """Forks a worker in a new empty folder."""
        _ = self.versions
        folder = Path(tempfile.mkdtemp(dir=self._home))
        ours, theirs = wire.socket_pair()
        read, write = os.pipe2(os.O_CLOEXEC)
        try:
            reply = self._ask(wire.Spawn(seq=self._next(), folder=str(folder), limits=limits), [theirs.fileno(), write])
        except BaseException:
            ours.close()
            os.close(read)
            raise
        finally:
            theirs.close()
            os.close(write)
        assert isinstance(reply, wire.Spawned)
        return Worker(self, reply.pid, ours, read, folder)

    def reap(self) -> wire.Reaped:
        """Kills the worker's whole tree. Raises InfrastructureError if some of it cannot be killed."""
        reply = self._ask(wire.Reap(seq=self._next()))
        assert isinstance(reply, wire.Reaped)
        if reply.survivors:
            self.close()
            raise InfrastructureError(f"{reply.survivors} processes of the submission could not be killed")
        return reply

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """Ends the zygote, and with it every worker: on end of file it kills what is below it and exits."""
        self._channel.close() if hasattr(self, "_channel") else None
        try:
            self._process.wait(REPLY_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        self._kill_orphans()
        _living.discard(self._process.pid)
        shutil.rmtree(self._home, ignore_errors=True)

    def _kill_orphans(self) -> None:
        """Kills what a lost zygote has left behind: a lane adopts orphans, so it is below this process now."""
        if not sandbox.adopts_orphans():
            return
        deadline = time.monotonic() + REPLY_SECONDS
        while time.monotonic() < deadline:
            others = {pid for pid in _living if pid != self._process.pid}
            orphans = sandbox.descendants() - others.union(*map(sandbox.descendants, others))
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

    def _ask(self, request: wire.Spawn | wire.Reap, descriptors: list[int] | None = None) -> wire.Message:
        try:
            self._channel.send(request, descriptors)
            return self._channel.receive(
                wire.ZYGOTE_REPLY, seq=request.seq, deadline=time.monotonic() + REPLY_SECONDS)
        except wire.ChannelError as error:
            self.close()
            raise InfrastructureError(f"the zygote was lost: {error}") from None


class Worker:
    """A forked worker: its control channel, its output, and its end."""

    # Enough for an honest assignment's replies; a worker that says more is flooding.
    REPLY_BYTES = wire.TOTAL_BYTES
    KEEP_OUTPUT = 20_000

    def __init__(self, zygote: Zygote, pid: int, control: socket.socket, output: int, folder: Path) -> None:
        self.pid = pid
        self.channel = wire.Channel(control, limit=self.REPLY_BYTES)
        self.written = 0
        self._zygote = zygote
        self._output = output
        self._tail = b""
        self._folder = folder
        self._ended: wire.Reaped | None = None
        os.set_blocking(output, False)
        try:
            self._pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            self._pidfd = -1

    def descriptors(self) -> tuple[int, int, int]:
        """Control socket, output pipe, pidfd (readable once the worker is dead; -1 if it died at once)."""
        return self.channel.fileno(), self._output, self._pidfd

    def drain(self) -> bool:
        """Reads what the worker has printed, keeps the end of it. False once every writer has gone."""
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
        """The end of what the worker printed."""
        text = self._tail.decode("utf-8", "replace")
        left_out = self.written - len(self._tail)
        return f"… {left_out} bytes left out\n{text}" if left_out else text

    def kill(self) -> wire.Reaped:
        """Kills the worker and all it started; idempotent. Afterwards nobody writes to its buffers."""
        if self._ended is None:
            # Also when the zygote turns out to be lost: there is nobody to ask a second time.
            self._ended = wire.Reaped(seq=0)
            try:
                self._ended = self._zygote.reap()
            finally:
                self.drain()
                self.channel.close()
                os.close(self._output)
                if self._pidfd >= 0:
                    os.close(self._pidfd)
                shutil.rmtree(self._folder, ignore_errors=True)
        return self._ended
