"""Run of a launch: its arguments as bytes, and its blocks in chunks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from random import Random

import numpy as np

from grader.plan.device import Device, occupancy
from grader.plan.findings import EmptyGrid
from grader.plan.limits import Budget, LaunchStopped, Limit
from grader.plan.messages import PLAIN, RunOptions
from grader.plan.plan import (
    POINTER_BYTES,
    Descriptor,
    Float,
    Integer,
    Kernel,
    Launch,
    Malformed,
    Pointer,
    Structure,
)
from grader.simulation.findings import Findings, MemoryNames
from grader.simulation.memory import BufferMemory
from grader.simulation.ptx.code import KernelCode, kernel_code
from grader.simulation.ptx.lanes import Array, Grid, Unsupported
from grader.simulation.ptx.machine import Machine
from grader.simulation.ptx.memory import Spaces
from grader.simulation.ptx.observing import ThreadObserver
from grader.simulation.ptx.races import Races
from grader.simulation.ptx.regions import APART, TABLES, LaunchMemory, Region, SharedSpace

LANES = 1 << 16
"""The most threads of a chunk: what they hold stays in the caches."""
SEED_BYTES = 4096
"""The bytes of each buffer that decide which chunks are checked."""
CHECKED_LANES = 1 << 12
"""The most threads of a chunk that is checked for races within blocks."""
MOST_CHECKED = 4
"""The most chunks of a launch that are checked: if there are more, the first, the last and some between them."""
MOST_HELD = 1 << 28
"""The most bytes, roughly, of registers, local and shared memory of a chunk's blocks."""
WAITING_LANES = 1 << 20
"""The most threads of a chunk whose blocks may wait for each other, which have to be in the same chunk."""
MOST_BLOCKS = 1 << 26
MOST_KEPT = 1 << 26
"""The most bytes of a buffer of which a copy from before a launch is kept."""
WORKSPACE = TABLES - 1
"""The number of the region for barriers of the whole grid."""
ASIDE = 0x13_5790_0000
"""The distance, in bytes, between a buffer's addresses on two devices: a multiple of every alignment of allocations."""
_PARAMETER = re.compile(r"^param_\d+_(\w*)$")


@dataclass(frozen=True)
class LaunchSettings:
    """Settings of launches on a `device`: `suffix` is that of the student's file, `title` reads a variable's name."""

    suffix: str = ""
    title: Callable[[str], str] = str
    device: Device | None = None
    options: RunOptions = PLAIN
    observer: ThreadObserver | None = None

    @property
    def turned(self) -> bool:
        """Return whether blocks run in parts, the last part first, as far as they do not wait for each other, and a
        block's load comes before another block's store, if nothing orders the two."""
        return self.options.order.programs


def run_launch(
    launch: Launch, kernel: Kernel, buffers: Sequence[BufferMemory], budget: Budget, findings: Findings,
    settings: LaunchSettings,
) -> None:
    """Run a launch on the plan's buffers. Raises LaunchStopped if it could not begin or stopped before its end."""
    if prod(launch.grid) == 0:
        findings.empty(EmptyGrid(kernel=kernel.name, line=launch.line, grid=launch.grid))
        return
    run: _Run | None = None
    try:
        code = kernel_code(kernel.text, kernel.symbol, settings.suffix)
        run = _Run(launch, kernel, code, buffers, settings)
        run.run(budget, findings)
    except (Limit, Unsupported, Malformed, MemoryError) as error:
        raise LaunchStopped(kernel.name, (run.line() if run else 0) or launch.line, error) from None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # A text that no compiler wrote, which is read piece by piece and not verified; or a fault of ours.
        cause = Unsupported(f"text that is no kernel ({type(error).__name__})")
        raise LaunchStopped(kernel.name, (run.line() if run else 0) or launch.line, cause) from error


