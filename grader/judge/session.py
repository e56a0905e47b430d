"""One worker's life: load a submission's file, call its function, take the answers, end it.

The judge owns the inputs, the outputs and the clock. What happened is told as values (`Answer`, `Lost`), never raised;
only failures of ours are exceptions.
"""

from __future__ import annotations

import os
import secrets
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

import torch

from grader.assignment import Assignment, Case, Input, Inputs, Scalar, shape_of
from grader.confine.sandbox import CUDA_FILES, FILES
from grader.forkserver.handle import Worker, Zygote
from grader.forkserver.watchdog import Watchdog
from grader.judge.buffers import BufferError, Shared, share
from grader.judge.compare import poison_, same_bits
from grader.judge.halt import Halt
from grader.plan import frames, wire
from grader.result import FailureKind

SAMPLES = 4096
# How often the worker is looked at while it is waited for: its memory, its processes, its folder.
WATCH_SECONDS = 0.2
# How long a worker may take to give up what it was asked for.
ABANDON_SECONDS = 2.0
# What is printed is read at once, so that nobody waits for room, and only its end is kept.
MOST_PRINTED = 64 << 20
# A process that exits closes its descriptors a moment before it is dead.
HANG_UP_SECONDS = 0.5


@dataclass(frozen=True)
class Lost:
    """No answer: the submission failed, or its worker is gone. `fatal` when the worker cannot be asked again."""

    kind: FailureKind | Literal["unsupported"]
    message: str
    line: int = 0
    traceback: str = ""
    output: str = ""
    signal: int | None = None
    fatal: bool = True


@dataclass(frozen=True)
class Answer:
    """What the output held when the worker said "done", copied out of its reach."""

    output: torch.Tensor
    seconds: float
    changed: tuple[str, ...]
    operators: list[wire.OperatorUse]
    kernels: list[wire.KernelUse]
    printed: str


class Refused(Exception):
    """The judge has ended a worker while it was waited for, and `lost` tells why."""

    def __init__(self, lost: Lost) -> None:
        super().__init__(lost.message)
        self.lost = lost


