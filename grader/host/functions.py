"""PyTorch's Python functions that are caught above its dispatcher: those that ask for a driver before any operator
runs, read numbers without an operator, or name another tensor's device."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from grader.host import handles
from grader.host.dispatch import pin_memory
from grader.host.handles import Handle, known_numbers
from grader.host.record import session
from grader.plan.messages import Refusal

_Tensor = torch.Tensor
_READS: dict[Any, tuple[Refusal, str]] = {
    _Tensor.item: ("read_number", "item"),
    _Tensor.__float__: ("read_number", "float"),
    _Tensor.__int__: ("read_number", "int"),
    _Tensor.__index__: ("read_number", "int"),
    _Tensor.__complex__: ("read_number", "complex"),
    _Tensor.__bool__: ("truth", "bool"),
    _Tensor.is_nonzero: ("truth", "is_nonzero"),
    _Tensor.tolist: ("read_values", "tolist"),
    _Tensor.numpy: ("numpy", "numpy"),
    _Tensor.__array__: ("numpy", "numpy"),
    _Tensor.__dlpack__: ("dlpack", "__dlpack__"),
    _Tensor.__contains__: ("comparison", "in"),
    _Tensor.map_: ("in_place", "map_"),
    _Tensor.map2_: ("in_place", "map2_"),
    _Tensor.apply_: ("in_place", "apply_"),
    _Tensor.storage: ("set_data", "storage"),
    _Tensor.share_memory_: ("other", "share_memory_"),
}
# Refusals that do not apply to numbers that host code itself has written down.
_KNOWN = frozenset({"read_number", "read_values", "truth", "numpy", "comparison"})


class FunctionMode(TorchFunctionMode):
    """A mode that sees every call of PyTorch's interface from Python."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return call(func, args, kwargs or {})


def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    read = _READS.get(func)
    if read is not None:
        real = known_numbers(args[0]) if read[0] in _KNOWN else None
        if real is None:
            session().refuse(*read)
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            return func(real, *args[1:], **kwargs)
    device = kwargs.get("device")
    if isinstance(device, int) and not isinstance(device, bool):
        kwargs = {**kwargs, "device": torch.device("cuda", device)}
    caught = _CAUGHT.get(func)
    name = getattr(func, "__name__", "")
    handles.called.append(name)
    try:
        if caught is not None:
            return caught(func, args, kwargs)
        with torch._C.DisableTorchFunctionSubclass():
            made = func(*args, **kwargs)
    finally:
        handles.called.pop()
    # Tensors that the dispatcher has not seen: `.data`, or one made from a Python buffer.
    if type(made) is torch.Tensor:
        return handles.handle(made) if made.is_meta else handles.adopt(made, "host")
    return made


def _from_values(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make the constants of torch.tensor, as_tensor and asarray, in the place that host code asks for."""
    device = kwargs.pop("device", None)
    pinned = kwargs.pop("pin_memory", False)
    if args and isinstance(args[0], Handle):
        dtype = kwargs.get("dtype") or args[0].dtype
        return args[0].to(device or args[0].device, dtype)
    place = handles.place_for(device if device is not None else torch.get_default_device(), pinned)
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        real = func(*args, **kwargs)
    return handles.adopt(real, place)


def _to(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, *rest = args
    copy = kwargs.pop("copy", False)
    other = rest[0] if rest else kwargs.get("other")
    if isinstance(other, torch.Tensor):
        kwargs.pop("other", None)
        rest = [other.device, other.dtype, *rest[1:]]
    rest = [_indexed(value) for value in rest]
    kwargs = {name: _indexed(value) for name, value in kwargs.items()}
    with torch._C.DisableTorchFunctionSubclass():
        made = func(tensor, *rest, **kwargs)
        return made.clone() if copy and made is tensor else made


def _indexed(value: Any) -> Any:
    """Return a device with its number, for which PyTorch would ask a driver; return anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, (int, str, torch.device)):
        return value
    device = torch.device("cuda", value) if isinstance(value, int) else torch.device(value)
    return handles.GPU if device.type == "cuda" and device.index is None else device


def _cuda(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, *rest = args
    device = rest[0] if rest else kwargs.get("device")
    non_blocking = rest[1] if rest[1:] else kwargs.get("non_blocking", False)
    with torch._C.DisableTorchFunctionSubclass():
        return tensor.to(device=handles.GPU if device is None else _indexed(device), non_blocking=non_blocking)


def _pin_memory(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        return pin_memory(args[0])


def _set_item(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Run `target[index] = value` without a tensor for the value, which PyTorch would make first."""
    target, index, value = args
    part = torch.Tensor.__getitem__(target, index)
    if isinstance(value, torch.Tensor):
        part.copy_(value)
    elif isinstance(value, (bool, int, float)):
        part.fill_(value)
    elif hasattr(value, "item") and not getattr(value, "shape", ()):
        part.fill_(value.item())
    elif hasattr(value, "__index__"):
        part.fill_(operator.index(value))
    else:
        part.copy_(torch.as_tensor(value, dtype=target.dtype))


def _set_data(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    # A module that moves to the GPU sets the data of its parameters.
    if handles.memory_of(args[0]).given:
        session().refuse("set_data", "data")
    with torch._C.DisableTorchFunctionSubclass():
        func(*args, **kwargs)


def _printed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return the text that shows a tensor: with its shape, and no numbers."""
    tensor = args[0]
    if session().call and not session().over:
        session().leave_out("print", session().line(), "")
    return f"tensor(..., device='{tensor.device}', size={tuple(tensor.shape)})"


def _type(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with torch._C.DisableTorchFunctionSubclass():
        made = func(*args, **kwargs)
    if isinstance(made, str):
        return made.replace("torch.meta.", "torch.cuda." if args[0].is_cuda else "torch.")
    return made


_CAUGHT: dict[Any, Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = {
    torch.tensor: _from_values, torch.as_tensor: _from_values, torch.asarray: _from_values,
    _Tensor.to: _to, _Tensor.cuda: _cuda, _Tensor.pin_memory: _pin_memory, _Tensor.__setitem__: _set_item,
    _Tensor.data.__set__: _set_data,  # type: ignore[attr-defined]
    _Tensor.__repr__: _printed, _Tensor.__format__: _printed,
    _Tensor.type: _type,
    # A compiler may copy the global variables that a kernel names, to see whether they change.
    _Tensor.__deepcopy__: lambda func, args, kwargs: args[0] if session().lowering else args[0].clone(),
}  # fmt: skip
Handle.run_function = call
