"""Operators of PyTorch on tensors without numbers: PyTorch runs only views. Operators that allocate or fill are
recorded, those that need numbers are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from grader.host import operators
from grader.host.handles import (
    HOST,
    META,
    Handle,
    adopt,
    allocated,
    dtype_name,
    handle,
    known_numbers,
    memory_of,
    outermost,
    place_for,
    plain,
    view_of,
)
from grader.host.record import Constant, Memory, session
from grader.plan.plan import CAST, DATA_BYTES, Copy, Fill, Place, memory_span


class DispatchMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode that sees operators that take no tensor, such as allocations."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else the first operator imports a compiler, which takes seconds and is not used.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return dispatch(func, args, kwargs or {})


def dispatch(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operator: make a view or an allocation, record an operation, or refuse."""
    space, name = func._schema.name.split("::")
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        if space == "profiler":
            return func(*args, **kwargs)
        if space == "aten" and not any(argument.is_out for argument in func._schema.arguments):
            if name in operators.VIEWS:
                return _view(func, name, args, kwargs)
            if name in operators.ALLOCATIONS:
                return _allocate(func, args, kwargs, Constant("nothing"))
            if name in operators.FILLED:
                return _filled(func, name, args, kwargs)
            if name in operators.CONSTANTS:
                return _constant(func, args, kwargs)
            if name in _WRITTEN:
                return _WRITTEN[name](*args, **kwargs)
            if name == "is_pinned":
                return memory_of(args[0]).place == "pinned"
    # In inference mode composite operators come here whole.
    if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
        return func.decompose(*args, **kwargs)
    if space != "aten":
        session().refuse("other", f"{space}::{name}")
    if (made := _of_constants(func, args, kwargs)) is not None:
        return made
    return session().refuse(*operators.refusal(outermost(name), name))


