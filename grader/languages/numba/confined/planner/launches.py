"""Launches of Numba's kernels, cut off behind Numba's compiler: a kernel is its PTX, and its launch is recorded.

An array becomes the parameters that Numba's own launch passes: two pointers to nothing, the number of elements, the
bytes of one, the address, the extents, and the strides in bytes. See numba/cuda/dispatcher.py, `_prepare_args`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, cast

import numpy as np
import torch

from grader.host import handles
from grader.host.handles import Handle, memory_of
from grader.host.record import Session, TooLargeError, UnsupportedError
from grader.languages.cuda.slices import EntryText, slices
from grader.languages.cuda.source import KernelDeclaration
from grader.languages.numba.confined import api
from grader.languages.numba.confined.linking import ForeignError
from grader.languages.numba.confined.planner.arrays import on_device, stream_number
from grader.plan.device import occupancy
from grader.plan.messages import Resources, kernel_key
from grader.plan.plan import (
    MOST_ARGUMENTS,
    MOST_KERNELS,
    Argument,
    Float,
    Integer,
    Kernel,
    Launch,
    Malformed,
    Operation,
    Pointer,
)

# Resources that host code gets until the judge has compiled the kernel.
GUESS = Resources(registers=32, spills=0, shared=0)
SUFFIX = ".py"
_MOST_BLOCK = (1024, 1024, 64)
_INTEGERS = {f"{sign}int{bits}": f"{letter}{bits}" for sign, letter in (("", "i"), ("u", "u"))
             for bits in (8, 16, 32, 64)}


class NumbaKernel:
    """A kernel that was compiled for the types of a launch. `variables` are tensors with the contents of its constant
    arrays."""

    def __init__(self, entry: EntryText, plan: Kernel, cooperative: bool) -> None:
        self.entry, self.plan, self.cooperative = entry, plan, cooperative
        self.guessed: set[int] = set()
        self.variables: list[Handle] = []


class NumbaResources:
    """The resources of a kernel, under Numba's names."""

    def __init__(self, resources: Resources, shared: int) -> None:
        self.regs_per_thread, self.local_mem_per_thread = resources.registers, resources.spills
        self.shared_mem_per_block, self.const_mem_size, self.max_threads_per_block = shared, 0, 1024


