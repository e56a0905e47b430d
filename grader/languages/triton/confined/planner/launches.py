"""Triton with its last stages cut off: a driver that has no GPU, a compiler that ends after the front end, and a
launcher that records launches.

All layers above are Triton's own: specialisation, heuristics, hooks, descriptors. See triton/runtime/jit.py, and
triton/backends/nvidia/driver.py for what the launcher does with a signature.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import re
import struct
import sys
from collections.abc import Iterator
from typing import Any, cast

import torch
from pydantic import ValidationError

from grader.host.handles import dtype_name
from grader.host.record import (
    Memory,
    Session,
    TooLargeError,
    UnsupportedError,
)
from grader.languages.cuda.slices import EntryText
from grader.languages.triton.confined import api
from grader.languages.triton.confined.planner import gluon
from grader.languages.triton.confined.planner.failures import NotLowered
from grader.languages.triton.options import WARP, Options
from grader.plan.messages import Resources, kernel_key
from grader.plan.plan import (
    MOST_KERNELS,
    TEXT_CHARACTERS,
    Argument,
    Descriptor,
    Float,
    Integer,
    Kernel,
    Launch,
    Pointer,
    View,
)

# Resources that host code gets until the judge has compiled the kernel; not 0, since it may divide by them.
GUESS = Resources(registers=32, spills=0, shared=1024)
# The most warps of a program, of 32 threads each.
MOST_WARPS = 32
# Global memory that a descriptor made on the device takes for each program.
DESCRIPTOR_BYTES = 128
_CLOSED = frozenset(Options.model_fields) - {"allow_fp8e4nv"}
# Options that may differ from Triton's defaults and are not in a plan: which checks the front end writes, and where
# Triton's own libdevice lies, since no other library is linked.
_OPEN = frozenset({"instrumentation_mode", "sanitize_overflow", "extern_libs"})
_FILE_OF_LOCATION = re.compile(r'loc\("([^"\n]*)":\d+:\d+\)')
# The errors for a module that MLIR does not take, and the line in which MLIR writes the reason.
_UNCLEAR = ("error encountered during parsing", "PassManager::run failed")
_DIAGNOSTIC = re.compile(r"^(.*):(\d+):\d+: error: (.*)$", re.MULTILINE)
MOST_QUOTED = 4096
# Functions of Triton's language that a kernel may call.
_LANGUAGE = re.compile(r"/triton/(?:experimental/gluon/)?language/[\w/]+\.py$")


Lowered = tuple[str, str, tuple[EntryText | None, int]]


class Lowering:
    """The kernels of a session, as Triton's front end lowers them: one for each specialisation."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.kernels: list[CompiledKernel] = []
        self.failure: NotLowered | None = None
        # Many edited copies of a file have the same kernels.
        self._copies: dict[str, Lowered] | None = None
        self.target = api.target_of(session.device.major * 10 + session.device.minor)
        self.defaults = vars(api.make_backend(self.target).parse_options({}))

    def reset(self) -> None:
        """Clear all kernels, before an edited copy of the file is loaded, but not how they were lowered."""
        self.kernels, self.failure = [], None
        self._copies = self._copies or {}

    def compile(self, src: Any, target: Any = None, options: Any = None, _env_vars: Any = None) -> CompiledKernel:
        """Compile a kernel in place of triton.compile."""
        if not isinstance(src, api.ASTSource):
            self.session.refuse("other", "triton.compile")
        if api.file_of(src.fn) != self.session.file:
            self.session.refuse("library", src.fn.__name__)
        backend = api.make_backend(self.target)
        parsed = backend.parse_options(options or {})
        self._check_options(vars(parsed))
        if len(self.kernels) >= 4 * MOST_KERNELS:
            raise TooLargeError(f"more than {4 * MOST_KERNELS} specialisations of kernels", "too_many_kernels")
        self.session.lowering = True
        # Always with Triton's checks, whoever runs the kernel: host code must not see who does. PTX is what GPUs run.
        checking = parsed if api.is_gluon(src.fn) else backend.parse_options({**(options or {}), "debug": True})
        try:
            text, symbol, (entry, shared) = self._lowered_once(src, checking)
            api.check_names(src.fn)
        except Exception as error:
            self.failure = self._not_lowered(error, src, checking)
            api.filter_traceback(error)
            raise
        finally:
            self.session.lowering = False
        if len(text) > TEXT_CHARACTERS:
            raise TooLargeError(f"a kernel of {len(text):,} characters in Triton's representation", "kernel_too_long")
        self._check_helpers(text)
        planned = self._plans(vars(parsed))
        kernel = Kernel(
            language="triton", name=src.fn.__name__[:200], symbol=symbol, line=api.definition(src.fn), text=text,
            signature=[kind for _, kind in _leaves(list(src.signature.values()), list(src.signature.values()))],
            options=planned.for_plan())
        if entry is not None:
            kernel = Kernel(language="cuda", name=kernel.name, symbol=entry.symbol, line=kernel.line, text=entry.text,
                            signature=list(entry.signature))
        compiled_kernel = CompiledKernel(self, src, parsed, kernel, planned, entry, shared)
        self.kernels.append(compiled_kernel)
        return compiled_kernel

    def _lowered_once(self, src: Any, options: Any) -> Lowered:
        # The names that a hash checks have errors of their own, which lowering finds first.
        if self._copies is None:
            return self._lowered(src, options)
        key = f"{src.hash()} {vars(options)}"
        if key not in self._copies:
            self._copies[key] = self._lowered(src, options)
        return self._copies[key]

    def _lowered(self, src: Any, options: Any) -> Lowered:
        """Return a kernel's text and symbol as the front end lowers it and, for one in Gluon, what `entry_of` does."""
        if in_gluon := api.is_gluon(src.fn):
            gluon.check(src, options)
        module = lower(src, options, self.target)
        text, symbol = str(module), module.get_entry_func_name()
        return text, symbol, gluon.entry_of(src, module, options, self.target) if in_gluon else (None, 0)

    def _not_lowered(self, error: BaseException, src: Any, options: Any) -> NotLowered:
        names = src.fn.arg_names
        constants = {
            names[path[0]]: repr(value)[:40] for path, value in src.constants.items()
            if len(path) == 1 and isinstance(value, (bool, int, float))}
        # MLIR quotes the line, which has to fit into a pipe.
        if not any(words in str(error) for words in _UNCLEAR) or max(map(len, src.fn.src.splitlines())) > MOST_QUOTED:
            return NotLowered(error, constants)
        match = _DIAGNOSTIC.search(api.diagnostics(lambda: self._lowered(src, options), _context(self.target)))
        if match is None:
            return NotLowered(error, constants)
        return NotLowered(error, constants, match[3], int(match[2]) if match[1] == self.session.file else 0)

    def _check_helpers(self, text: str) -> None:
        for file in set(_FILE_OF_LOCATION.findall(text)):
            if file != self.session.file and not _LANGUAGE.search(file):
                module = file.rsplit("/", 1)[-1].removesuffix(".py")
                # The first call of the module in the text is one of the kernel itself.
                called = re.search(rf"@\"?(?:[\w.]+\.)?({re.escape(module)}\.\w+?)__", text)
                self.session.refuse("library", called[1] if called else module)

    def _plans(self, options: dict[str, Any]) -> Options:
        """Return the options as a plan has them. Raises OutOfResources for too many warps, ValueError for any other
        number that no launch takes."""
        if options["num_warps"] > MOST_WARPS:
            raise api.OutOfResources(WARP * options["num_warps"], WARP * MOST_WARPS, "threads")
        try:
            return Options(**{name: options[name] for name in _CLOSED})
        except ValidationError as error:
            first = error.errors()[0]
            name = first["loc"][0]
            expected = first["msg"].removeprefix("Input should be ")
            raise ValueError(f"{name}={options[str(name)]!r}, {expected} expected"[:200]) from None

    def _check_options(self, options: dict[str, Any]) -> None:
        for name, value in options.items():
            if name not in _CLOSED and name not in _OPEN and value != self.defaults[name]:
                self.session.refuse("option", name)