def _of_constants(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return an operator's result on numbers that host code itself has written down, as such numbers: it needs no
    values of the caller's tensors. Return None if a tensor's numbers are not known, if there is no tensor, or if the
    operator changes one."""
    given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    if not given or func._schema.is_mutable or any(known_numbers(tensor) is None for tensor in given):
        return None
    place = memory_of(given[0]).place
    real = tree_map(lambda value: known_numbers(value) if isinstance(value, torch.Tensor) else value, (args, kwargs))
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        made = func(*real[0], **real[1])
    return tree_map(lambda value: adopt(value, place) if isinstance(value, torch.Tensor) else value, made)


def _view(func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if name.endswith("_"):
        # The handle itself changes its shape.
        func(*args, **kwargs)
        return args[0]
    # Lists are not searched: they hold sizes, no tensors, and a search takes longer than the view.
    made = tree_map(lambda v: handle(v) if type(v) is torch.Tensor else v,
                    func(*map(plain, args), **{key: plain(value) for key, value in kwargs.items()}))
    # PyTorch does not notice a view that reaches past its memory without a storage. This is its error.
    if name.startswith("as_strided") and made.numel() and made.element_size() * (
            made.storage_offset() + memory_span(made.shape, made.stride())) > memory_of(made).bytes:
        raise RuntimeError(
            f"setStorage: sizes {list(made.shape)}, strides {list(made.stride())}, storage offset "
            f"{made.storage_offset()} are out of bounds for storage of size {memory_of(made).bytes}")
    return made


def _allocate(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], constant: Constant) -> Handle:
    like = next((a for a in args if isinstance(a, torch.Tensor)), None)
    place = place_for(kwargs.pop("device", None), kwargs.pop("pin_memory", False), like)
    if like is not None and func._schema.name.endswith("_like"):
        tensor = _like(like, kwargs.get("dtype"), kwargs.get("memory_format"))
    else:
        tensor = func(*tree_map(plain, args), **kwargs, device=META)
    return allocated(tensor, place, constant)


def _like(source: torch.Tensor, dtype: torch.dtype | None, memory_format: torch.memory_format | None) -> torch.Tensor:
    """Make the same as `torch.empty_like` on the meta device. PyTorch's own is Python there, and its first call imports
    sympy: a third of a second for each planner."""
    dense = plain(source).clone(memory_format=memory_format or torch.preserve_format)
    return torch.empty_strided(dense.shape, dense.stride(), dtype=dtype or source.dtype, device=META)


def _filled(func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Handle:
    value = operators.FILLED[name]
    if value is None:
        value = kwargs["fill_value"] if "fill_value" in kwargs else args[2 if name == "new_full" else 1]
    made = _allocate(func, args, kwargs, Constant("nothing"))
    _fill(made, value)
    return made


def _number(value: Any, dtype: torch.dtype) -> bool | int | float:
    """Return a number as PyTorch converts it to an element of a dtype; PyTorch raises if it does not fit."""
    dtype_name(dtype)
    number: bool | int | float = torch.empty((), dtype=dtype, device=HOST).fill_(value).item()
    return number


def _fill(target: Handle, value: Any, *_: Any, asynchronous: bool = True) -> Handle:
    if isinstance(value, torch.Tensor):
        return _copy_(target, value)
    memory = _writable(target)
    number = _number(value, target.dtype)
    memory.constant = Constant("value", number) if _whole(target, memory) else None
    if target.numel():
        session().record(Fill(target=view_of(target), value=number, line=session().line()), asynchronous=asynchronous)
    return target


def _whole(tensor: Handle, memory: Memory) -> bool:
    return tensor.numel() * tensor.element_size() == memory.bytes


def _writable(target: torch.Tensor) -> Memory:
    memory = memory_of(target)
    if memory.given and not memory.output:
        session().refuse("input_written", operators.readable(outermost("fill_")))
    return memory


def _constant(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Handle:
    place = place_for(kwargs.pop("device", None), kwargs.pop("pin_memory", False))
    with_meta = func(*args, **kwargs, device=META)
    if with_meta.untyped_storage().nbytes() > DATA_BYTES:
        session().refuse("other", operators.readable(outermost(func._schema.name.split("::")[1])))
    return adopt(func(*args, **kwargs, device=HOST), place)


def _replica(source: Handle, place: Place, dtype: torch.dtype) -> Handle | None:
    """Return a new tensor of the source's known contents, in this place and dtype; None if they are not known."""
    memory = memory_of(source)
    constant = memory.constant
    if constant is None:
        return None
    if constant.kind == "data":
        if not source.is_contiguous() or not _whole(source, memory):
            return None
        if not memory.bytes:
            return adopt(torch.empty(source.shape, dtype=dtype), place)
        real = torch.frombuffer(bytearray(constant.data), dtype=source.dtype).reshape(source.shape)
        return adopt(real.to(dtype), place)
    made = allocated(torch.empty(source.shape, dtype=dtype, device=META), place, Constant("nothing"))
    return _fill(made, constant.value, asynchronous=memory.place == place) if constant.kind == "value" else made


def _copy_(target: Handle, source: torch.Tensor, non_blocking: bool = False) -> Handle:
    memory = _writable(target)
    if not isinstance(source, Handle):
        source = handle(source) if source.is_meta else adopt(source, "host")
    constant, within = memory_of(source).constant, memory_of(source).place == memory.place
    if constant is not None and constant.kind == "value":
        plain(source).expand(target.shape)
        return _fill(target, constant.value, asynchronous=within)
    if constant is not None and constant.kind == "data" and len(constant.data) == source.element_size():
        number = torch.frombuffer(bytearray(constant.data), dtype=source.dtype).item()
        return _fill(target, number, asynchronous=within)
    expanded = handle(plain(source).expand(target.shape))
    _allow_copy(source, target, "copy_", whole=_whole(target, memory))
    memory.constant = None
    if target.numel():
        session().record(Copy(source=view_of(expanded), target=view_of(target), line=session().line()),
                         asynchronous=non_blocking)
    return target


def _allow_copy(source: torch.Tensor, target: torch.Tensor, name: str, *, whole: bool = True) -> None:
    memory, same = memory_of(source), source.stride() == target.stride() and source.is_contiguous()
    # A whole temporary that a kernel has written may be copied onto a whole tensor, and rounded: pieces could be put
    # into another order. `grader.judging.plans.rules` checks the same.
    own = same and whole and memory.is_used and not memory.given
    if source.dtype != target.dtype:
        if not own or not {dtype_name(source.dtype), dtype_name(target.dtype)} <= CAST:
            session().refuse("cast", operators.readable(outermost(name)))
    elif not session().copies and not own:
        session().refuse("copy" if same else "transposed_copy", operators.readable(outermost(name)))


def _copied(source: Handle, tensor: torch.Tensor, place: Place, non_blocking: bool = False) -> Handle:
    """Copy the source to memory of its own, of the shape and strides of `tensor`."""
    target = allocated(tensor, place, None)
    if target.numel():
        session().record(Copy(source=view_of(source), target=view_of(target), line=session().line()),
                         asynchronous=non_blocking)
    return target


def clone(source: Handle, *, memory_format: Any = None) -> Handle:
    made = plain(source).clone(memory_format=memory_format)
    _allow_copy(source, made, "clone")
    return _copied(source, made, memory_of(source).place)


def _to_copy(source: torch.Tensor, *, dtype: Any = None, device: Any = None, memory_format: Any = None,
             non_blocking: bool = False, **_: Any) -> torch.Tensor:
    if not isinstance(source, Handle):
        source = adopt(source, "host")
    was = memory_of(source).place
    dtype = dtype or source.dtype
    place = place_for(device, False, None) if device is not None else was
    if place == "host" and was == "pinned":
        place = was
    keeps = memory_format in (None, torch.preserve_format) or source.is_contiguous(memory_format=memory_format)
    if place == was and dtype == source.dtype and keeps:
        return source
    replica = _replica(source, place, dtype)
    if replica is not None:
        return replica
    if place != was and not session().copies:
        session().refuse("copy", operators.readable(outermost("_to_copy")))
    tensor = _like(source, dtype, memory_format)
    _allow_copy(source, tensor, "_to_copy")
    return _copied(source, tensor, place, non_blocking)


def pin_memory(source: Handle) -> Handle:
    memory = memory_of(source)
    if memory.place == "device":
        raise RuntimeError("cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned")
    if memory.place == "pinned":
        return source
    replica = _replica(source, "pinned", source.dtype)
    if replica is not None:
        return replica
    if not session().copies:
        session().refuse("copy", "aten::pin_memory")
    return _copied(source, plain(source).clone(memory_format=torch.contiguous_format), "pinned")


_WRITTEN: dict[str, Callable[..., Any]] = {
    "fill_": _fill, "zero_": lambda target: _fill(target, 0), "copy_": _copy_, "clone": clone, "_to_copy": _to_copy,
    "lift_fresh": lambda tensor: tensor if isinstance(tensor, Handle) else adopt(tensor, "host"),
    "_pin_memory": lambda source, device=None: pin_memory(source),
}
Handle.run_operator = dispatch
