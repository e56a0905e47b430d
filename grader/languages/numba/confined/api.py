"""Numba's private interfaces, and the way from its compiler's PTX to a kernel's text. No other file uses them, so a
change in Numba is mended here."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

# Numba reads these when it is imported: no simulator, no reference counts, no colours in messages.
_SETTINGS = {"ENABLE_CUDASIM": "0", "DISABLE_JIT": "0", "CUDA_DEBUGINFO": "0", "OPT": "3", "COLOR_SCHEME": "no_color",
             "DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1", "CUDA_LOW_OCCUPANCY_WARNINGS": "0", "CUDA_ENABLE_NRT": "0"}
for _name in [name for name in os.environ if name.startswith("NUMBA_")]:
    del os.environ[_name]
os.environ.update({f"NUMBA_{name}": value for name, value in _SETTINGS.items()})

from numba import cuda, float32  # noqa: E402
from numba.core.errors import NumbaError as CoreError  # noqa: E402
from numba.cuda import cudaimpl, dispatcher, types  # noqa: E402
from numba.cuda._internal import cuda_bf16, cuda_fp16  # noqa: E402
from numba.cuda.core.errors import NumbaError  # noqa: E402
from numba.cuda.cudadrv import devicearray, devices  # noqa: E402
from numba.cuda.cudadrv.error import NvvmError  # noqa: E402
from numba.cuda.lowering import Lower  # noqa: E402
from numba.cuda.np import numpy_support  # noqa: E402
from numba.cuda.typing.typeof import typeof_impl  # noqa: E402

from grader.languages.numba.confined import linking  # noqa: E402

_RESHAPE = next(Path(dispatcher.__file__).parent.glob("reshape_funcs.*"))
_ENTRY = re.compile(r"\.visible \.entry (\w+)\(")
_SHARED_ARRAY = re.compile(r"\s*([A-Za-z_]\w{0,60})\s*=[^=].*\bshared\.array\(")
_RESOURCES = ("regs_per_thread", "shared_mem_per_block", "local_mem_per_thread", "const_mem_size",
              "max_threads_per_block")


class _SharedNames:
    """The symbols of shared arrays. Each is a mangled name of C++: the variable's name in the student's file, in a
    namespace whose letters make it unique."""

    def __init__(self) -> None:
        self._count = 0
        self._place: Any = None
        notify = Lower.notify_loc

        def notify_and_note(lower: Any, place: Any) -> None:
            self._place = place
            notify(lower, place)

        Lower.notify_loc = notify_and_note

    def symbol(self, name: str) -> str:
        self._count += 1
        line = linecache.getline(self._place.filename, self._place.line) if self._place is not None else ""
        match = _SHARED_ARRAY.match(line)
        letters = "".join(chr(ord("a") + int(digit)) for digit in str(self._count))
        return f"_ZN{len(letters)}{letters}{len(match[1])}{match[1]}E" if match else f"shared_array_{letters}"


def compile_first() -> None:
    """Compile a kernel of ours, so that no planner pays for the first."""
    def copied(x, out):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i]

    cuda.compile(copied, (float32[::1], float32[::1]), device=False, abi="numba", cc=(9, 0), lineinfo=True)


def install(
    runtime: Any, arrays: Any, launch: Callable[..., None], resources: Callable[[Any], Any],
    cooperative: Callable[..., int],
) -> None:
    """Put stand-ins in the place of Numba's driver: `runtime` has the device's context, `launch` takes a kernel, its
    arguments, grid, block, stream and shared bytes, `resources` returns a kernel's resources, `cooperative` the number
    of blocks of a cooperative launch, for a kernel, a block and its dynamic shared memory."""
    devices._runtime, devices.gpus = runtime, runtime.gpus
    kernel, begin = dispatcher._Kernel, dispatcher.CUDADispatcher.__init__
    kernel.bind = lambda self: None
    # A plain function, so that it becomes a method of the kernel.
    kernel.launch = lambda self, *args, **kwargs: launch(self, *args, **kwargs)
    kernel.max_cooperative_grid_blocks = lambda self, *args, **kwargs: cooperative(self, *args, **kwargs)
    for name in _RESOURCES:
        setattr(kernel, name, property(partial(lambda name, self: getattr(resources(self), name), name)))

    def with_lines(self: Any, py_func: Any, targetoptions: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, py_func, {**targetoptions, "lineinfo": True, "debug": False, "lto": False}, *args, **kwargs)

    dispatcher.CUDADispatcher.__init__ = with_lines
    cudaimpl._get_unique_smem_id = _SharedNames().symbol
    dispatcher.CUDADispatcher.enable_caching = lambda self: None
    dispatcher.driver._to_core_stream = lambda stream: stream
    dispatcher.ForAll._compute_thread_per_block = lambda self, dispatcher: self.thread_per_block or 256
    devicearray.DeviceNDArray = arrays
    devicearray.is_cuda_ndarray = lambda value: isinstance(value, arrays)


def install_functions(functions: dict[str, Any]) -> None:
    """Put stand-ins in the place of functions of numba.cuda, in both modules that offer them."""
    for name, value in functions.items():
        setattr(cuda, name, value)
        if hasattr(cuda.api, name):
            setattr(cuda.api, name, value)


def typed(kinds: Sequence[type], type_of: Callable[[Any], Any]) -> None:
    """Have Numba take the type of a value of these classes from `type_of`."""
    for kind in kinds:
        typeof_impl.register(kind)(lambda value, context: type_of(value))


def array_type(dtype: Any, dimensions: int, layout: str) -> Any:
    """Return Numba's type of an array. Raises an error of Numba's for a dtype that it does not know."""
    return types.Array(numpy_support.from_dtype(dtype), dimensions, layout)


def is_array(kind: Any) -> bool:
    return isinstance(kind, types.Array)


def parts(kind: Any, value: Any) -> list[tuple[Any, Any]]:
    """Return the types and values that a scalar or tuple is passed as."""
    if isinstance(kind, types.BaseTuple):
        return [part for inner_kind, inner in zip(kind, value, strict=True) for part in parts(inner_kind, inner)]
    if isinstance(kind, types.EnumMember):
        return parts(kind.dtype, value.value)
    if isinstance(kind, types.Complex):
        return [(kind.underlying_float, value.real), (kind.underlying_float, value.imag)]
    return [(kind, value)]


def inner(kind: Any) -> list[Any]:
    """Return the types of a tuple's members, and of the parts of a complex number; none for a scalar."""
    if isinstance(kind, types.BaseTuple):
        return list(kind)
    return [kind.underlying_float] * 2 if isinstance(kind, types.Complex) else []


