"""A launch: arguments bound as the compiled launcher binds them, then every program instance, one after another."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
import torch
import triton.language as tl
from triton._utils import canonicalize_dtype
from triton.backends.nvidia.compiler import CUDAOptions
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import ConstexprFunction, KernelParam, TensorWrapper
from triton.tools.tensor_descriptor import TensorDescriptor

from .builder import NEEDS_GPU, Handle, numpy_dtype
from .faults import TooManyPrograms, Unsupported
from .patching import replace
from .rewrite import Source, rewrite
from .rules import is_hosts, unwrap
from .state import STATE, Launch

_MAX_GRID = (2**31 - 1, 65535, 65535)
_OPTIONS = frozenset(CUDAOptions.__dataclass_fields__) | {"debug"}
_KERNEL = "_kernelmark_kernel"
_ELEMENTS = frozenset({"u1", *(f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)), "fp16", "fp32", "fp64"})


class Kernel:
    """A `@triton.jit` function, rewritten once, and how its parameters are passed."""

    def __init__(self, function: Any) -> None:
        self.source = Source(function)
        self.name = function.__name__
        self.signature = inspect.signature(function)
        parameters = self.signature.parameters.values()
        self.parameters = {p.name: KernelParam(i, p, False, False) for i, p in enumerate(parameters)}
        self.body = rewrite(self.source)

    def bind(self, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """Parameter names to what was passed or to the defaults, as the grid's function gets to see them."""
        known = {k: v for k, v in named.items() if k in self.parameters}
        for name in named.keys() - known.keys():
            if name not in _OPTIONS:
                raise KeyError(f"Keyword argument {name} was specified but unrecognised by kernel {self.name}")
        warps = named.get("num_warps", 4)
        if "num_warps" not in known and (not isinstance(warps, int) or warps < 1 or warps & (warps - 1)):
            raise ValueError(f"num_warps must be a power of 2, not {warps}")
        try:
            bound = self.signature.bind(*args, **known)
        except TypeError as error:
            raise TypeError(f"kernel {self.name}: {error}") from None
        bound.apply_defaults()
        return dict(bound.arguments)


class Uncompiled:
    """What `kernel.warmup(...)` returns: nothing was compiled, so there is nothing to ask it."""

    def __getattr__(self, name: str) -> NoReturn:
        raise_unsupported(f"the compiled kernel's `{name}`")


def raise_unsupported(what: str) -> NoReturn:
    raise Unsupported(f"{what} needs a GPU and is not known without one.")


@contextmanager
def _machinery() -> Iterator[None]:
    before, STATE.machinery = STATE.machinery, True
    try:
        yield
    finally:
        STATE.machinery = before


def kernel_of(function: Any) -> Kernel:
    found: Kernel | None = function.__dict__.get(_KERNEL)
    if found is None:
        found = Kernel(function.fn)
        setattr(function, _KERNEL, found)
    return found


def run(self: Any, *args: Any, grid: Any, warmup: bool = False, **named: Any) -> Any:
    """Stands in for `kernel[grid](...)`; arguments are used in place, nothing is copied."""
    if warmup:
        return Uncompiled()
    for hook in self.pre_run_hooks:
        hook(*args, **named)
    with _machinery():
        kernel = kernel_of(self)
        bound = kernel.bind(args, named)
    sizes = _grid(grid(bound) if callable(grid) else grid)
    programs = sizes[0] * sizes[1] * sizes[2]
    limits = STATE.limits
    if programs > limits.max_programs:
        raise TooManyPrograms(
            f"this launch of {kernel.name} starts {programs:,} programs, and without a GPU at most "
            f"{limits.max_programs:,} are run: let each program do more, with a larger block."
        )
    if limits.on_launch is not None:
        limits.on_launch(kernel.name, kernel.source.line, programs)
    outer, STATE.launch = STATE.launch, Launch(kernel.name, kernel.source.file, kernel.source.line)
    try:
        with np.errstate(all="ignore"):
            with _machinery():
                arguments = {
                    name: _constant(name, value) if kernel.parameters[name].is_constexpr
                    else _convert(name, value, kernel.parameters[name])
                    for name, value in bound.items()
                }  # fmt: skip
            _run_programs(kernel.body, arguments, sizes)
    finally:
        STATE.launch = outer
    return None


def _run_programs(body: Any, arguments: dict[str, Any], sizes: tuple[int, int, int]) -> None:
    builder = interpreter.interpreter_builder
    builder.set_grid_dim(*sizes)
    # In the order of the hardware: x runs fastest.
    for z in range(sizes[2]):
        for y in range(sizes[1]):
            for x in range(sizes[0]):
                builder.grid_idx = (x, y, z)
                body(**arguments)


def _grid(grid: Any) -> tuple[int, int, int]:
    """Three sizes. A size of 0 starts nothing, as on a GPU, where the launcher skips it."""
    if not isinstance(grid, (tuple, list)):
        raise TypeError(f"the grid must be a tuple of 1 to 3 sizes, such as (n,), not {grid!r}")
    if not 1 <= len(grid) <= 3:
        raise ValueError(f"the grid must have 1 to 3 sizes, not {len(grid)}")
    sizes = []
    for size in grid:
        try:
            sizes.append(operator.index(unwrap(size)))
        except TypeError:
            raise TypeError(f"the sizes of a grid must be integers, not {size!r}; use triton.cdiv(n, block)") from None
    sizes += [1] * (3 - len(sizes))
    for size, most in zip(sizes, _MAX_GRID, strict=True):
        if not 0 <= size <= most:
            raise ValueError(f"the grid {tuple(sizes)} is outside what CUDA can start: at most {_MAX_GRID}")
    return sizes[0], sizes[1], sizes[2]


