"""Rules for plans, which the judge checks before anything of a plan is run.

A plan comes from a process that may be hostile, but honest mistakes are found here, too. A fault that host code can
cause is a problem of the student's, with its line; a fault that only a forged plan can have raises `Malformed`.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, prod
from typing import Literal

from grader import languages
from grader.judging.plans.residency import TooManyRegisters, TooManyTogether, misfit
from grader.languages import ForeignCode
from grader.plan.device import MAX_GRID, Device
from grader.plan.messages import Given, GivenTensor
from grader.plan.plan import (
    CAST,
    ITEM_BYTES,
    LARGEST,
    POINTER_BYTES,
    Argument,
    Buffer,
    Copy,
    Data,
    Descriptor,
    DType,
    Fill,
    Kernel,
    Launch,
    Line,
    Malformed,
    Operations,
    Plan,
    Structure,
    View,
    pointed_buffers,
    touched_buffers,
)  # fmt: skip

MOST_PROBLEMS = 16
# Host memory that a plan's own buffers may take: no cgroup bounds an executor's.
HOST_BYTES = 8 << 30


@dataclass(frozen=True)
class GridTooLarge:
    """A grid with more programs along an axis than a GPU takes."""

    kernel: str
    line: Line
    axis: Literal["x", "y", "z"]
    programs: int
    most: int


@dataclass(frozen=True)
class TooMuchMemory:
    """Temporaries of `bytes` bytes in all, on the device or on the host; `line` makes the largest."""

    bytes: int
    most: int
    line: Line
    on: Literal["device", "host"] = "device"


@dataclass(frozen=True)
class BeyondBuffer:
    """A view that ends `beyond` bytes after its memory: `as_strided`, or a descriptor with another shape than its
    tensor's. `given` is the parameter, "" for a temporary; `kernel` is set where a launch takes the view."""

    given: str
    line: Line
    beyond: int
    kernel: str = ""


@dataclass(frozen=True)
class HostMemory:
    """A launch that takes host memory that is not pinned: a GPU cannot reach it."""

    kernel: str
    line: Line
    given: str


@dataclass(frozen=True)
class NotOnTarget:
    """An option of a launch, in its language's words, that this generation of GPUs does not have."""

    kernel: str
    line: Line
    option: str
    target: str


@dataclass(frozen=True)
class NothingToCopy:
    """A copy from one of the submission's own tensors that no earlier launch or copy has taken."""

    line: Line


Problem = (
    GridTooLarge | TooManyRegisters | TooManyTogether | TooMuchMemory | BeyondBuffer | HostMemory | NotOnTarget
    | NothingToCopy)


def check(
    plan: Plan, given: Sequence[Given], *, device: Device, copies: bool, memory: int | None = None
) -> list[Problem]:
    """Return the problems of a plan that are the student's doing, each once, in the plan's order. A plan with problems
    may not be run. Raises Malformed for a plan that no planner of ours writes.

    `given` are the parameters of the planned call. With `copies` the plan may copy any tensor, else only a
    temporary, in the order of memory, onto a whole tensor. `memory` is the most bytes that temporaries may take in all
    (by default the device's memory).
    """
    return _Check(plan, given, device, copies, device.total_memory if memory is None else memory).problems()


def foreign(plan: Plan) -> list[tuple[Kernel, ForeignCode]]:
    """Return what a plan's kernels use beyond their language: inline assembly, foreign functions and kernels of
    libraries."""
    return [(kernel, code) for kernel in plan.kernels for code in languages.of(kernel).read_kernel(kernel)]


def check_kernels(kernels: Sequence[Kernel], language: str = "") -> None:
    """Raise Malformed for a kernel that no planner of ours writes and, if the file's `language` is given, for one in
    another language than this one and the one that it lowers to."""
    for kernel in kernels:
        if language and kernel.language not in (language, languages.front_ends()[language].lowers_to):
            raise Malformed(f"a kernel in {kernel.language[:20]!a}; its file is in {language!a}")
        _printable(kernel.name)
        languages.of(kernel).read_kernel(kernel)


