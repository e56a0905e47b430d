"""A conversation with one confined process: ask it, wait, watch its limits, and end it with all processes it started.

Failures of the process are returned as values; only our own failures are raised.
"""

from __future__ import annotations

import select
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeVar

from pydantic import TypeAdapter

from grader.errors import InfrastructureError
from grader.plan import frames, wire
from grader.plan.limits import MOST_EXCUSED
from grader.sandbox.confine import processes
from grader.sandbox.confine.sandbox import FILES
from grader.sandbox.forkserver import clock
from grader.sandbox.forkserver.handle import ForkServer
from grader.sandbox.forkserver.watchdog import Watchdog

# Interval at which a process's memory, children and folder are checked during a wait.
WATCH_SECONDS = 0.2
# Output is read as it comes, so that the pipe never fills; only the end of it is stored.
MOST_PRINTED = 64 << 20
# A process that exits closes its descriptors shortly before it counts as dead.
HANG_UP_SECONDS = 0.5
# A shorter wait is not examined for want of a processor, which would cost more than the wait.
BRIEF_SECONDS = 0.02
M = TypeVar("M", bound=wire.Message)


@dataclass(frozen=True)
class LostAnswer:
    """A missing answer: the process ended, or was killed for what it did. `output` is the end of its output. A `signal`
    ended it, or it `exited` by itself."""

    kind: Literal["crash", "time_out", "out_of_memory", "over_limit", "protocol"]
    message: str
    output: str = ""
    signal: int | None = None
    exited: bool = False


class _OverLimit(Exception):
    """A limit that the process has passed."""

    def __init__(self, kind: Literal["out_of_memory", "over_limit"], message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Conversation:
    """One confined process, from its start in `role` to its end. It is `over` after a `LostAnswer` or `end`."""

    def __init__(self, fork_server: ForkServer, role: wire.Role, limits: wire.Limits) -> None:
        self.worker = fork_server.spawn(limits, role)
        self._fork_server = fork_server
        self._limits = limits
        self._watchdog = Watchdog(
            fork_server.pid, self.worker.folder, limits, entries=FILES)
        self._printing = True
        self._next_watch = time.monotonic() + WATCH_SECONDS
        self._seq = 0

    def next_seq(self) -> int:
        self._seq += 1
        return self._seq

    def ask(
        self, request: wire.Message, answers: TypeAdapter[M], *, seconds: float, descriptors: list[int] | None = None
    ) -> M | LostAnswer:
        """Send a request and wait up to `seconds` for an answer of one of the shapes `answers`. Time in which the
        process waits for a processor does not count, up to MOST_EXCUSED times `seconds`.

        `descriptors` travel with the request and stay the caller's. Returns LostAnswer if no answer came. Raises
        InfrastructureError if the process had already ended.
        """
        if self.worker.ended:
            raise InfrastructureError("a request to a process that has ended")
        try:
            self.worker.channel.send(request, descriptors)
            self._wait(seconds)
            answer = self.worker.channel.receive(answers, seq=request.seq, deadline=time.monotonic())
        except frames.ChannelTimeout:
            return self._lose("time_out", f"no answer within {seconds:.3g} s")
        except frames.ChannelClosed:
            return self._died()
        except frames.ChannelError as error:
            return self._lose("protocol", str(error))
        except _OverLimit as excess:
            return self._lose(excess.kind, str(excess))
        except BaseException:
            # The unread answer would count as the answer to the next request.
            with suppress(InfrastructureError):
                self.end()
            raise
        self.worker.drain()
        # The cap on bytes holds for each answer: the judge decides how many answers there are.
        self.worker.channel.renew()
        return answer

    def give(self, host_bytes: int) -> None:
        """Note that the process maps this many more bytes of the judge's memory, which do not count as its own."""
        self._watchdog.give(host_bytes)

    @property
    def printed(self) -> str:
        """Return the end of the process's output."""
        return self.worker.output

    @property
    def over(self) -> bool:
        return self.worker.ended

    def end(self) -> None:
        """Kill the process and all its descendants. Raises InfrastructureError if one of them cannot be killed."""
        self.worker.kill()

    def _wait(self, seconds: float) -> None:
        """Wait until there is an answer to read, or until so many seconds of the clock have passed. Meanwhile drains
        the output and checks the limits."""
        control, output, pidfd = self.worker.descriptors()
        deadline, excused = clock.now() + seconds, 0.0
        if control in _readable([control], min(seconds, BRIEF_SECONDS)):
            return
        before = processes.processor_use(self._fork_server.pid)
        while True:
            left = min(deadline - clock.now(), self._next_watch - time.monotonic())
            ready = _readable([control, pidfd, *([output] if self._printing else [])], left)
            if output in ready:
                self._printing = self.worker.drain()
                if self.worker.written > MOST_PRINTED:
                    raise _OverLimit("over_limit", f"the process printed more than {MOST_PRINTED >> 20} MiB")
            if control in ready or clock.now() >= deadline:
                now = processes.processor_use(self._fork_server.pid)
                more = min(processes.starved_seconds(before, now), MOST_EXCUSED * seconds) - excused
                clock.stand(max(0.0, more))
                excused += max(0.0, more)
            if control in ready:
                return
            if pidfd in ready:
                raise frames.ChannelClosed("the process is dead")
            if clock.now() >= deadline:
                raise frames.ChannelTimeout("no answer before the deadline")
            if time.monotonic() >= self._next_watch:
                self._next_watch = time.monotonic() + WATCH_SECONDS
                excess = self._watchdog.check()
                if excess is not None:
                    kind: Literal["out_of_memory", "over_limit"] = (
                        "out_of_memory" if excess.kind == "out_of_memory" else "over_limit")
                    raise _OverLimit(kind, excess.message)

    def _lose(self, kind: Literal["time_out", "out_of_memory", "over_limit", "protocol"], message: str) -> LostAnswer:
        self.worker.kill()
        return LostAnswer(kind, message, self.worker.output)

    def _died(self) -> LostAnswer:
        # Read both descriptors before the kill, which would destroy the evidence. A process that closes its channel and
        # lives on has not crashed.
        *_, pidfd = self.worker.descriptors()
        dead = bool(_readable([pidfd], HANG_UP_SECONDS))
        out_of_memory = self._fork_server.out_of_memory
        if not dead and not out_of_memory:
            return self._lose("protocol", "the process closed its channel to the judge")
        end = self.worker.kill()
        output = self.worker.output
        if end.signal == signal.SIGKILL and out_of_memory:
            return LostAnswer(
                "out_of_memory", f"the process took more than {self._limits.memory_mb:,} MiB of memory and was ended "
                "by the system", output, end.signal)
        if end.signal is not None:
            name = signal.Signals(end.signal).name if end.signal in set(signal.Signals) else f"signal {end.signal}"
            kind: Literal["time_out", "crash"] = "time_out" if end.signal == signal.SIGXCPU else "crash"
            return LostAnswer(kind, f"the process was killed by {name}", output, end.signal)
        return LostAnswer("crash", f"the process exited by itself with status {end.exit_code}", output, exited=True)


def _readable(descriptors: list[int], seconds: float) -> set[int]:
    """Poll for up to `seconds`; return the descriptors that are readable or hung up."""
    # Not select, which takes no descriptor beyond 1023.
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poll.poll(max(0.0, seconds) * 1000)}