class NumbaLaunches:
    """The kernels of a session that host code has launched or asked about."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.reset()

    def reset(self) -> None:
        """Clear all kernels, before a file is loaded."""
        self.kernels: list[NumbaKernel] = []
        self._planned: dict[int, tuple[Any, NumbaKernel]] = {}
        # The import records the plan's setup.
        self._setup: list[Operation] = self.session.operations

    def launch(
        self, kernel: Any, args: Sequence[Any], griddim: Sequence[int], blockdim: Sequence[int], stream: Any = 0,
        sharedmem: int = 0,
    ) -> None:
        """Record a launch in place of Numba's own."""
        made = self._of(kernel)
        grid, block = (tuple(int(size) for size in sizes) for sizes in (griddim, blockdim))
        self._check(grid, block, made.entry.most_threads)
        arguments: list[Argument] = [
            part for kind, value in zip(kernel.argument_types, args, strict=True) for part in self._passed(kind, value)]
        arguments += [self._pointer(variable) for variable in self._variables(made)]
        self.session.record(Launch(
            kernel=self.kernels.index(made), grid=cast("Any", grid), block=cast("Any", block), shared=int(sharedmem),
            arguments=arguments, cooperative=made.cooperative, line=self.session.line()), stream=stream_number(stream))

    def resources(self, kernel: Any) -> NumbaResources:
        """Return a kernel's resources for host code."""
        made = self._of(kernel)
        known = self.session.answers.resources.get(kernel_key(made.plan)) if self.session.answers.resources else None
        if known is None:
            made.guessed.add(self.session.call)
        return NumbaResources(known or GUESS, made.entry.shared)

    def cooperative(self, kernel: Any, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Return the number of blocks that the device holds at a time."""
        threads = prod(blockdim) if isinstance(blockdim, (tuple, list)) else int(blockdim)
        resources = self.resources(kernel)
        fits, _ = occupancy(
            self.session.device, threads, resources.regs_per_thread, resources.shared_mem_per_block + dynsmemsize)
        return fits * self.session.device.multi_processor_count

    def _of(self, kernel: Any) -> NumbaKernel:
        """Return a compiled kernel as a plan has it. Raises UnsupportedError for one that no plan can have."""
        known = self._planned.get(id(kernel))
        if known is not None:
            return known[1]
        function = kernel.py_func
        if function.__code__.co_filename != self.session.file:
            self.session.refuse("library", function.__name__)
        if len(self.kernels) >= 4 * MOST_KERNELS:
            raise TooLargeError(f"more than {4 * MOST_KERNELS} kernels", "too_many_kernels")
        code = function.__code__
        names = [name for kind, name in zip(kernel.argument_types, code.co_varnames, strict=False)
                 for name in _names(kind, name)]
        symbol = f"kernel_{len(self.kernels)}"
        try:
            text, linked = api.ptx_of(kernel, symbol)
            (entry,) = slices(text, [KernelDeclaration(symbol, tuple(names), code.co_firstlineno)], SUFFIX, linked)
        except ForeignError as foreign:
            self.session.refuse("library", str(foreign))
        except (Malformed, ValueError) as error:
            raise UnsupportedError(f"{function.__name__} cannot be read: {error}"[:400]) from None
        if entry.unplanned:
            raise UnsupportedError(entry.unplanned.replace(symbol, function.__name__))
        if len(entry.signature) > MOST_ARGUMENTS:
            raise UnsupportedError(
                f"{function.__name__} takes {len(entry.signature)} values, 9 for a matrix; {MOST_ARGUMENTS} at most: "
                "pass fewer arrays")
        plan = Kernel(language="numba", name=function.__name__[:200], symbol=entry.symbol,
                      line=entry.line or code.co_firstlineno, text=entry.text, signature=list(entry.signature))
        numba_kernel = NumbaKernel(entry, plan, bool(kernel.cooperative))
        self.kernels.append(numba_kernel)
        # Kept, so that no other kernel gets its id.
        self._planned[id(kernel)] = kernel, numba_kernel
        return numba_kernel

    def _check(self, grid: Sequence[int], block: Sequence[int], most: int) -> None:
        """Raise ValueError for a launch that the driver refuses."""
        if min(block) < 1 or prod(block) > most or any(
                size > limit for size, limit in zip(block, _MOST_BLOCK, strict=True)):
            raise ValueError(f"a block of {' x '.join(map(str, block))} threads; 1 to {most} expected")
        if min(grid) < 0:
            raise ValueError(f"a grid of {' x '.join(map(str, grid))} blocks")

    def _passed(self, kind: Any, value: Any) -> Iterator[Argument]:
        if not api.is_array(kind):
            for part_kind, part in api.parts(kind, value):
                if api.is_array(part_kind):
                    yield from self._passed(part_kind, part)
                else:
                    yield self._number(part_kind, part)
            return
        tensor = on_device(value)
        assert tensor is not None
        item = int(tensor.element_size())
        # Both would count references.
        yield from (Integer(type="u64", value=0), Integer(type="u64", value=0))
        yield from (Integer(type="i64", value=size) for size in (tensor.numel(), item))
        yield self._pointer(tensor)
        yield from (Integer(type="i64", value=size) for size in tensor.shape)
        yield from (Integer(type="i64", value=step * item) for step in tensor.stride())

    def _number(self, kind: Any, value: Any) -> Argument:
        name = str(kind)
        if name in ("float32", "float64"):
            return Float(type="fp32" if name == "float32" else "fp64", value=float(getattr(np, name)(value)))
        if name == "float16":
            return Integer(type="u16", value=int(np.float16(value).view(np.uint16)))
        if name == "bool":
            return Integer(type="u8", value=int(value))
        if name.startswith("Literal") or name not in _INTEGERS:
            raise UnsupportedError(f"an argument of type {name[:60]} is not planned: pass arrays and numbers")
        # As ctypes does, which keeps the lower bits.
        bits, number = int(_INTEGERS[name][1:]), operator.index(value)
        number %= 1 << bits
        number -= (1 << bits) * (name[0] == "i" and number >> bits - 1)
        if self.session.at(number) is not None:
            self.session.refuse("address", "data_ptr")
        return Integer(type=cast("Any", _INTEGERS[name]), value=number)

    def _pointer(self, tensor: Handle) -> Pointer:
        memory = memory_of(tensor)
        memory.calls.add(self.session.call)
        # The kernel may write it.
        memory.constant = None
        with torch._C.DisableTorchFunction():
            offset = int(tensor.storage_offset()) * int(tensor.element_size())
        return Pointer(buffer=self.session.number(memory), offset=offset)

    def _variables(self, kernel: NumbaKernel) -> list[Handle]:
        """Return the tensors of a kernel's constant arrays. They are set once, as when a GPU loads the kernel."""
        if len(kernel.variables) < len(kernel.entry.variables):
            session = self.session
            call, operations, session.call, session.operations = session.call, session.operations, 0, self._setup
            try:
                kernel.variables = [
                    handles.adopt(torch.frombuffer(bytearray(variable.contents), dtype=torch.uint8), "device")
                    for variable in kernel.entry.variables]
            finally:
                session.call, session.operations = call, operations
        return kernel.variables


def _names(kind: Any, name: str) -> list[str]:
    """Return the names of the parameters that an argument becomes."""
    if api.is_array(kind):
        return [f"{name}_meminfo", f"{name}_parent", f"{name}_size", f"{name}_itemsize", name,
                *(f"{name}_{what}_{axis}" for what in ("shape", "strides") for axis in range(kind.ndim))]
    inner = api.inner(kind)
    return [name] if not inner else [
        part_name for at, part in enumerate(inner) for part_name in _names(part, f"{name}_{at}")]