def lower(src: api.ASTSource, options: Any, target: api.GPUTarget) -> Any:
    """Return the module of Triton's front end, before any pass."""
    return api.lower(src, options, target, _context(target))


@functools.cache
def _context(target: api.GPUTarget) -> Any:
    return api.context_of(api.make_backend(target))


class CompiledKernel(api.CompiledKernel):  # type: ignore[misc]
    """A stand-in for Triton's compiled kernel, for Triton's launch path and for host code."""

    def __init__(
        self, lowering: Lowering, src: Any, options: Any, kernel: Kernel, planned: Options, entry: EntryText | None,
        shared: int,
    ) -> None:
        self.src = src
        # A kernel in Gluon, and the shared memory that its launch asks for.
        self.entry, self.shared = entry, shared
        self.plan = kernel
        self.planned = planned
        # Calls in which host code asked for resources that are not known yet.
        self.guessed: set[int] = set()
        self.name = kernel.symbol
        self.hash = ""
        self.module = self
        # No driver has loaded it, so that Triton must not unload it.
        self._module_pid: int | None = None
        self.function = 1
        self.n_max_threads = 1024
        self.metadata_group: dict[str, str] = {}
        self.packed_metadata = (options.num_warps, options.num_ctas, 0)
        self.metadata = LauncherMetadata(self, options, lowering.target)
        self.asm = KernelTexts(self, options, lowering.target)
        self.kernel = b""
        self._lowering = lowering
        self._options = options

    def _init_handles(self) -> None:
        """Raise OutOfResources, as Triton does when it loads a kernel, if the kernel is known not to fit."""
        session = self._lowering.session
        # A call from the student's own line counts as a question about the resources.
        known = self.resources if sys._getframe(1).f_code.co_filename == session.file else self._known()
        most = session.device.shared_memory_per_block_optin
        shared = self.shared + (0 if known is None else known.shared)
        if shared > most:
            raise api.OutOfResources(shared, most, "shared memory")

    @property
    def run(self) -> Any:
        self._init_handles()
        return self._launch

    @property
    def resources(self) -> Resources:
        known = self._known()
        if known is None:
            self.guessed.add(self._lowering.session.call)
        return known or GUESS

    def _known(self) -> Resources | None:
        answers = self._lowering.session.answers.resources
        return answers.get(kernel_key(self.plan)) if answers else None

    @property
    def n_regs(self) -> int:
        return self.resources.registers

    @property
    def n_spills(self) -> int:
        return self.resources.spills

    def _launch(
        self, x: Any, y: Any, z: Any, stream: Any, function: Any, packed: Any, metadata: Any, enter: Any, leave: Any,
        *args: Any,
    ) -> None:
        if enter is not None:
            enter(metadata)
        session = self._lowering.session
        grid = tuple(max(0, _as_int(size)) for size in (x, y, z))
        with torch._C.DisableTorchFunction():
            arguments = [
                _argument(session, index, kind, value)
                for index, (value, kind) in enumerate(_leaves(list(args), list(self.src.signature.values())))]
        if "tt.make_tensor_descriptor" in self.plan.text and session.device.generation.descriptors and all(grid):
            # A kernel that makes descriptors needs room for them, which the student's allocator has to give.
            api.allocate(
                grid[0] * grid[1] * grid[2] * self.planned.num_ctas * DESCRIPTOR_BYTES, DESCRIPTOR_BYTES, stream)
        kernels, number = self._lowering.kernels, self._lowering.kernels.index(self)
        launch = self.planned.for_launch()
        if self.entry is not None:
            arguments = gluon.operands(self.entry, arguments)
            launch |= {"block": (self.entry.most_threads, 1, 1), "shared": self.shared}
        if any(isinstance(operation, Launch) and kernels[operation.kernel].plan.language != self.plan.language
               for operation in session.operations):
            raise UnsupportedError(
                "kernels in Gluon and in Triton are not planned in one call: write all of them in one language")
        session.record(Launch(
            kernel=number, grid=cast("tuple[int, int, int]", grid), arguments=arguments, line=session.line(), **launch))
        if leave is not None:
            leave(metadata)


