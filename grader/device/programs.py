"""The programs that an executor runs: plans, operation by operation, and baselines, which are PyTorch code of ours."""

from __future__ import annotations

import base64
import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy
import torch

from grader.device import guards, messages
from grader.device.driver import LoadedKernel
from grader.device.memory import Temporaries
from grader.plan.messages import Given, GivenTensor
from grader.plan.plan import Copy, Data, Fill, Launch, Operations, View, memory_span, touched_buffers

Slot = Mapping[str, torch.Tensor]
Step = Callable[[], object]


@dataclass(frozen=True)
class PreparedCall:
    """Calls that are ready to be made. `restore` resets whatever outlives a call to the state that the calls expect.

    `graphable`: only kernels touch host memory in these calls.
    """

    calls: list[Step]
    restore: Step
    graphable: bool


class Program(Protocol):
    def run(self, slot: Slot, first: Slot | None) -> list[int]:
        """Make the first call, or, given a slot `first`, a first call there and then the steady call. Returns the
        temporaries around which something was written."""

    def prepare(self, slots: Sequence[Slot]) -> PreparedCall:
        """Prepare a call on each slot."""

    def unbind(self) -> None:
        """Release the memory that calls have needed."""

    def only_launch(self) -> tuple[str, int]:
        """Return the kernel and line of the launch, if there is only one."""


Busy = dict[int, torch.cuda.Event]
"""An event for each address of host memory, at which the device is done with that memory."""


def steps(
    operations: Operations, loaded: Sequence[LoadedKernel], flat: Sequence[torch.Tensor], scratch: Scratch, stream: int,
    busy: Busy,
) -> list[Step]:
    """Return the steps that make these operations on memory: `flat` is the memory of each buffer of the plan, as bytes.

    Operations take effect one after another, on either side. Before the host touches memory that was given to the
    device, it waits for the device; the memory may come from this call or from an earlier one that shares `busy`.
    """
    addresses = [memory.data_ptr() for memory in flat]
    made: list[Step] = []
    # The first launch on a slot begins only when everything before it has ended.
    programmatic = False
    for operation in operations:
        step: Step
        if isinstance(operation, Launch):
            # A launch of zero programs is left out: the driver would refuse it.
            if not math.prod(operation.grid):
                continue
            kernel = loaded[operation.kernel]
            step = kernel.prepare(
                operation, addresses, scratch.address(operation, kernel), stream, programmatic=programmatic)
            programmatic = True
        else:
            step = _memory_step(operation, flat)
        buffers = touched_buffers(operation)
        host = [index for index in buffers if flat[index].device.type == "cpu"]
        if host:
            by_host = not isinstance(operation, Launch) and len(host) == len(buffers)
            step = _in_order(step, [addresses[index] for index in host], busy, by_host)
        made.append(step)
    return made


