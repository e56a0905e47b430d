"""Executors: processes of ours, each with a CUDA context, that run plans and baselines on the judge's memory.

Failures of kernels are returned as values; failures of ours are raised as InfrastructureError. Either ends the executor
and kills its process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Literal, TypeVar

import torch

from grader.device import messages
from grader.errors import InfrastructureError
from grader.judging.running.arena import Allocation, Arena, Piece
from grader.judging.running.buffers import memory_file
from grader.judging.running.device import working
from grader.judging.running.fork_servers import LaneForkServer
from grader.plan import frames, wire
from grader.plan.compiled import Binary
from grader.plan.messages import Given
from grader.plan.plan import Plan
from grader.sandbox.forkserver import conversation

# The first start makes a CUDA context, and waits where several are made at once.
OPEN_SECONDS = 60.0
LOAD_SECONDS = 30.0
# torch.compile may take most of a minute.
BASELINE_SECONDS = 180.0
LIMITS = wire.Limits(memory_mb=65_536, cuda=True, file_mb=4096, processes=4096, cpu_seconds=86_400)

M = TypeVar("M", bound=wire.Message)
Slot = Mapping[str, Piece]
"""The tensors of one call, by the name of the parameter."""


@dataclass(frozen=True)
class ReplaySeconds:
    """Seconds of a replay by the host's clock and by the device's. Launch, `ElementSample` and synchronisation are
    included."""

    host: float
    device: float


@dataclass(frozen=True)
class GpuFailure:
    """A call without an answer: CUDA reported a fault, the call exceeded its time, or the process is gone.

    `kernel` and `line` name the launch, if only one launch can be at fault.
    """

    kind: messages.FaultKind | Literal["time_limit", "crash"]
    message: str
    kernel: str = ""
    line: int = 0


@dataclass(frozen=True)
class ElementSample:
    """A copy of single elements of `source` to `target`, made after the last slot in the same stream.

    `positions` (int64) index `source` as one flat tensor of `target`'s dtype: see `position`. The judge writes them
    before each replay.
    """

    source: Arena
    positions: Piece
    target: Piece

    @staticmethod
    def position(piece: Piece, element: int) -> int:
        """Return the index of a piece's element in its arena."""
        return piece.offset // piece.tensor.itemsize + element


@dataclass(frozen=True)
class CapturedCalls:
    """Calls prepared for `Executor.replay`. Without a `graph` the host makes them one after another."""

    number: int
    graph: bool