class LauncherMetadata:
    """A compiled kernel's metadata, under Triton's names."""

    def __init__(self, compiled: CompiledKernel, options: Any, target: api.GPUTarget) -> None:
        self.__dict__.update(vars(options))
        self.target = target
        self.name = compiled.name
        self.hash = ""
        self.tmem_size = 0
        self.global_scratch_size, self.global_scratch_align = 0, 1
        self.profile_scratch_size, self.profile_scratch_align = 0, 1
        self._compiled = compiled

    @property
    def shared(self) -> int:
        return self._compiled.resources.shared + self._compiled.shared

    def _asdict(self) -> dict[str, Any]:
        return {**{name: value for name, value in vars(self).items() if name[0] != "_"}, "shared": self.shared}


class KernelTexts(dict[str, Any]):
    """A kernel's text at each stage, made on demand. No assembler is available."""

    def __init__(self, compiled: CompiledKernel, options: Any, target: api.GPUTarget) -> None:
        self._compiled = compiled
        self._options = options
        self._target = target
        super().__init__()

    def __missing__(self, stage: str) -> Any:
        if stage in ("cubin", "sass"):
            raise UnsupportedError(f"the kernel's {stage} is made after host code has ended: leave .asm[{stage!r}] out")
        if stage not in ("source", "ttir", "ttgir", "llir", "ptx"):
            raise KeyError(f"Unknown key: '{stage}'")
        if stage == "source":
            return self.setdefault(stage, self._compiled.plan.text)
        src = self._compiled.src
        self.update(api.lowered(
            lower(src, self._options, self._target), self._options, self._target, src.language, stage)[0])
        return self[stage]


