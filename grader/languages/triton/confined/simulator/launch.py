"""The run of a launch: its arguments as values, and its programs in chunks, or one by one if they wait for each
other."""

from __future__ import annotations

from math import prod

import numpy as np

from grader.languages.triton.confined.simulator.machine import EarlierLaunches, Machine
from grader.languages.triton.confined.simulator.observing import TileMeter
from grader.languages.triton.confined.simulator.pointers import BlockPointer, Origin, Pointers, Storage, Value
from grader.languages.triton.confined.simulator.preparing import LocatedError, prepare_code
from grader.languages.triton.confined.simulator.state import Code, Mode
from grader.languages.triton.confined.simulator.types import KEPT, STORED, Array, Type, rounding
from grader.languages.triton.options import options_of
from grader.plan.device import occupancy
from grader.plan.findings import EmptyGrid
from grader.plan.limits import Budget, LaunchStopped, Limit, Unsupported
from grader.plan.plan import ITEM_BYTES, Descriptor, Float, Integer, Kernel, Launch, Pointer, Structure
from grader.simulation.findings import Findings

LANES = 1 << 16
"""The most elements in the largest tensor of a chunk: that many stay in the processor's caches."""
WAITING_LANES = 1 << 23
"""The same limit for programs that may wait for each other, which have to be in one chunk."""
ALIVE = 1 << 27
"""The most elements that are alive at a time, in all tensors of a chunk."""
MOST_PROGRAMS = 1 << 26


PIECES = 8
"""The number of parts of a grid, which run one after another, the last part first, in a run with another order."""


def run_launch(
    launch: Launch, kernel: Kernel, buffers: list[Storage], budget: Budget, findings: Findings, mode: Mode,
    meter: TileMeter | None = None, earlier: EarlierLaunches | None = None,
) -> None:
    """Run a launch. `earlier` are the earlier launches of the same call, to which this launch is added. Raises
    LaunchStopped if the launch cannot begin or stops before its end."""
    if prod(launch.grid) == 0:
        findings.empty(EmptyGrid(kernel=kernel.name, line=launch.line, grid=launch.grid))
        return
    try:
        code = prepare_code(kernel, counting=meter is not None and meter.counts_alone(kernel))
        run = _LaunchRun(launch, kernel, code, buffers, budget, mode, meter)
    except LocatedError as error:
        raise LaunchStopped(kernel.name, error.line, error) from None
    try:
        waits = earlier if launch.programmatic and mode.generation and mode.generation.clusters else None
        machine = run.run(waits)
        findings.join(machine.findings, machine.accesses.list())
        if earlier is not None:
            earlier.followed_by(machine)
    except (Limit, Unsupported, MemoryError) as error:
        raise LaunchStopped(kernel.name, run.line(), error) from None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # Only a text that Triton did not write leads here: texts are read line by line, but not verified.
        cause = Unsupported(f"text that is no kernel ({type(error).__name__})")
        raise LaunchStopped(kernel.name, run.line(), cause) from error
    # If only some programs run, unwritten elements are expected.
    for index in run.stored if run.chosen is None else ():
        budget.left -= buffers[index].settle()


