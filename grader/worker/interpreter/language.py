"""`triton.language`, patched once for the life of the process rather than at every launch."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

from . import reduction, rules
from .builder import Handle, refuse_type
from .faults import DeviceAssertion
from .patching import replace
from .rules import unwrap
from .state import place

_WIDE = frozenset({"fp8e4nv", "fp8e4b15", "fp8e4b8", "fp8e5", "fp8e5b16", "bf16"})


@functools.cache
def bound(member: Callable[..., Any]) -> Callable[..., Any]:
    """A builtin of the language as a plain function that needs no code generator around it."""
    inner = getattr(member, "__wrapped__", member)
    semantic = interpreter.interpreter_semantic

    @functools.wraps(member)
    def call(*args: Any, **named: Any) -> Any:
        named["_semantic"] = semantic
        return inner(*args, **named)

    return call


def bind_builtins(owner: Any) -> None:
    for name, member in inspect.getmembers(owner):
        if tl.core.is_builtin(member):
            setattr(owner, name, bound(member))


def _to_ir(self: Any, builder: Any) -> Any:
    if self.scalar.name in _WIDE:
        refuse_type(self.scalar)
    return self


def _block_to_ir(self: Any, builder: Any) -> Any:
    self.element_ty.to_ir(builder)
    return self


def _static_assert(condition: Any, message: Any = "", **_: Any) -> None:
    if isinstance(condition, tl.tensor):
        rules.refuse("tl.static_assert needs a condition that is known at compile time; use tl.device_assert.")
    if not unwrap(condition):
        text = f"{place()}: static_assert failed"
        raise DeviceAssertion(f"{text}: {unwrap(message)}" if unwrap(message) else text)


def _hint(name: str) -> Callable[..., Any]:
    def hint(input: Any, values: Any, **_: Any) -> Any:
        if isinstance(input, tl.tensor):
            given = values if isinstance(values, (list, tuple)) else [values]
            if len(given) != max(1, len(input.shape)):
                raise ValueError(f"{name}: {len(given)} values for a tensor of rank {len(input.shape)}")
        return input

    return hint


def _nothing(*_: Any, **__: Any) -> None:
    """`tl.static_print`, which prints while compiling; here it would print once a program."""


def _transposed(self: Any) -> Any:
    if not self.type.is_block() or len(self.shape) < 2:
        raise ValueError("only a tensor of two dimensions or more can be transposed")
    handle = Handle(np.swapaxes(self.handle.data, -1, -2), self.handle.dtype)
    handle.bounds, handle.wrapped, handle.origin = self.handle.bounds, self.handle.wrapped, self.handle.origin
    return tl.tensor(handle, tl.block_type(self.dtype, list(handle.data.shape)))


def _shown(self: Any) -> str:
    return repr(self.handle.data)


def install() -> None:
    """Bind every builtin to the interpreter and replace what the compiler would treat as special."""
    for module in (tl, tl.core, tl.math):
        bind_builtins(module)
    bind_builtins(tl.core.tensor)
    bind_builtins(tl.core.tensor_descriptor_base)
    replace(tl.core.dtype, "to_ir", _to_ir)
    replace(tl.core.pointer_type, "to_ir", _block_to_ir)
    replace(tl.core.block_type, "to_ir", _block_to_ir)
    replacements = {
        "reduce": reduction.reduce, "associative_scan": reduction.scan, "static_assert": _static_assert,
        "static_print": _nothing, "multiple_of": _hint("multiple_of"), "max_contiguous": _hint("max_contiguous"),
        "max_constancy": _hint("max_constancy"),
    }  # fmt: skip
    for name, value in replacements.items():
        value.__triton_builtin__ = True  # type: ignore[attr-defined]
        replace(tl.core, name, value)
        replace(tl, name, value)
    tensor = tl.core.tensor
    tensor.__index__ = rules.index
    # Library code asks `if tensor:` only where it means "is there one"; a kernel's own conditions go through `truth`.
    tensor.__bool__ = lambda self: bool(self.handle.data.item()) if self.handle.data.size == 1 else True
    replace(tensor, "__repr__", _shown)
    replace(tensor, "__str__", _shown)
    replace(tensor, "T", property(_transposed))