def _leaves(values: Any, kinds: Any) -> Iterator[tuple[Any, str]]:
    """Yield the arguments of a launch with their types: tuples are taken apart, compile-time constants left out."""
    for value, kind in zip(values, kinds, strict=False):
        if isinstance(kind, (tuple, list)):
            yield from _leaves(value, kind)
        elif kind != "constexpr":
            yield value, kind


def _as_int(value: Any) -> int:
    number = operator.index(value.value if isinstance(value, api.constexpr) else value)
    if not -(2**31) <= number < 2**31:
        raise OverflowError(f"signed integer is {'greater' if number > 0 else 'less'} than "
                            f"{'maximum' if number > 0 else 'minimum'}")
    return number


def _argument(session: Session, index: int, kind: str, value: Any) -> Argument:
    if kind.startswith("*"):
        memory, offset = _pointed(session, index, value)
        return Pointer(buffer=session.number(memory), offset=offset)
    if kind.startswith("tensordesc"):
        if getattr(value, "round_f32_to_tf32", False):
            raise UnsupportedError(
                "a descriptor that rounds to tf32 is not simulated: leave round_f32_to_tf32 out, as tl.dot rounds by "
                "itself")
        memory, offset = _pointed(session, index, value.base)
        dtype = dtype_name(value.base.dtype)
        view = View(
            buffer=session.number(memory), offset=offset, shape=[int(n) for n in value.shape],
            strides=[int(n) for n in value.strides], dtype=dtype)
        if view.end > memory.bytes:
            raise ValueError(
                f"a descriptor of shape {view.shape} and strides {view.strides} reaches past its tensor of "
                f"{memory.bytes} bytes")
        return Descriptor(view=view, block=[int(n) for n in value.block_shape], padding=value.padding)
    if kind in ("fp16", "bf16", "fp32", "fp64"):
        return Float(type=cast("Any", kind), value=_truncate(float(value)) if kind == "bf16" else float(value))
    if kind in ("nvTmaDesc",):
        raise UnsupportedError(
            "a descriptor made by the driver is not planned: make it with triton.tools.tensor_descriptor")
    number = int(value)
    if session.at(number) is not None:
        session.refuse("address", "data_ptr")
    return Integer(type=cast("Any", kind), value=number)


def _truncate(value: float) -> float:
    """Return a number cut to bfloat16: Triton's launcher truncates a float32, and does not round it."""
    (bits,) = struct.unpack("<I", struct.pack("<f", ctypes.c_float(value).value))
    return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFF_0000))[0])


def _pointed(session: Session, index: int, value: Any) -> tuple[Memory, int]:
    """Return the memory behind a pointer argument, and the offset there in bytes. Raises ValueError, as Triton's
    launcher does, for memory that a GPU cannot reach."""
    address = value.data_ptr() if hasattr(value, "data_ptr") else value
    pointed = session.at(address) if isinstance(address, int) else None
    if pointed is None:
        raise ValueError(f"Pointer argument (at {index}) is no memory of PyTorch's: allocate with torch.empty")
    if pointed[0].place == "host":
        own = "" if pointed[0].given else f", which is allocated in host memory in line {pointed[0].line}"
        raise ValueError(f"Pointer argument (at {index}) cannot be accessed from Triton (cpu tensor?){own}")
    memory, offset = pointed
    memory.calls.add(session.call)
    # The kernel may write it.
    memory.constant = None
    return memory, offset