def _constant(name: str, value: Any) -> Any:
    """An argument known at compile time. Python's own functions, classes and modules mean nothing to the compiler, and
    here they would run on the host in a kernel's place."""
    value = unwrap(value)
    if is_hosts(value):
        what = getattr(value, "__name__", type(value).__name__)
        raise TypeError(f"parameter `{name}`: Python's `{what}` cannot run in a kernel; decorate it with @triton.jit")
    return value


def _scalar(value: Any, dtype: Any) -> Any:
    return tl.tensor(Handle(np.array([value]).astype(numpy_dtype(dtype)), dtype), dtype)


def _convert(name: str, value: Any, parameter: Any) -> Any:
    """An argument as the kernel sees it: tensors as pointers, numbers typed as the compiled launcher types them."""
    value = unwrap(value)
    if value is None or isinstance(value, (InterpretedFunction, tl.dtype, str)):
        return value
    if isinstance(value, (torch.Tensor, TensorWrapper)):
        return _pointer(name, value, parameter.is_const)
    declared = parameter.annotation_type
    if isinstance(value, (bool, int, float)):
        if declared:
            return _scalar(value, tl.str_to_ty(declared, None))
        return _scalar(value, _type_of(value))
    if isinstance(value, tuple):
        members = [_convert(f"{name}[{i}]", v, parameter) for i, v in enumerate(value)]
        return type(value)(*members) if hasattr(value, "_fields") else tuple(members)
    if isinstance(value, TensorDescriptor):
        return _descriptor(name, value, parameter)
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    raise TypeError(f"parameter `{name}`: a kernel takes tensors and numbers, not {kind}")


def _type_of(value: bool | int | float) -> Any:
    if isinstance(value, bool):
        return tl.int1
    if isinstance(value, float):
        return tl.float32
    if -(2**31) <= value < 2**31:
        return tl.int32
    if -(2**63) <= value < 2**63:
        return tl.int64
    if value < 2**64:
        return tl.uint64
    raise OverflowError(f"{value} does not fit into 64 bits")


def _pointer(name: str, tensor: Any, const: bool) -> Any:
    base = tensor.base if isinstance(tensor, TensorWrapper) else tensor
    if base.device.type != "cpu":
        raise ValueError(f"parameter `{name}` is on {base.device}; without a GPU, tensors are on the CPU")
    try:
        element = canonicalize_dtype(tensor.dtype)
    except KeyError:
        raise TypeError(f"parameter `{name}`: Triton has no type for {tensor.dtype}") from None
    dtype = tl.str_to_ty(f"{'*k' if const else '*'}{element}", None)
    if element not in _ELEMENTS:
        raise Unsupported(f"parameter `{name}` is {tensor.dtype}: {NEEDS_GPU}")
    handle = Handle(np.array([tensor.data_ptr()], dtype=np.uint64), dtype)
    storage = base.untyped_storage()
    assert STATE.launch is not None
    handle.origin = STATE.launch.memory.add(name, storage.data_ptr(), storage.nbytes())
    return tl.tensor(handle, dtype)


def _descriptor(name: str, descriptor: Any, parameter: Any) -> Any:
    base = _pointer(name, descriptor.base, False)
    strides = [_scalar(s, tl.int64) for s in descriptor.strides]
    strides[-1] = tl.constexpr(descriptor.strides[-1])
    return interpreter.interpreter_semantic.make_tensor_descriptor(
        base=base, shape=[_scalar(s, tl.int32) for s in descriptor.shape], strides=strides,
        block_shape=[tl.constexpr(b) for b in descriptor.block_shape], padding_option=descriptor.padding,
    )  # fmt: skip


def call(self: Any, *args: Any, **named: Any) -> Any:
    """Stands in for a call from inside a kernel. Outside of one, the grid was forgotten."""
    if STATE.launch is None:
        raise RuntimeError(
            f"Cannot call @triton.jit'd {self.fn.__name__} outside of the scope of a kernel: "
            "to launch it, give it a grid, kernel[grid](...)"
        )
    named.pop("_semantic", None)
    named.pop("_generator", None)
    kernel = self.__dict__.get(_KERNEL) or kernel_of(self)
    return kernel.body(*args, **named)


def _at_compile_time(original: Any) -> Any:
    def constexpr_call(self: Any, *args: Any, **named: Any) -> Any:
        if any(isinstance(value, tl.tensor) for value in (*args, *named.values())):
            raise Unsupported(f"{self.fn.__name__} is a constexpr_function: it takes what is known at compile time, "
                              "and no tensor.")
        return original(self, *args, **named)

    return constexpr_call


def install() -> None:
    replace(ConstexprFunction, "__call__", _at_compile_time(ConstexprFunction.__call__))
    replace(InterpretedFunction, "run", run)
    replace(InterpretedFunction, "__call__", call)
