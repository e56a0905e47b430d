"""What the rewritten body of a kernel calls: the compiler's own rules for names, conditions, loops and assignments."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np
import triton.language as tl
from triton.compiler.code_generator import _condition_types
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITCallable

from .builder import Handle, numpy_dtype
from .faults import Unsupported
from .state import STATE, place


def refuse(what: str) -> NoReturn:
    raise Unsupported(f"{place()}: {what}")


def refuse_name(name: str, why: str) -> NoReturn:
    raise NameError(f"{place()}: {why.format(name=name)}")


def unwrap(value: Any) -> Any:
    while isinstance(value, tl.constexpr):
        value = value.value
    return value


def is_hosts(value: Any) -> bool:
    """Whether a value is Python code to run on the host, or holds some: no such thing exists in a kernel."""
    value = unwrap(value)
    if isinstance(value, tuple):
        return any(map(is_hosts, value))
    if isinstance(value, (InterpretedFunction, JITCallable, tl.dtype)):
        return False
    if isinstance(value, FunctionType):
        return not (value.__module__ or "").startswith("triton.") or is_students(value)
    return callable(value) or isinstance(value, ModuleType)


def is_students(function: FunctionType) -> bool:
    """Whether a function is the student's own, whatever module it says it is of."""
    return STATE.launch is not None and function.__code__.co_filename == STATE.launch.file


def assign(value: Any) -> Any:
    """`x = value`: numbers become tensors, as they do in the compiler unless the name is annotated `tl.constexpr`."""
    if isinstance(value, tl.tensor):
        return value
    value = unwrap(value)
    if isinstance(value, (bool, int, float)):
        return interpreter.interpreter_semantic.to_tensor(value)
    if type(value) is tuple:
        return tuple(assign(v) for v in value)
    return value


def truth(value: Any) -> bool:
    """The condition of an `if`, a `while` or a conditional expression."""
    if isinstance(value, tl.tensor):
        if value.handle.data.size != 1:
            refuse("a condition needs one value and this tensor has many; use tl.where, or a mask.")
        return bool(value.handle.data.item())
    value = unwrap(value)
    if type(value) not in _condition_types:
        refuse(f"a condition must be a scalar, a bool, an int or None, not a {type(value).__name__}.")
    return bool(value)


def truth_before_return(value: Any) -> bool:
    """The condition of an `if` that holds a `return` and stands in a compiled loop."""
    if isinstance(value, tl.tensor):
        refuse("a kernel cannot return from inside a loop.")
    return truth(value)


# The variables of the function that calls it.
variables = locals


def types_of(scope: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The types of those variables that hold tensors."""
    return {name: scope[name].type for name in names if isinstance(scope.get(name), tl.tensor)}


def keep_types(types: dict[str, Any], scope: dict[str, Any]) -> None:
    """Refuse variables that a compiled loop has given another dtype or shape, and forget `types`."""
    for name, before in types.items():
        after = scope[name]
        if isinstance(after, tl.tensor) and after.type != before:
            refuse(
                f"`{name}` is {before} before the loop and {after.type} in it: the compiler does not accept a change "
                "of type or shape. Begin with its final ones, such as 0.0 or tl.zeros((BLOCK,), tl.float32)."
            )
    types.clear()


def logical_and(*operands: Callable[[], Any]) -> Any:
    return _logical(operands, False, lambda a, b: a.logical_and(b))


def logical_or(*operands: Callable[[], Any]) -> Any:
    return _logical(operands, True, lambda a, b: a.logical_or(b))


def _logical(operands: tuple[Callable[[], Any], ...], decisive: bool, combine: Callable[[Any, Any], Any]) -> Any:
    """Compile-time values decide early or have no say; tensors are combined lane by lane."""
    tensors = []
    value = None
    for operand in operands:
        value = operand()
        if isinstance(value, tl.tensor):
            tensors.append(value)
        elif bool(unwrap(value)) is decisive:
            return value
    if not tensors:
        return value
    result = tensors[0]
    for other in tensors[1:]:
        result = combine(result, other)
    return result


def negate(value: Any) -> Any:
    return value.__not__() if isinstance(value, tl.tensor) else not unwrap(value)


def loop(iterator: Any, *args: Any, **options: Any) -> Any:
    """The values of `for i in iterator(*args)`: integers where unrolled, scalar tensors where the loop is compiled."""
    if iterator is tl.static_range:
        plain = [unwrap(v) for v in (*args, *(options[k] for k in ("arg1", "arg2", "step") if k in options))]
        if any(isinstance(v, tl.tensor) for v in plain):
            refuse("tl.static_range needs bounds that are known at compile time (tl.constexpr).")
        return range(*plain)
    if iterator is range:
        if options:
            raise TypeError("range() takes no keyword arguments")
        start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    elif iterator is tl.range:
        spec = iterator(*args, **options)
        start, stop, step = spec.start, spec.end, spec.step
    else:
        refuse("a loop must go over range, tl.range or tl.static_range.")
    return _counted(unwrap(start), unwrap(stop), unwrap(step))


def _counted(start: Any, stop: Any, step: Any) -> Iterator[Any]:
    semantic = interpreter.interpreter_semantic
    bounds = [semantic.to_tensor(v) for v in (start, stop, step)]
    for name, bound in zip(("start", "end", "step"), bounds, strict=True):
        if not bound.dtype.is_int():
            raise TypeError(f"{place()}: the {name} of a loop must be an int, not {bound.dtype}")
        if bound.type.is_block():
            raise TypeError(f"{place()}: the {name} of a loop must be a scalar, not {bound.type}")
    kind = semantic.integer_promote_impl(bounds[0].dtype, bounds[1].dtype)
    kind = semantic.integer_promote_impl(kind, bounds[2].dtype)
    dtype = numpy_dtype(kind)
    for value in range(*(int(b.handle.data.item()) for b in bounds)):
        handle = Handle(np.array([value], dtype=dtype), kind)
        handle.bounds = (value, value)
        yield tl.tensor(handle, kind)


def host_call(function: Any, *args: Any, **named: Any) -> Any:
    """A call into a module that is not Triton's: the compiler runs it on compile-time values only."""
    if any(isinstance(v, tl.tensor) for v in (*args, *named.values())):
        name = f"{getattr(function, '__module__', None) or '?'}.{getattr(function, '__name__', function)}"
        refuse(f"{name}() cannot be called on a tensor inside a kernel; use its counterpart in triton.language.")
    return function(*[unwrap(v) for v in args], **{k: unwrap(v) for k, v in named.items()})


def to_float(value: Any) -> float:
    if isinstance(value, tl.tensor):
        refuse("float() of a tensor; use x.to(tl.float32).")
    return float(unwrap(value))


def to_int(value: Any) -> int:
    if isinstance(value, tl.tensor):
        refuse("int() of a tensor; use x.to(tl.int32).")
    return int(unwrap(value))


def device_assert(condition: Any, message: Any = "") -> None:
    tl.device_assert(condition, str(unwrap(message)))


def index(value: Any) -> int:
    """`tensor.__index__`, for the interpreter's own need of a Python integer."""
    if value.handle.data.size != 1:
        raise TypeError("only a scalar can be used as an index")
    return operator.index(value.handle.data.item())