class _Check:
    def __init__(self, plan: Plan, given: Sequence[Given], device: Device, copies: bool, memory: int) -> None:
        self.plan = plan
        self.device = device
        self.copies = copies
        self.memory = memory
        self.given = [parameter for parameter in given if isinstance(parameter, GivenTensor)]
        # Buffers that an earlier launch or copy has taken.
        self.used_buffers: set[int] = set()
        self.noted: dict[Problem, None] = {}

    def problems(self) -> list[Problem]:
        self._buffers()
        check_kernels(self.plan.kernels)
        for tuner in self.plan.tuners:
            _printable(tuner.kernel + tuner.configuration)
            if tuner.chosen >= tuner.candidates:
                raise Malformed("a tuner that chose none of its configurations")
        if any(number >= len(self.plan.kernels) for number in self.plan.resource_queries):
            raise Malformed("the resources of a kernel that is not there")
        for operations in (self.plan.setup, self.plan.first, self.plan.steady or []):
            self._operations(operations)
        self._calls()
        return list(self.noted)[:MOST_PROBLEMS]

    def _buffers(self) -> None:
        buffers = self.plan.buffers
        first, others = buffers[: len(self.given)], buffers[len(self.given) :]
        expected = [(tensor.name, tensor.bytes, tensor.place) for tensor in self.given]
        if [(buffer.given, buffer.bytes, buffer.place) for buffer in first] != expected:
            raise Malformed("given buffers that are not those of the parameters")
        if any(buffer.given for buffer in others):
            raise Malformed("a given buffer that no parameter has")
        self._room(others, self.memory, "device")
        self._room([buffer for buffer in others if buffer.place != "device"], HOST_BYTES, "host")

    def _room(self, buffers: Sequence[Buffer], most: int, on: Literal["device", "host"]) -> None:
        total = sum(buffer.bytes for buffer in buffers)
        if total > most:
            self._note(TooMuchMemory(total, most, max(buffers, key=lambda buffer: buffer.bytes).line, on))

    def _calls(self) -> None:
        """Check that setup and calls touch only what they may: see `Plan`."""
        setup = {number for operation in self.plan.setup for number in touched_buffers(operation)}
        if any(number < len(self.given) for number in setup):
            raise Malformed("setup touches a given buffer")
        first = {number for operation in self.plan.first for number in touched_buffers(operation)}
        if self.plan.steady is None and setup & first:
            raise Malformed("a call that uses what setup made, and no steady call")
        if any(earlier >= number for call in self.plan.calls() for number, operation in enumerate(call)
               for earlier in operation.after or ()):
            raise Malformed("an operation that follows a later one")

    def _operations(self, operations: Operations) -> None:
        for operation in operations:
            if any(number >= len(self.plan.buffers) for number in touched_buffers(operation)):
                raise Malformed("a buffer that is not there")
            match operation:
                case Fill(target=target, value=value, line=line):
                    self._mark_written(target.buffer)
                    self._dense(target, line)
                    _check_value(value, target.dtype)
                case Data(buffer=buffer, contents=contents):
                    self._mark_written(buffer)
                    size, room = len(base64.b64decode(contents)), self.plan.buffers[buffer].bytes
                    if size > room:
                        raise Malformed("data beyond its buffer")
                    if size < room or self.plan.buffers[buffer].given:
                        raise Malformed("data in a part of a tensor, or in the output")
                case Copy():
                    self._copy(operation)
                    self.used_buffers |= touched_buffers(operation)
                case Launch():
                    self._launch(operation)
                    self.used_buffers |= touched_buffers(operation)

    def _copy(self, copy: Copy) -> None:
        source, target = copy.source, copy.target
        if source.shape != target.shape:
            raise Malformed("a copy between different shapes")
        self._mark_written(target.buffer)
        self._view(source, copy.line)
        self._dense(target, copy.line)
        if any(size > 1 and not stride for size, stride in zip(target.shape, target.strides, strict=True)):
            raise Malformed("a copy to one element from many")
        if copy.backwards:
            self._backwards(copy)
        if self.copies and source.dtype == target.dtype:
            return
        # A copy of many pieces, or into another order, would be work that no kernel does.
        if self.plan.buffers[source.buffer].given:
            raise Malformed("a copy where none is allowed, of a given tensor")
        if not _in_order(source) or not _in_order(target):
            raise Malformed("a copy in another order than memory's")
        if prod(target.shape) * ITEM_BYTES[target.dtype] != self.plan.buffers[target.buffer].bytes:
            raise Malformed("a copy to a piece of a tensor")
        if source.dtype != target.dtype and not {source.dtype, target.dtype} <= CAST:
            raise Malformed(f"a copy of {source.dtype} as {target.dtype}")
        if source.buffer not in self.used_buffers:
            self._note(NothingToCopy(copy.line))

    def _backwards(self, copy: Copy) -> None:
        if sorted({*copy.backwards}) != copy.backwards or copy.backwards[-1] >= len(copy.source.shape):
            raise Malformed("a copy backwards along dimensions that it has not")
        on_host = all(self.plan.buffers[view.buffer].place != "device" for view in (copy.source, copy.target))
        if not self.copies or not on_host or copy.source.dtype != copy.target.dtype:
            raise Malformed("a copy backwards that is no host's")

    def _launch(self, launch: Launch) -> None:
        if launch.kernel >= len(self.plan.kernels):
            raise Malformed("a kernel that is not there")
        kernel = self.plan.kernels[launch.kernel]
        front_end = languages.of(kernel)
        words = front_end.launch_options
        axes: tuple[Literal["x", "y", "z"], ...] = ("x", "y", "z")
        for axis, programs, most in zip(axes, launch.grid, MAX_GRID, strict=True):
            # Clusters lie along x, and the GPU counts their members.
            most //= launch.cluster if axis == "x" else 1
            if programs > most:
                self._note(GridTooLarge(kernel.name, launch.line, axis, programs, most))
        if not all(launch.block):
            raise Malformed("a launch of blocks without a thread")
        if (problem := misfit(launch, kernel, self.device)) is not None:
            self._note(problem)
        if not self.device.generation.clusters and launch.cluster > 1:
            self._note(NotOnTarget(kernel.name, launch.line, words["cluster"], self.device.target))
        if not self.device.generation.clusters and launch.programmatic:
            self._note(NotOnTarget(kernel.name, launch.line, words["programmatic"], self.device.target))
        if len(launch.arguments) != len(kernel.signature):
            raise Malformed("a launch with another number of arguments than its kernel takes")
        front_end.check_launch(launch, kernel)
        for argument in launch.arguments:
            self._argument(argument, kernel.name, launch.line)

    def _argument(self, argument: Argument, kernel: str, line: Line) -> None:
        """Check what an argument points to."""
        for number, offset in pointed_buffers(argument):
            buffer = self.plan.buffers[number]
            beyond = self._bytes_beyond(argument.view) if isinstance(argument, Descriptor) else offset - buffer.bytes
            if beyond > 0:
                self._note(BeyondBuffer(buffer.given, line, beyond, kernel))
            if buffer.place == "host":
                self._note(HostMemory(kernel, line, buffer.given))
        if isinstance(argument, Structure):
            _check_inner(argument)

    def _view(self, view: View, line: Line) -> None:
        beyond = self._bytes_beyond(view)
        if beyond > 0:
            self._note(BeyondBuffer(self.plan.buffers[view.buffer].given, line, beyond))

    def _dense(self, view: View, line: Line) -> None:
        """Check a view that is written: PyTorch refuses to write one element through several indices."""
        self._view(view, line)
        buffer = self.plan.buffers[view.buffer]
        if self._bytes_beyond(view) <= 0 and prod(view.shape) * ITEM_BYTES[view.dtype] > buffer.bytes:
            raise Malformed("a written view with more elements than its buffer")

    def _bytes_beyond(self, view: View) -> int:
        """Return the number of bytes by which a view ends after its buffer; not positive for a view inside it."""
        if len(view.shape) != len(view.strides) or view.offset % ITEM_BYTES[view.dtype]:
            raise Malformed("a view whose strides or offset no tensor has")
        return view.end - self.plan.buffers[view.buffer].bytes

    def _mark_written(self, number: int) -> None:
        if number < len(self.given) and not self.given[number].output:
            raise Malformed("an input is written")

    def _note(self, problem: Problem) -> None:
        self.noted[problem] = None


def _check_inner(argument: Structure) -> None:
    """Raise Malformed for pointers that are not aligned, lie outside their argument, or lie in the same place."""
    size, places = len(base64.b64decode(argument.contents)), [inner.at for inner in argument.pointers]
    if any(at % POINTER_BYTES or at + POINTER_BYTES > size for at in places) or len(set(places)) < len(places):
        raise Malformed("a pointer outside its argument")


def _in_order(view: View) -> bool:
    """Return whether a view's elements follow one another in memory in the order of their indices."""
    expected = 1
    for size, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


def _check_value(value: float, dtype: DType) -> None:
    if dtype in LARGEST:
        # PyTorch refuses to fill with more.
        if isfinite(value) and abs(value) > LARGEST[dtype]:
            raise Malformed(f"a value that {dtype} does not have")
        return
    bits = 1 if dtype == "bool" else 8 * ITEM_BYTES[dtype]
    signed = dtype.startswith("int")
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    if not isfinite(value) or int(value) != value or not low <= value < high:
        raise Malformed(f"a value that {dtype} does not have")


def _printable(text: str) -> None:
    if not text.isprintable():
        raise Malformed("a name that cannot be printed")