class Executor:
    """An executor's process. Programs stay loaded; `bind` drops slots and captures. Every method raises
    InfrastructureError.

    The constructor returns when the process is forked; `open`, or the first call, waits for its CUDA context. The fork
    server `fork_server` has the role "executor". The folder `cache` retains compiled baselines.
    """

    def __init__(self, fork_server: LaneForkServer, cache: Path) -> None:
        self._conversation = fork_server.fork("executor", LIMITS)
        self._cache = cache
        self._allocations: list[Allocation] = []
        self._opened = False

    @property
    def over(self) -> bool:
        return self._conversation.over

    @property
    def printed(self) -> str:
        """Return the last part of the process's output: prints of kernels, warnings of PyTorch."""
        return self._conversation.printed

    def load(self, plan: Plan, binaries: Sequence[Binary]) -> int | GpuFailure:
        """Load a plan's machine code. Returns the program's number."""
        program = messages.ProgramText(plan=plan, binaries=list(binaries)).model_dump_json().encode()
        request = messages.LoadPlan(seq=self._conversation.next_seq(), bytes=len(program))
        reply = self._ask(request, LOAD_SECONDS, program)
        return reply if isinstance(reply, GpuFailure) else _expect(reply, messages.ProgramReady).number

    def load_baseline(self, source: bytes, file: str, function: str, given: Sequence[Given]) -> int | GpuFailure:
        """Run a file of ours and find its function, which takes `given` in that order and returns its result or writes
        it to the output. Returns the program's number."""
        request = messages.LoadBaseline(
            seq=self._conversation.next_seq(), file=file, function=function, given=list(given),
            cache=str(self._cache))
        reply = self._ask(request, BASELINE_SECONDS, source, held=False)
        return reply if isinstance(reply, GpuFailure) else _expect(reply, messages.ProgramReady).number

    def bind(self, slots: Sequence[Slot], *samples: ElementSample, seconds: float = LOAD_SECONDS) -> GpuFailure | None:
        """Map the memory of these slots and samples, and unmap all other memory."""
        pieces = [piece for slot in slots for piece in slot.values()]
        arenas = [*(piece.arena for piece in pieces), *(part for sample in samples for part in _arenas(sample))]
        self._allocations = list(dict.fromkeys(arena.allocation for arena in arenas))
        # Descriptor 0 is the message's own file.
        descriptors = [-1]
        blocks = [allocation.block(descriptors) for allocation in self._allocations]
        placed = [{name: self._placed(piece) for name, piece in slot.items()} for slot in slots]
        text = messages.Slots(blocks=blocks, slots=placed).model_dump_json().encode()
        request = messages.Bind(seq=self._conversation.next_seq(), bytes=len(text))
        reply = self._ask(request, seconds, text, descriptors[1:])
        return reply if isinstance(reply, GpuFailure) else None

    def unbind(self) -> None:
        """Unmap all memory; a process that fails to do so is ended."""
        if not self.over:
            with suppress(InfrastructureError):
                self.bind([])

    def run(
        self, program: int, slot: int, *, first: int | None = None, seconds: float, compiles: bool = False
    ) -> list[int] | GpuFailure:
        """Run a program once on a slot, with freshly poisoned temporaries, and wait for it. Returns the indices of the
        plan's temporaries around which a kernel wrote.

        Without `first`, a plan's setup and first call run. With `first`, these run on the slot `first`, which should
        hold other contents, and then the steady call on `slot`. A baseline's result is copied to the output. The
        judge's own earlier work on the device is finished before. A baseline that `compiles` takes seconds and hardly
        uses the GPU, which is left to others meanwhile.
        """
        request = messages.Run(
            seq=self._conversation.next_seq(), program=program, slot=slot, call=0 if first is None else 1,
            first=first or 0)
        reply = self._ask(request, seconds, held=not compiles)
        return reply if isinstance(reply, GpuFailure) else _expect(reply, messages.CallEnded).overruns

    def capture(
        self, program: int, slots: Sequence[int], sample: ElementSample | None = None, *, seconds: float
    ) -> CapturedCalls | GpuFailure:
        """Prepare a program's calls on these slots, in this order, for `replay`; without slots the graph is empty.

        The steady call of a plan is captured. Before each replay, setup and a first call on the first slot restore the
        state that the steady call finds. Capturing runs all calls once, so outputs are written, and makes the `sample`.
        """
        request = messages.Capture(
            seq=self._conversation.next_seq(), program=program, slots=list(slots),
            copied=None if sample is None else messages.ElementCopy(
                source=self._allocations.index(sample.source.allocation), positions=self._placed(sample.positions),
                target=self._placed(sample.target)))
        reply = self._ask(request, seconds)
        if isinstance(reply, GpuFailure):
            return reply
        captured = _expect(reply, messages.Captured)
        return CapturedCalls(captured.number, captured.graph)

    def replay(self, captured: CapturedCalls, *, seconds: float) -> ReplaySeconds | GpuFailure:
        """Replay captured calls. Before the clocks start, the judge's own earlier work on the device is finished, and
        the device's last cache is flushed."""
        request = messages.Replay(seq=self._conversation.next_seq(), capture=captured.number)
        with working(alone=True):
            reply = self._ask(request, seconds)
        if isinstance(reply, GpuFailure):
            return reply
        taken = _expect(reply, messages.Replayed)
        return ReplaySeconds(taken.host, taken.device)

    def profile(self, program: int, slot: int, *, seconds: float) -> list[messages.KernelTime] | GpuFailure:
        """Return the kernels that a baseline launches in a call, the longest first."""
        reply = self._ask(messages.Profile(seq=self._conversation.next_seq(), program=program, slot=slot), seconds)
        return reply if isinstance(reply, GpuFailure) else _expect(reply, messages.Profiled).launched

    def close(self) -> None:
        """Kill the process; idempotent. Raises InfrastructureError if it cannot be killed."""
        self._conversation.end()

    def _ask(
        self, request: messages.ExecutorRequest, seconds: float, contents: bytes | None = None,
        descriptors: Sequence[int] = (), *, held: bool = True,
    ) -> messages.ExecutorReply | GpuFailure:
        """Send a request and wait for its answer; with `held`, hold the GPU meanwhile. `contents` travel in a memory
        file, as descriptor 0."""
        self.open()
        file = [] if contents is None else [memory_file(contents=contents)]
        try:
            with working() if held else nullcontext():
                if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
                    torch.cuda.synchronize()
                reply = self._conversation.ask(
                    request, messages.EXECUTOR_REPLY, seconds=seconds, descriptors=[*file, *descriptors])
        finally:
            for descriptor in file:
                os.close(descriptor)
        if isinstance(reply, conversation.LostAnswer):
            if reply.kind == "time_out":
                return GpuFailure("time_limit", reply.message)
            kind: Literal["out_of_memory", "crash"] = "out_of_memory" if reply.kind == "out_of_memory" else "crash"
            return GpuFailure(kind, f"{reply.message}\n{reply.output}".strip())
        if isinstance(reply, messages.Fault):
            self.close()
            return GpuFailure(reply.kind, reply.message, reply.kernel, reply.line)
        if isinstance(reply, messages.ExecutorFailure):
            raise self._broken(reply.message)
        return reply

    def open(self) -> None:
        """Wait for the CUDA context."""
        if self._opened:
            return
        self._opened = True
        channel = self._conversation.worker.channel
        try:
            ready = channel.receive(messages.EXECUTOR_REPLY, seq=0, deadline=time.monotonic() + OPEN_SECONDS)
        except frames.ChannelError as error:
            raise self._broken(f"no CUDA context: {error}") from None
        if isinstance(ready, messages.ExecutorFailure):
            raise self._broken(ready.message)

    def _broken(self, message: str) -> InfrastructureError:
        self.close()
        return InfrastructureError(f"an executor has failed: {message}\n{self.printed}".strip())

    def _placed(self, piece: Piece) -> messages.PlacedTensor:
        return messages.PlacedTensor(
            block=self._allocations.index(piece.arena.allocation), offset=piece.offset,
            shape=list(piece.tensor.shape), dtype=piece.dtype,
            strides=[] if piece.tensor.is_contiguous() else list(piece.tensor.stride()))