def ptx_of(kernel: Any, symbol: str) -> tuple[str, list[str]]:
    """Return a compiled kernel's PTX, and the PTX of NVIDIA's C++ that Numba links with it, for arithmetic in half
    precision. The kernel is called `symbol`, since Numba's name is too long for a plan. Raises ForeignError for any
    other linked code."""
    text, library = str(kernel.inspect_asm(None)), kernel._codelibrary
    linked = []
    for file in library._linking_files:
        if file in (cuda_fp16.shim_obj, cuda_bf16.shim_obj):
            linked.append(file.data)
        elif file == str(_RESHAPE):
            linked.append(_RESHAPE.read_text(encoding="utf-8"))
        else:
            raise linking.ForeignError(str(getattr(file, "name", file)))
    if "cudaCG" in text:
        linked.append(linking.GRID)
    major, minor, *_ = library._ensure_cc(None)
    linked = [linking.compiled(source, f"compute_{major}{minor}") for source in linked]
    match = _ENTRY.search(text)
    if match is None:
        return text, linked
    if library._max_registers:
        body = text.index("\n{", match.end())
        text = f"{text[:body]}\n.maxnreg {int(library._max_registers)}{text[body:]}"
    return text.replace(match[1], symbol), linked


def is_error(error: BaseException) -> bool:
    """Return whether Numba's compiler raised an exception."""
    return isinstance(error, (NumbaError, CoreError, NvvmError))


def line_of(error: BaseException, file: str) -> int:
    """Return the line of a file whose types Numba was inferring when it raised an error: not every error names it. 0
    if there is none."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        place = getattr(trace.tb_frame.f_locals.get("self"), "loc", None)
        if place is not None and getattr(place, "filename", "") == file:
            line = int(place.line)
        trace = trace.tb_next
    return line
