"""The process that runs kernels on a GPU. It is our own code, with a CUDA context of its own, since kernels can crash
it.

It never sees a submission's file, only plans and machine code. It ends after the first error that CUDA reports.
"""

from __future__ import annotations

import os
import time
import traceback
import warnings
from dataclasses import dataclass
from typing import TypeVar

import torch

from grader.device import messages
from grader.device.driver import DriverError, checked
from grader.device.memory import MappedBlocks
from grader.device.programs import BaselineProgram, PlanProgram, PreparedCall, Program, Slot, Step
from grader.plan import frames
from grader.plan.plan import StrictModel

S = TypeVar("S", bound=StrictModel)
PROFILED_CALLS = 5


def prepare() -> None:
    """Import slow modules in the fork server. Nothing here touches CUDA, whose context does not survive a fork."""
    # Late: only machines with a GPU have it.
    from cuda.bindings import driver, runtime

    _ = driver, runtime


def serve(channel: frames.Channel) -> None:
    executor = _Executor()
    reply = executor.open()
    while True:
        channel.send(reply)
        if isinstance(reply, messages.Fault | messages.ExecutorFailure):
            return
        try:
            request, descriptors = channel.receive_with_descriptors(messages.EXECUTOR_REQUEST)
        except frames.ChannelClosed:
            return
        try:
            reply = executor.answer(request, descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)


@dataclass(frozen=True)
class _Capture:
    """A captured run. Both clocks run around `go`; the host's also covers the wait for its end. `prepared` keeps alive
    what a graph needs."""

    prepared: PreparedCall
    go: Step
    graph: bool