class Executors:
    """Executors for one lane, one after another: `take` gives a fresh one, and the next is started ahead, so there are
    two `fork_servers`, which the caller closes."""

    def __init__(self, cache: Path, fork_servers: Sequence[LaneForkServer]) -> None:
        self._cache = cache
        # The fork servers alternate, so the next one has no living worker.
        self._fork_servers = cycle(fork_servers)
        # A thread starts and ends executors: a CUDA context takes long to begin and a tenth of a second to end.
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._ahead = self._thread.submit(self._start)
        self._current: Executor | None = None
        self._ending: Future[None] | None = None

    def take(self) -> Executor:
        """Return a fresh executor; the previous one is given back. Raises InfrastructureError if none can be
        started."""
        self.give_back()
        try:
            self._current = self._ahead.result()
        finally:
            self._ahead = self._thread.submit(self._start)
        return self._current

    def give_back(self) -> None:
        """End the executor that was taken, in the background."""
        if self._current is not None:
            self._ending, self._current = self._thread.submit(self._current.close), None

    def settle(self) -> None:
        """Wait until no other executor begins or ends, which would disturb timing. Raises InfrastructureError if one
        could not be ended."""
        wait([self._ahead])
        if self._ending is not None:
            self._ending.result()
            self._ending = None

    def close(self) -> None:
        """End all executors."""
        wait([self._ahead])
        if self._ending is not None:
            wait([self._ending])
        with ExitStack() as stack:
            # Runs last: the system ends a thread's processes with the thread.
            stack.callback(self._thread.shutdown)
            started = [] if self._ahead.exception() is not None else [self._ahead.result()]
            for executor in (self._current, *started):
                if executor is not None:
                    stack.callback(executor.close)

    def _start(self) -> Executor:
        executor = Executor(next(self._fork_servers), self._cache)
        executor.open()
        return executor


def _arenas(sample: ElementSample) -> tuple[Arena, Arena, Arena]:
    return sample.source, sample.positions.arena, sample.target.arena


def _expect(reply: messages.ExecutorReply, shape: type[M]) -> M:
    if not isinstance(reply, shape):
        raise InfrastructureError(f"an executor answered with {type(reply).__name__} where {shape.__name__} was due")
    return reply