class _OverLimit(Exception):
    """The worker takes more than it may."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass
class _Kept:
    """The buffers of an answered call, kept to see whether anything was written to the output later."""

    case: str
    shared: torch.Tensor
    answer: torch.Tensor
    samples: tuple[torch.Tensor, torch.Tensor]


@dataclass
class Session:
    """A worker for one assignment of one submission.

    `seconds` bound a single call and the whole session. After a `Lost` that is fatal, or `close`, the session is over.
    """

    zygote: Zygote
    assignment: Assignment
    source: bytes
    limits: wire.Limits
    max_programs: int
    call_seconds: float
    deadline: float
    cuda: bool = False
    worker: Worker = field(init=False)
    halt: Halt = field(init=False)
    _seq: int = 0
    _kept: list[_Kept] = field(default_factory=list)
    _shared: list[Shared] = field(default_factory=list)
    _watchdog: Watchdog = field(init=False)

    def __post_init__(self) -> None:
        self.worker = self.zygote.spawn(self.limits)
        self.halt = Halt(self.zygote.pid)
        self._watchdog = Watchdog(
            self.zygote.pid, self.worker.folder, self.limits, entries=CUDA_FILES if self.cuda else FILES)
        self._printing = True
        self._next_watch = time.monotonic() + WATCH_SECONDS

    def load(self) -> Lost | None:
        """Has the worker run the student's file and find its function."""
        return self.load_function(self.assignment, self.assignment.file, self.assignment.function, self.source)

    def load_function(
        self, assignment: Assignment, file: str, function: str, text: bytes, *, record: bool = True
    ) -> Lost | None:
        """Has the worker run a file. Its text travels in memory: the worker reads no file of ours."""
        source = os.memfd_create("source", os.MFD_CLOEXEC)
        try:
            os.write(source, text)
            os.lseek(source, 0, os.SEEK_SET)
            request = wire.Load(
                seq=self.next_seq(), file=file, function=function,
                parameters=[p.name for p in assignment.parameters], max_programs=self.max_programs,
                device="cuda" if self.cuda else "cpu", record=record)
            reply, _ = self.ask(request, [source])
        finally:
            os.close(source)
        return reply if isinstance(reply, Lost) else None

    def call(self, case: Case, inputs: Inputs) -> Answer | Lost:
        """Calls the function once on fresh shared memory: a copy of `inputs`, and an output full of NaN.

        Raises BufferError and torch.OutOfMemoryError if there is no memory.
        """
        shared: dict[str, Shared] = {}
        descriptors: list[int] = []
        arguments: list[wire.Argument] = []
        try:
            for parameter in self.assignment.parameters:
                if isinstance(parameter, Scalar):
                    arguments.append(wire.ScalarArgument(value=inputs[parameter.name]))
                    continue
                on_host = isinstance(parameter, Input) and parameter.place == "host"
                tensor = share(shape_of(parameter, case), parameter.dtype, cuda=self.cuda and not on_host)
                shared[parameter.name] = tensor
                self._shared.append(tensor)
                self.give(0 if tensor.tensor.is_cuda else tensor.tensor.nbytes)
                if isinstance(parameter, Input):
                    tensor.tensor.copy_(inputs[parameter.name])
                else:
                    poison_(tensor.tensor)
                arguments.append(tensor.argument(descriptors))
            if self.cuda:
                torch.cuda.synchronize()
        except BufferError as error:
            raise BufferError(f"case {case.name}: {error}") from None
        output = shared[self.assignment.output.name].tensor
        positions = _secret_positions(output.numel()).to(output.device)
        reply, seconds = self.ask(wire.Call(seq=self.next_seq(), arguments=arguments), descriptors)
        if isinstance(reply, Lost):
            return reply
        # At once: what a thread of the submission writes from here on comes too late.
        sampled = output.view(-1)[positions].clone()
        answer = output.clone()
        self._kept.append(_Kept(case.name, output, answer, (positions, sampled)))
        changed = tuple(
            p.name for p in self.assignment.parameters
            if isinstance(p, Input) and not same_bits(shared[p.name].tensor, inputs[p.name]))
        assert isinstance(reply, wire.Done)
        return Answer(answer, seconds, changed, reply.operators, reply.kernels, self.worker.output)

    def give(self, host_bytes: int) -> None:
        """Tells that the worker is shown so much of the judge's host memory, which is not its own."""
        self._watchdog.given_bytes += host_bytes

    def close(self) -> list[str]:
        """Kills the worker's whole tree. Returns the cases whose output was written to after "done"."""
        self.worker.kill()
        late = []
        for kept in self._kept:
            positions, sampled = kept.samples
            early = same_bits(kept.answer.view(-1)[positions], sampled)
            if not (early and same_bits(kept.shared, kept.answer)):
                late.append(kept.case)
        self._kept.clear()
        # Device memory is freed only now: the worker had it open until it died.
        for tensor in self._shared:
            tensor.close()
        self._shared.clear()
        return late

    def ask(
        self, request: wire.Load | wire.Call | wire.Clock | wire.Map | wire.Unmap | wire.Batch, descriptors: list[int],
        meanwhile: Callable[[float], float] | None = None,
    ) -> tuple[wire.Message | Lost, float]:
        """Sends, then waits for the reply, the worker's death or the deadline, whichever comes first.

        Returns the reply and the seconds it took. `meanwhile(deadline)` runs before the wait, and returns by how many
        seconds it puts the deadline off; it may raise what `look` does, and Refused.
        """
        now = time.monotonic()
        deadline = min(now + self.call_seconds, self.deadline)
        if deadline <= now:
            return self.lose("time_out", "no time left for this assignment"), 0.0
        try:
            self.worker.channel.send(request, descriptors)
            started = time.monotonic()
            if meanwhile is not None:
                try:
                    deadline += meanwhile(deadline)
                except (frames.ChannelError, _OverLimit):
                    raise
                except BaseException:
                    self._forget(request.seq)
                    raise
            while not self.look(deadline, seconds=WATCH_SECONDS):
                pass
            reply = self.worker.channel.receive(wire.REPLY, seq=request.seq, deadline=time.monotonic())
        except frames.ChannelTimeout:
            limit = f"{self.call_seconds:g} s" if self.deadline > deadline else "the assignment's time"
            return self.lose("time_out", f"no answer within {limit}"), self.call_seconds
        except frames.ChannelClosed:
            return self._died(), 0.0
        except Refused as refused:
            return refused.lost, 0.0
        except frames.ChannelError as error:
            return self.lose("protocol", f"the worker broke the protocol: {error}"), 0.0
        except _OverLimit as excess:
            return self.lose(excess.kind, str(excess)), 0.0
        seconds = time.monotonic() - started
        self.worker.drain()
        # One reply to each request: as many as the judge asks for.
        self.worker.channel.renew()
        if isinstance(reply, wire.Failed):
            # A fault of the device leaves its context unusable, whatever the exception was.
            lasting = ("out_of_memory", "device_fault", "out_of_bounds") if self.cuda else ("out_of_memory",)
            fatal = isinstance(request, wire.Load) or reply.failure in lasting
            kind = "exception" if reply.failure == "device_fault" else reply.failure
            return Lost(
                kind, reply.message, reply.line, reply.traceback, self.worker.output, fatal=fatal), seconds
        if (reply.op == "loaded") != isinstance(request, wire.Load):
            return self.lose("protocol", f"the worker answered {reply.op!r} to {request.op!r}"), seconds
        return reply, seconds

    def _forget(self, seq: int) -> None:
        """Reads an answer that nobody wants, after a failure of ours or of somebody else: it is not to be taken for
        the next one's."""
        if self.over:
            return
        patience = time.monotonic() + ABANDON_SECONDS
        with suppress(frames.ChannelError, _OverLimit):
            while not self.look(patience, seconds=WATCH_SECONDS):
                pass
            self.worker.channel.receive(wire.REPLY, seq=seq, deadline=time.monotonic())

    def look(self, deadline: float, *, seconds: float = 0) -> bool:
        """Whether there is a reply to read, after waiting for one up to `seconds`. Keeps the worker's output flowing.

        Raises frames.ChannelClosed for a dead worker, frames.ChannelTimeout past the deadline, _OverLimit for one that
        takes more than it may.
        """
        control, output, pidfd = self.worker.descriptors()
        now = time.monotonic()
        until = min(now + seconds, deadline)
        while True:
            ready = _readable([control, pidfd, *([output] if self._printing else [])], until - now)
            if output in ready:
                self._printing = self.worker.drain()
                if self.worker.written > MOST_PRINTED:
                    raise _OverLimit("over_limit", f"it printed more than {MOST_PRINTED >> 20} MiB")
            if control in ready:
                return True
            if pidfd in ready:
                raise frames.ChannelClosed("the worker is dead")
            now = time.monotonic()
            if now >= deadline:
                raise frames.ChannelTimeout("no answer before the deadline")
            self.watch()
            if now >= until:
                return False

    def watch(self, ahead: float = 0.0) -> None:
        """Looks after memory, processes and files, if that is due within `ahead` seconds. It takes milliseconds, which
        must not lie within what a clock measures. Raises _OverLimit."""
        now = time.monotonic()
        if now + ahead < self._next_watch:
            return
        self._next_watch = now + WATCH_SECONDS
        excess = self._watchdog.check()
        if excess is not None:
            kind: FailureKind = "out_of_memory" if excess.kind == "out_of_memory" else "over_limit"
            raise _OverLimit(kind, excess.message)

    @property
    def device_bytes(self) -> int:
        """Device memory of the answered calls: kept to the end, to see whether anything is written later."""
        tensors = [*(shared.tensor for shared in self._shared), *(kept.answer for kept in self._kept)]
        return sum(tensor.nbytes for tensor in tensors if tensor.is_cuda)

    @property
    def over(self) -> bool:
        """Whether the worker has been ended: nothing can be asked of it any more."""
        return self.worker.ended

    def lose(self, kind: FailureKind, message: str) -> Lost:
        self.worker.kill()
        return Lost(kind, message, output=self.worker.output)

    def _died(self) -> Lost:
        # Both asked before the kill, which takes what could be seen with it. What hung up and lives on has not crashed.
        *_, pidfd = self.worker.descriptors()
        dead = bool(_readable([pidfd], HANG_UP_SECONDS))
        out_of_memory = self.zygote.out_of_memory
        if not dead and not out_of_memory:
            return self.lose("protocol", "the worker closed its channel to the judge")
        end = self.worker.kill()
        if end.signal == signal.SIGKILL and out_of_memory:
            return Lost("out_of_memory", f"it took more than {self.limits.memory_mb:,} MiB of memory and was ended "
                                         "by the system", output=self.worker.output, signal=end.signal)
        if end.signal is not None:
            name = signal.Signals(end.signal).name if end.signal in set(signal.Signals) else f"signal {end.signal}"
            kind: FailureKind = "time_out" if end.signal == signal.SIGXCPU else "crash"
            return Lost(kind, f"the worker was killed by {name}", output=self.worker.output, signal=end.signal)
        return Lost("crash", f"the worker exited by itself with status {end.exit_code}", output=self.worker.output)

    def next_seq(self) -> int:
        self._seq += 1
        return self._seq


def _readable(descriptors: list[int], seconds: float) -> set[int]:
    """Those of them that can be read, or whose other side is gone, after waiting for one up to `seconds`."""
    # Not select, which takes no descriptor beyond 1023.
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poll.poll(max(0.0, seconds) * 1000)}


def _secret_positions(count: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(secrets.randbits(63))
    return torch.randint(count, (min(SAMPLES, count),), generator=generator)