class _Executor:
    def __init__(self) -> None:
        self._programs: list[Program] = []
        self._slots: list[Slot] = []
        self._captures: list[_Capture] = []

    def open(self) -> messages.ExecutorReply:
        """Make the CUDA context."""
        try:
            # One stream for everything. It is not the default stream, from which no graph can be captured.
            torch.cuda.set_stream(torch.cuda.Stream())  # type: ignore[no-untyped-call]
            self._blocks = MappedBlocks()
            cache = torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
            self._swept = torch.zeros(2, max(1, cache), dtype=torch.uint8, device="cuda")
            self._began = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
            self._ended = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
            self._wait()
        except Exception as error:
            return messages.ExecutorFailure(seq=0, message=f"no CUDA context: {error}"[:2000])
        return messages.ProgramReady(seq=0)

    def answer(self, request: messages.ExecutorRequest, descriptors: list[int]) -> messages.ExecutorReply:
        """Answer a request. An error is an answer, too."""
        name, line = "", 0
        try:
            if isinstance(request, messages.Run | messages.Capture):
                name, line = self._programs[request.program].only_launch()
            reply = self._answer(request, descriptors)
            self._wait()
            return reply
        except torch.OutOfMemoryError as error:
            return messages.Fault(seq=request.seq, kind="out_of_memory", message=str(error)[:2000])
        except Exception as error:
            fault = error
            try:
                # PyTorch describes a kernel's error in words; the driver, asked again, gives its number.
                self._wait()
            except DriverError as driver_error:
                fault = driver_error
            # An error of Bind concerns the judge's memory, so it is never a kernel's fault.
            if isinstance(fault, DriverError) and not isinstance(request, messages.Bind):
                return messages.Fault(
                    seq=request.seq, kind=fault.kind, message=str(fault), kernel=fault.kernel or name,
                    line=fault.line or line)
            traceback.print_exc()
            return messages.ExecutorFailure(seq=request.seq, message=f"{type(fault).__name__}: {fault}"[:2000])

    def _answer(self, request: messages.ExecutorRequest, descriptors: list[int]) -> messages.ExecutorReply:
        if isinstance(request, messages.Replay):
            host, device = self._replay(self._captures[request.capture])
            return messages.Replayed(seq=request.seq, host=host, device=device)
        if isinstance(request, messages.Run):
            first = self._slots[request.first] if request.call else None
            overruns = self._programs[request.program].run(self._slots[request.slot], first)
            return messages.CallEnded(seq=request.seq, overruns=overruns[:64])
        if isinstance(request, messages.Capture):
            graph = self._capture(request)
            return messages.Captured(seq=request.seq, number=len(self._captures) - 1, graph=graph)
        if isinstance(request, messages.Profile):
            return messages.Profiled(seq=request.seq, launched=self._profile(request)[:32])
        if isinstance(request, messages.LoadPlan):
            self._programs.append(PlanProgram(_read(messages.ProgramText, descriptors[0], request.bytes)))
        elif isinstance(request, messages.LoadBaseline):
            source = os.pread(descriptors[0], os.fstat(descriptors[0]).st_size, 0)
            os.environ |= {
                "TORCHINDUCTOR_CACHE_DIR": request.cache, "TRITON_CACHE_DIR": f"{request.cache}/triton",
                # Compile in this process: helper processes would have to be ended.
                "TORCHINDUCTOR_COMPILE_THREADS": "1"}
            self._programs.append(BaselineProgram(request.file, source, request.function, request.given))
        else:
            self._bind(_read(messages.Slots, descriptors[0], request.bytes), descriptors)
        return messages.ProgramReady(seq=request.seq, number=max(0, len(self._programs) - 1))

    def _bind(self, slots: messages.Slots, descriptors: list[int]) -> None:
        self._captures, self._slots = [], []
        for program in self._programs:
            program.unbind()
        torch.cuda.empty_cache()
        self._blocks.map(slots, descriptors)
        self._slots = [
            {name: self._blocks.tensor(placed) for name, placed in slot.items()} for slot in slots.slots]

    def _capture(self, request: messages.Capture) -> bool:
        prepared = self._programs[request.program].prepare([self._slots[number] for number in request.slots])
        steps = [*prepared.calls, *self._copies(request.copied)]

        def go() -> None:
            for step in steps:
                step()

        prepared.restore()
        go()
        self._wait()
        if not prepared.graphable:
            self._captures.append(_Capture(prepared, go, graph=False))
            return False
        graph = torch.cuda.CUDAGraph()
        try:
            with warnings.catch_warnings():
                # PyTorch warns of an empty graph, which is meant here.
                warnings.simplefilter("ignore")
                with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
                    go()
        except RuntimeError:
            # Not everything that PyTorch does can be captured.
            self._wait()
            self._captures.append(_Capture(prepared, go, graph=False))
            return False
        self._captures.append(_Capture(prepared, graph.replay, graph=True))
        return True

    def _copies(self, copied: messages.ElementCopy | None) -> list[Step]:
        if copied is None:
            return []
        target, positions = self._blocks.tensor(copied.target), self._blocks.tensor(copied.positions)
        source = self._blocks.memory[copied.source].view(target.dtype)
        return [lambda: torch.index_select(source, 0, positions, out=target)]

    def _replay(self, capture: _Capture) -> tuple[float, float]:
        """Return the seconds by the host's clock and by the device's. The host learns of the end some 10 µs sooner or
        later, whatever a replay's length."""
        capture.prepared.restore()
        # This copy does two things before the clock starts. The device switches from the judge's context to this one,
        # which takes a tenth of a millisecond; and the L2 cache is left as calls leave it, half read and half
        # written. A call of the program would not do: the slots have their contents already, and it could do the work
        # of the calls that count.
        self._swept[1].copy_(self._swept[0])
        self._wait()
        started = time.perf_counter_ns()
        self._began.record()
        capture.go()
        self._ended.record()
        self._wait()
        host = (time.perf_counter_ns() - started) * 1e-9
        return host, self._began.elapsed_time(self._ended) * 1e-3 if capture.graph else host

    def _profile(self, request: messages.Profile) -> list[messages.KernelTime]:
        # Late: profiling is rare, and its import takes time.
        from torch._C._autograd import DeviceType
        from torch.profiler import ProfilerActivity, profile

        (go,) = self._programs[request.program].prepare([self._slots[request.slot]]).calls
        go()
        self._wait()
        with profile(activities=[ProfilerActivity.CUDA]) as recorded:
            for _ in range(PROFILED_CALLS):
                go()
            self._wait()
        launched = [
            messages.KernelTime(
                name=event.key[:500], seconds=event.self_device_time_total * 1e-6 / PROFILED_CALLS,
                count=event.count / PROFILED_CALLS)
            for event in recorded.key_averages() if event.device_type == DeviceType.CUDA]
        return sorted(launched, key=lambda kernel: -kernel.seconds)

    def _wait(self) -> None:
        # Late: only machines with a GPU have it.
        from cuda.bindings import driver

        checked(driver.cuCtxSynchronize())


def _read(shape: type[S], descriptor: int, size: int) -> S:
    return shape.model_validate_json(os.pread(descriptor, size, 0))