def strided(view: View, flat: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return a view of a plan's buffer as a tensor."""
    dtype = guards.torch_dtype(view.dtype)
    memory = flat[view.buffer][view.offset :]
    whole = memory[: len(memory) // dtype.itemsize * dtype.itemsize].view(dtype)
    return torch.as_strided(whole, view.shape, view.strides)


def _memory_step(operation: Fill | Data | Copy, flat: Sequence[torch.Tensor]) -> Step:
    if isinstance(operation, Fill):
        target, value = strided(operation.target, flat), operation.value
        return lambda: target.fill_(value)
    if isinstance(operation, Copy):
        source, target = strided(operation.source, flat), strided(operation.target, flat)
        if backwards := operation.backwards:
            return lambda: target.copy_(source.flip(backwards))
        return lambda: target.copy_(source, non_blocking=True)
    buffer = flat[operation.buffer]
    constant = numpy.frombuffer(base64.b64decode(operation.contents), dtype=numpy.uint8)
    contents = torch.from_numpy(constant.copy()).to(buffer.device)
    start = buffer[: len(contents)]
    return lambda: start.copy_(contents)


def _in_order(step: Step, host: list[int], busy: Busy, by_host: bool) -> Step:
    """Return a step on host memory at these addresses. If the host makes the step, it first waits until the device is
    done with that memory."""

    def go() -> None:
        if by_host:
            for address in host:
                if address in busy:
                    busy.pop(address).synchronize()
        step()
        if not by_host:
            event = torch.cuda.Event()  # type: ignore[no-untyped-call]
            event.record()
            busy.update(dict.fromkeys(host, event))

    return go


class Scratch:
    """Scratch memory of a plan's launches. Each launch has its own, since programmatic launches may overlap; all slots
    share it."""

    def __init__(self) -> None:
        self._memory: dict[int, torch.Tensor] = {}

    def address(self, launch: Launch, kernel: LoadedKernel) -> int:
        size = kernel.scratch(launch)
        if not size:
            return 0
        if id(launch) not in self._memory:
            self._memory[id(launch)] = torch.empty(size, dtype=torch.uint8, device="cuda")
        return self._memory[id(launch)].data_ptr()


class PlanProgram:
    """A plan whose kernels are loaded."""

    def __init__(self, program: messages.ProgramText) -> None:
        self._plan = program.plan
        self._loaded = [
            LoadedKernel(kernel, binary) for kernel, binary in zip(program.plan.kernels, program.binaries, strict=True)]
        self._temporaries: Temporaries | None = None
        self._scratch = Scratch()
        # All slots share the temporaries.
        self._busy: Busy = {}

    def run(self, slot: Slot, first: Slot | None) -> list[int]:
        temporaries, plan = self._own(), self._plan
        temporaries.poison()
        self._make(plan.setup, slot)
        if first is None or plan.steady is None:
            self._make(plan.first, slot)
        else:
            self._make(plan.first, first)
            self._make(plan.steady, slot)
        return temporaries.overruns()

    def prepare(self, slots: Sequence[Slot]) -> PreparedCall:
        temporaries, plan = self._own(), self._plan
        temporaries.poison()
        body, restore = plan.first, temporaries.poison
        if plan.steady is not None and slots:
            body, restore = plan.steady, temporaries.restore
            self._make(plan.setup, slots[0])
            self._make(plan.first, slots[0])
            temporaries.keep()
        on_host = any(
            plan.buffers[index].place != "device"
            for operation in body if not isinstance(operation, Launch) for index in touched_buffers(operation))
        return PreparedCall([_together(self._steps(body, slot)) for slot in slots], restore, not on_host)

    def unbind(self) -> None:
        self._temporaries, self._scratch, self._busy = None, Scratch(), {}

    def only_launch(self) -> tuple[str, int]:
        launches = {
            (self._plan.kernels[operation.kernel].name, operation.line)
            for operations in (self._plan.setup, *self._plan.calls()) for operation in operations
            if isinstance(operation, Launch)}
        return launches.pop() if len(launches) == 1 else ("", 0)

    def _own(self) -> Temporaries:
        if self._temporaries is None:
            self._temporaries = Temporaries(self._plan.buffers)
        return self._temporaries

    def _make(self, operations: Operations, slot: Slot) -> None:
        for step in self._steps(operations, slot):
            step()

    def _steps(self, operations: Operations, slot: Slot) -> list[Step]:
        own = self._own().flat
        flat = [
            _flat(slot[buffer.given]) if buffer.given else own[index]
            for index, buffer in enumerate(self._plan.buffers)]
        stream = torch.cuda.current_stream().cuda_stream
        return steps(operations, self._loaded, flat, self._scratch, stream, self._busy)


class BaselineProgram:
    """A function of our own file, called with `given`. It returns its answer, for several outputs a tuple in their
    order, or writes the answer into the outputs."""

    def __init__(self, file: str, source: bytes, function: str, given: Sequence[Given]) -> None:
        path = Path(file)
        path.write_bytes(source)
        spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self._function: Callable[..., object] = getattr(module, function)
        self._given = given
        self._graphable = all(parameter.place == "device" for parameter in given if isinstance(parameter, GivenTensor))

    def run(self, slot: Slot, first: Slot | None) -> list[int]:
        result = self._call(slot)
        outputs = [slot[parameter.name] for parameter in self._given
                   if isinstance(parameter, GivenTensor) and parameter.output]
        results = result if isinstance(result, tuple | list) else (result,)
        for output, made in zip(outputs, results, strict=result is not None):
            # If it returned None or the output itself, the output is written already.
            if isinstance(made, torch.Tensor) and made.data_ptr() != output.data_ptr():
                output.copy_(made)
        return []

    def prepare(self, slots: Sequence[Slot]) -> PreparedCall:
        # Compilation and tuning happen in these calls.
        for slot in list(slots[:1]) * 3:
            self._call(slot)
        return PreparedCall([partial(self._call, slot) for slot in slots], lambda: None, self._graphable)

    def unbind(self) -> None:
        pass

    def only_launch(self) -> tuple[str, int]:
        return "", 0

    def _call(self, slot: Slot) -> object:
        return self._function(
            *(slot[parameter.name] if isinstance(parameter, GivenTensor) else parameter.value
              for parameter in self._given))


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """Return the bytes of a tensor's memory, including those between its elements."""
    return tensor.as_strided((memory_span(tensor.shape, tensor.stride()),), (1,)).view(torch.uint8)


def _together(made: Sequence[Step]) -> Step:
    def go() -> None:
        for step in made:
            step()

    return go