class _LaunchRun:
    """A launch under way. `stored` and `loaded` are the buffers that it stores to and loads from, `machine` is the last
    machine that ran it, `chosen` are the only programs to run, None for all."""

    def __init__(
        self, launch: Launch, kernel: Kernel, code: Code, buffers: list[Storage], budget: Budget, mode: Mode,
        meter: TileMeter | None,
    ) -> None:
        self.launch, self.kernel, self.code, self.options = launch, kernel, code, options_of(kernel)
        self.buffers, self.budget, self.mode, self.meter = buffers, budget, mode, meter
        self.total = prod(launch.grid)
        self.resident = _resident(launch, mode)
        self.stored: set[int] = set()
        self.loaded: set[int] = set()
        self.machine: Machine | None = None
        self.chosen: Array | None = None

    def line(self) -> int:
        return (self.machine.line() if self.machine is not None else 0) or self.launch.line

    def run(self, waits: EarlierLaunches | None) -> Machine:
        """Run the launch. `waits` are earlier launches that it has to wait for. Returns the machine that ran it."""
        arguments, behind = _arguments(self.launch, self.code, self.buffers)
        self.stored, self.loaded = (
            {buffer.index for buffer, has in zip(behind, which, strict=True) if buffer and has}
            for which in (self.code.stores, self.code.loads))
        turned = self.mode.options.order.programs and (self.code.atomics or bool(self.stored & self.loaded))
        chunk = self._chunk(turned)
        before = self._contents()
        try:
            return self._run_chunks(arguments, chunk, turned, waits)
        except Limit as limit:
            if limit.what != "stalled" or chunk == 1:
                raise
        # Programs that wait for each other in lockstep run one by one, from the start.
        for index, (raw, written) in before.items():
            self.buffers[index].raw[:], self.buffers[index].written = raw, written
        return self._run_chunks(arguments, 1, turned, waits)

    def _chunk(self, turned: bool) -> int:
        """Return how many programs run at once. Raises Limit."""
        if self.total > MOST_PROGRAMS:
            raise Limit("operations")
        chunk = min(self.total, max(1, LANES // self.code.largest))
        if turned:
            chunk = min(chunk, -(-self.total // PIECES))
        if self.code.spins and self.total * self.code.largest <= WAITING_LANES:
            chunk = min(self.total, self.resident)
        chunk = min(chunk, ALIVE // max(1, self.code.alive))
        if chunk == 0:
            raise Limit("memory")
        return chunk

    def _contents(self) -> dict[int, tuple[Array, Array | None]]:
        """Return copies of the buffers that the launch stores to, if it may have to restart."""
        before = {}
        for index in self.stored if self.code.spins else ():
            raw, written = self.buffers[index].raw, self.buffers[index].written
            self.budget.left -= raw.size
            before[index] = raw.copy(), None if written is None else written.copy()
        return before

    def _run_chunks(self, arguments: list[Value], size: int, turned: bool, waits: EarlierLaunches | None) -> Machine:
        """Run all programs on a new machine, `size` at once. Raises Limit."""
        launch = self.launch
        machine = self.machine = Machine(
            self.code, self.kernel.name, launch.grid, self.stored, self.budget, self.mode, self.meter, waits)
        machine.shared = self.stored & self.loaded
        machine.warps, machine.stages = self.options.num_warps, self.options.num_stages
        if self.meter is not None:
            self.chosen = self.meter.begin(launch, self.total, self.code.largest, self.code.spins)
        chosen = self.chosen
        count = self.total if chosen is None else chosen.size
        numbers = np.arange(count, dtype=np.int32) if chosen is None else chosen.astype(np.int32)
        machine.first = 0 if chosen is None or not count else int(chosen[0])
        if turned:
            numbers = numbers[::-1]
        try:
            for start in range(0, count, size):
                machine.run(arguments, numbers[start : start + size])
        except Limit as limit:
            limit.resident = self.resident if self.resident < self.total else 0
            raise
        return machine


def _resident(launch: Launch, mode: Mode) -> int:
    """Return the most programs of a launch that the device holds at a time, without regard to registers and memory."""
    if mode.device is None:
        return MOST_PROGRAMS
    per_multiprocessor, _ = occupancy(mode.device, launch.threads, 1, launch.shared)
    held = max(1, per_multiprocessor * mode.device.multi_processor_count // launch.cluster)
    return min(held, mode.options.resident or held)


def _arguments(
    launch: Launch, code: Code, buffers: list[Storage]
) -> tuple[list[Value], list[Storage | None]]:
    """Return the values of the entry's arguments, and the buffer behind each. A descriptor is followed by its shape and
    strides."""
    function = code.functions[code.entry]
    kinds, names = function.blocks[0].types, function.names
    values: list[Value] = []
    behind: list[Storage | None] = []
    for argument in launch.arguments:
        if len(values) >= len(kinds):
            raise Unsupported("more arguments than the kernel has")
        kind, name = kinds[len(values)], names[len(values)]
        if isinstance(argument, Pointer):
            values.append(_pointer(buffers[argument.buffer], argument.offset, kind.pointee.element, name, kind))
            behind.append(buffers[argument.buffer])
        elif isinstance(argument, Descriptor):
            values += _descriptor(argument, buffers[argument.view.buffer], kind, name)
            behind += [buffers[argument.view.buffer]] + [None] * (len(values) - len(behind) - 1)
        elif isinstance(argument, Structure):
            raise Unsupported("a structure as an argument")
        else:
            values.append(_scalar(argument, kind))
            behind.append(None)
    if len(values) != len(kinds):
        raise Unsupported("fewer arguments than the kernel has")
    return values, behind


def _scalar(argument: Integer | Float, kind: Type) -> Array:
    if kind.shape or kind.element not in KEPT:
        raise Unsupported(f"a number for an argument of type {kind.element}")
    kept = KEPT[kind.element]
    if isinstance(argument, Integer) and kept.kind == "i":
        bits = kept.itemsize * 8
        half = 1 << (bits - 1)
        return np.array([(argument.value + half) % (1 << bits) - half], kept)
    with np.errstate(over="ignore"):
        value = np.array([argument.value]).astype(kept)
    rounded = rounding(kind.element)
    return value if rounded is None else rounded(value)


def _pointer(buffer: Storage, offset: int, element: str, name: str, kind: Type) -> Pointers:
    size = STORED[element].itemsize
    if kind.element != "ptr" or offset % size:
        raise Unsupported("a pointer that is not aligned to its elements")
    return Pointers((Origin(buffer, name),), None, np.array([offset // size], np.int64), element)


def _descriptor(argument: Descriptor, buffer: Storage, kind: Type, name: str) -> list[Value]:
    view = argument.view
    if kind.element != "descriptor" or kind.pointee.shape != tuple(argument.block) or (
        len(view.shape) != len(argument.block) or len(view.strides) != len(view.shape)
        or ITEM_BYTES[view.dtype] != STORED[kind.pointee.element].itemsize
    ):
        raise Unsupported("a descriptor of another form than the kernel's")
    base = _pointer(buffer, view.offset, kind.pointee.element, name, Type((), "ptr", Type((), kind.pointee.element)))
    shape = tuple(np.array([size], np.int64) for size in view.shape)
    strides = tuple(np.array([stride], np.int64) for stride in view.strides)
    offsets = tuple(np.zeros(1, np.int64) for _ in view.shape)
    block = BlockPointer(base, shape, strides, offsets, kind.pointee, argument.padding)
    return [block, *(size.astype(np.int32) for size in shape), *strides]