class _Run:
    """Launch under way."""

    def __init__(
        self, launch: Launch, kernel: Kernel, code: KernelCode, buffers: Sequence[BufferMemory],
        settings: LaunchSettings,
    ) -> None:
        self.launch, self.kernel, self.code, self.settings = launch, kernel, code, settings
        self.total = prod(launch.grid)
        self.aside = ASIDE if "places" in settings.options.deviations else 0
        if launch.cluster > 1:
            raise Unsupported("clusters of blocks")
        if not 0 < launch.threads <= 1024 or self.total > MOST_BLOCKS:
            raise Limit("operations")
        names = self._names()
        regions = {}
        for number, buffer in enumerate(buffers):
            named = MemoryNames(names.get(number) or buffer.given, buffer.given, buffer.kept)
            base = _address(number, 0, len(buffers), self.aside)
            regions[number] = Region(buffer.raw, base, named, buffer.written, number)
            regions[number].keeps = settings.turned and buffer.raw.size <= MOST_KEPT
        for number, table in enumerate(code.tables, TABLES):
            raw = np.zeros(table.size, np.uint8)
            raw[: len(table.initial)] = np.frombuffer(table.initial, np.uint8)
            regions[number] = Region(raw, (number + 1) << APART, MemoryNames(settings.title(table.name)), number=number)
        workspace = 0
        if launch.cooperative:
            workspace = (WORKSPACE + 1) << APART
            regions[WORKSPACE] = Region(np.zeros(64, np.uint8), workspace, MemoryNames("the grid"), number=WORKSPACE)
        arrays, size = code.arrays(launch.shared)
        shared = SharedSpace([(begin, end, settings.title(name)) for begin, end, name in arrays], size)
        processors = 132 if settings.device is None else settings.device.multi_processor_count
        launched = LaunchMemory(self._parameters(buffers), workspace, processors, settings.options.deviations,
                                settings.options.erring)
        self.grid = Grid(launch.grid, launch.block, launch.shared)
        races = Races(code.unit, self.total, self.grid.block, code.atomics, code.locks)
        self.spaces = Spaces(regions, shared, launched, races)
        self.machine: Machine | None = None

    def line(self) -> int:
        return 0 if self.machine is None else self.machine.line()

    def run(self, budget: Budget, findings: Findings) -> None:
        machine = self.machine = Machine(
            self.code, self.grid, self.spaces, budget, findings, self.kernel.name[:200])
        observer = machine.observer = self.settings.observer
        chosen = None
        if observer is not None:
            chosen = observer.begin(
                self.launch, self.total, self.grid.block * self.code.largest, self.waits)
            machine.warps = observer.warps[-1] if observer.warps else None
        numbers = np.arange(self.total, dtype=np.int64) if chosen is None else chosen.astype(np.int64)
        resident = self._resident()
        # If only some blocks run, few pages of tensors are in memory: the race detector must not touch the others.
        self.spaces.races.sampled = chosen is not None
        try:
            chunks = self._chunks(numbers.size, resident)
            for part, checked in reversed(list(chunks)) if self.settings.turned and not self.waits else chunks:
                here = numbers[part]
                machine.run(here, checked, here.size // 2 if self.settings.turned and self.waits else 0)
        except Limit as limit:
            limit.resident = resident if resident < self.total else 0
            if self.launch.cooperative:
                limit.ended = int(np.broadcast_to(~machine.alive, machine.whole).any(1).sum())
            raise

    @property
    def waits(self) -> bool:
        """Return whether blocks may wait for each other."""
        return self.code.spins or self.launch.cooperative

    def _chunks(self, total: int, resident: int) -> Iterator[tuple[slice, bool]]:
        """Yield slices of the `total` blocks, each of which runs at once, and whether it is checked for races within
        blocks. If blocks wait for each other, only the first slice is checked."""
        size = self._chunk(True, resident)
        if self.waits:
            for start in range(0, total, size):
                yield slice(start, start + size), not start and size * self.grid.block <= LANES
            return
        checked: Sequence[int] = range(-(-total // size))
        if len(checked) > MOST_CHECKED:
            # The choice depends on the inputs alone, and cannot be foretold.
            secret = Random(b"".join(region.raw[:SEED_BYTES].tobytes() for region in self.spaces.regions.values()))
            between = secret.sample(checked[1:-1], MOST_CHECKED - 2)
            checked = sorted((checked[0], *between, checked[-1]))
        start, most = 0, self._chunk(False, resident)
        for number in checked:
            for begin in range(start, number * size, most):
                yield slice(begin, min(begin + most, number * size)), False
            start = (number + 1) * size
            yield slice(number * size, start), True

    def _chunk(self, checked: bool, resident: int) -> int:
        """Return the number of blocks that run at once. `checked`: their threads are checked for races."""
        threads = self.grid.block
        if self.waits:
            return max(1, min(self.total if self.launch.cooperative else resident, WAITING_LANES // threads))
        code = self.code.function(self.code.entry)
        block_bytes = threads * (code.local + 8 * len(code.kinds)) + self.spaces.shared.bytes
        size = max(1, min((CHECKED_LANES if checked else LANES) // threads, MOST_HELD // block_bytes))
        if self.settings.turned:
            return min(size, -(-self.total // 2))
        # There are two blocks at least, as races between blocks show only there.
        return max(2, size) if checked else size

    def _resident(self) -> int:
        device = self.settings.device
        if device is None:
            return self.total
        registers = self.settings.options.registers.get(self.launch.kernel, 1)
        per_multiprocessor, _ = occupancy(device, self.launch.threads, registers, self.launch.shared + self.code.static)
        held = max(1, per_multiprocessor * device.multi_processor_count)
        return min(self.total, held, self.settings.options.resident or held)

    def _names(self) -> dict[int, str]:
        """Return the kernel's names for the plan's buffers."""
        names: dict[int, str] = {}
        for variable, argument in zip(self.code.parameters, self.launch.arguments, strict=False):
            name = title(variable.name)
            if isinstance(argument, Pointer):
                names.setdefault(argument.buffer, name)
            elif isinstance(argument, Structure):
                for inner in argument.pointers:
                    names.setdefault(inner.buffer, name)
        return names

    def _parameters(self, buffers: Sequence[BufferMemory]) -> Array:
        parameters, arguments = self.code.parameters, self.launch.arguments
        if len(parameters) != len(arguments):
            raise Malformed(f"{len(arguments)} arguments for {len(parameters)} parameters")
        raw = bytearray(self.code.parameter_bytes)
        for variable, at, argument in zip(parameters, self.code.places, arguments, strict=True):
            contents = _contents(argument, variable.size, len(buffers), self.aside)
            if len(contents) != variable.size:
                raise Malformed(f"{len(contents)} bytes for {variable.name[:60]}, which has {variable.size}")
            raw[at : at + variable.size] = contents
        return np.frombuffer(bytes(raw), np.uint8)


def title(parameter: str) -> str:
    """Return a parameter's name in the student's file."""
    match = _PARAMETER.match(parameter)
    return match[1] if match else parameter


def _contents(
    argument: Pointer | Integer | Float | Descriptor | Structure, size: int, buffers: int, aside: int
) -> bytes:
    """Return an argument as the bytes that a kernel sees."""
    if isinstance(argument, Pointer):
        return _address(argument.buffer, argument.offset, buffers, aside).to_bytes(POINTER_BYTES, "little")
    if isinstance(argument, Integer):
        return (argument.value % (1 << 8 * size)).to_bytes(size, "little")
    if isinstance(argument, Float):
        form = {8: "<d", 4: "<f", 2: "<e"}.get(size)
        if form is None:
            raise Malformed(f"a number of {size} bytes")
        return np.array(argument.value).astype(form).tobytes()
    if isinstance(argument, Structure):
        return argument.filled(lambda inner: _address(inner.buffer, inner.offset, buffers, aside))
    raise Unsupported("a tensor descriptor")


def _address(buffer: int, offset: int, buffers: int, aside: int) -> int:
    if buffer >= buffers or offset >= 1 << (APART - 1):
        raise Malformed("a pointer into no buffer")
    return ((buffer + 1) << APART) + aside + offset
