"""One launch: its arguments as values, its programs in chunks, and what is done where they wait for each other."""

from __future__ import annotations

import numpy as np

from grader.frontends.triton.options import options_of
from grader.frontends.triton.simulator import pointers
from grader.frontends.triton.simulator.findings import Findings
from grader.frontends.triton.simulator.machine import Budget, Earlier, Limit, Machine, Mode
from grader.frontends.triton.simulator.meter import Meter
from grader.frontends.triton.simulator.pointers import BlockPointer, Buffer, Source, Value
from grader.frontends.triton.simulator.program import Located, Program, prepare_program
from grader.frontends.triton.simulator.types import KEPT, STORED, Array, Type, Unsupported, rounding
from grader.plan.device import occupancy
from grader.plan.findings import EmptyGrid
from grader.plan.plan import ITEM_BYTES, Descriptor, Float, Integer, Kernel, Launch, Pointer

LANES = 1 << 16
"""Elements of the largest tensor of a chunk: so many stay in the caches."""
WAITING_LANES = 1 << 23
"""The same where programs may wait for each other, and have to be in one chunk."""
ALIVE = 1 << 27
"""Elements that are alive at a time, in all tensors of a chunk."""
MOST_PROGRAMS = 1 << 26


class Failed(Exception):
    """A launch that could not be run to its end, and where it stopped."""

    def __init__(self, kernel: str, line: int, cause: Exception) -> None:
        super().__init__(str(cause))
        self.kernel, self.line, self.cause = kernel, line, cause


PIECES = 8
"""So many parts of a grid are run one after another, the last one first, where another order is asked for."""


def run_launch(
    launch: Launch, kernel: Kernel, buffers: list[Buffer], budget: Budget, findings: Findings, mode: Mode,
    meter: Meter | None = None, earlier: Earlier | None = None,
) -> None:
    """Runs a launch. `earlier` is what those before it in the same call have left, and is brought up to date. Raises
    Failed where it stopped in between, or could not begin."""
    total = launch.grid[0] * launch.grid[1] * launch.grid[2]
    if total == 0:
        findings.empty(EmptyGrid(kernel=kernel.name, line=launch.line, grid=launch.grid))
        return
    try:
        options = options_of(kernel)
        program = prepare_program(kernel, counting=meter is not None and meter.counts_alone(kernel))
    except Located as error:
        raise Failed(kernel.name, error.line, error) from None
    machine: Machine | None = None
    chosen: Array | None = None
    try:
        arguments, buffers_of = _arguments(launch, program, buffers)
        stored, loaded = (
            {buffer.index for buffer, has in zip(buffers_of, which, strict=True) if buffer and has}
            for which in (program.stores, program.loads))
        if total > MOST_PROGRAMS:
            raise Limit("operations")
        chunk = min(total, max(1, LANES // program.largest))
        turned = mode.programs_turned and (program.atomics or bool(stored & loaded))
        if turned:
            chunk = min(chunk, -(-total // PIECES))
        most = _resident(launch, mode)
        if program.spins and total * program.largest <= WAITING_LANES:
            chunk = min(total, most)
        chunk = min(chunk, ALIVE // max(1, program.alive))
        if chunk == 0:
            raise Limit("memory")
        # Programs that wait for each other in lockstep are run one by one, from the start.
        before = {}
        for index in stored if program.spins else ():
            raw, written = buffers[index].raw, buffers[index].written
            budget.left -= raw.size
            before[index] = raw.copy(), None if written is None else written.copy()
        for size in (chunk, 1):
            waits = earlier if launch.programmatic and mode.generation and mode.generation.clusters else None
            machine = Machine(program, kernel.name, launch.grid, stored, budget, mode, meter, waits)
            machine.shared = stored & loaded
            machine.warps, machine.stages = options.num_warps, options.num_stages
            chosen = None if meter is None else meter.begin(launch, total, program)
            count = total if chosen is None else chosen.size
            try:
                numbers = np.arange(count, dtype=np.int32) if chosen is None else chosen
                machine.first = 0 if chosen is None or not count else int(chosen[0])
                if turned:
                    numbers = numbers[::-1]
                for start in range(0, count, size):
                    machine.run(arguments, numbers[start : start + size])
                break
            except Limit as limit:
                if limit.what != "stalled" or size == 1:
                    limit.resident = most if most < total else 0
                    raise
                for index, (raw, written) in before.items():
                    buffers[index].raw[:], buffers[index].written = raw, written
        if machine is not None:
            findings.join(machine.findings, machine.accesses.list())
            if earlier is not None:
                earlier.followed_by(machine)
    except (Limit, Unsupported, MemoryError) as error:
        raise Failed(kernel.name, (machine.line() if machine is not None else 0) or launch.line, error) from None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # Only a text that Triton did not write leads here: text is read line by line, not verified.
        cause = Unsupported(f"text that is no kernel ({type(error).__name__})")
        raise Failed(kernel.name, (machine.line() if machine is not None else 0) or launch.line, cause) from error
    # Of a part of the programs nobody expects that they write all.
    for index in stored if chosen is None else ():
        budget.left -= buffers[index].settle()


def _resident(launch: Launch, mode: Mode) -> int:
    """How many programs of a launch the device holds at a time at most, whatever registers and memory they take."""
    if mode.device is None:
        return MOST_PROGRAMS
    each, _ = occupancy(mode.device, launch.threads, 1, launch.shared)
    return max(1, each * mode.device.multi_processor_count // launch.cluster)


def _arguments(
    launch: Launch, program: Program, buffers: list[Buffer]
) -> tuple[list[Value], list[Buffer | None]]:
    """Values of the entry's arguments, and the buffers behind them. A descriptor is followed by shape and strides."""
    function = program.functions[program.entry]
    kinds, names = function.blocks[0].types, function.names
    values: list[Value] = []
    behind: list[Buffer | None] = []
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


def _pointer(buffer: Buffer, offset: int, element: str, name: str, kind: Type) -> pointers.Pointer:
    size = STORED[element].itemsize
    if kind.element != "ptr" or offset % size:
        raise Unsupported("a pointer that is not aligned to its elements")
    return pointers.Pointer((Source(buffer, name),), None, np.array([offset // size], np.int64), element)


def _descriptor(argument: Descriptor, buffer: Buffer, kind: Type, name: str) -> list[Value]:
    view = argument.view
    if kind.element != "descriptor" or kind.pointee.shape != tuple(argument.block) or (
        len(view.shape) != len(argument.block) or len(view.strides) != len(view.shape)
        or ITEM_BYTES[view.dtype] != STORED[kind.pointee.element].itemsize
    ):
        raise Unsupported("a descriptor of another form than the kernel's")
    base = _pointer(buffer, view.offset, kind.pointee.element, name, Type((), "ptr", Type((), kind.pointee.element)))
    shape = tuple(np.array([each], np.int64) for each in view.shape)
    strides = tuple(np.array([each], np.int64) for each in view.strides)
    offsets = tuple(np.zeros(1, np.int64) for _ in view.shape)
    block = BlockPointer(base, shape, strides, offsets, kind.pointee, argument.padding)
    return [block, *(each.astype(np.int32) for each in shape), *strides]
