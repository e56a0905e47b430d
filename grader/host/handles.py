"""Tensors without numbers: shape, strides, dtype and a device, on PyTorch's meta device, with no storage behind them.
PyTorch runs only views on them. Operators that allocate or fill are recorded, those that need numbers are refused."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from grader.host import operators
from grader.host.record import Constant, Memory, session
from grader.plan.messages import GivenTensor
from grader.plan.plan import CAST, DATA_BYTES, ITEM_BYTES, Copy, Data, DType, Fill, Place, View

GPU = torch.device("cuda", 0)
_HOST = torch.device("cpu")
_META = torch.device("meta")


class Handle(torch.Tensor):
    """A tensor of the submission: an ordinary tensor to the student's code, a meta tensor to PyTorch."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return GPU if memory_of(self).place == "device" else _HOST

    @property
    def is_cuda(self) -> bool:  # type: ignore[override]
        return memory_of(self).place == "device"

    @property
    def is_cpu(self) -> bool:  # type: ignore[override]
        return memory_of(self).place != "device"

    @property
    def is_meta(self) -> bool:  # type: ignore[override]
        return False

    def get_device(self) -> int:
        return 0 if self.is_cuda else -1

    def data_ptr(self) -> int:
        with torch._C.DisableTorchFunction():
            return memory_of(self).address + int(self.storage_offset()) * self.element_size()

    def is_pinned(self, device: Any = None) -> bool:
        return memory_of(self).place == "pinned"

    def record_stream(self, s: Any) -> None:
        """Do nothing: memory is not reused in a plan."""

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return dispatch(func, args, kwargs or {})

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # Late, since that module imports this one.
        from grader.host.functions import call

        return call(func, args, kwargs or {})


class DispatchMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode that sees operators that take no tensor, such as allocations."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else the first operator imports a compiler, which takes seconds and is not used.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return dispatch(func, args, kwargs or {})


def handle(tensor: torch.Tensor) -> Handle:
    """Return the handle of a meta tensor, for the student's code."""
    return torch.Tensor._make_subclass(Handle, tensor)


def memory_of(tensor: torch.Tensor) -> Memory:
    with torch._C.DisableTorchFunction():
        return session().memory(tensor.untyped_storage())


def given(one: GivenTensor) -> Handle:
    """Make the handle of a tensor parameter of the graded function."""
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        tensor = torch.empty(one.elements, dtype=getattr(torch, one.dtype), device=_META)
        tensor = tensor.as_strided(one.shape, one.strides) if one.strides else tensor.view(one.shape)
        storage = tensor.untyped_storage()
        session().allocate(storage, storage.nbytes(), one.place, given=one.name, output=one.output)
        return handle(tensor)


def dtype_name(dtype: torch.dtype) -> DType:
    name = str(dtype).removeprefix("torch.")
    if name not in ITEM_BYTES:
        raise TypeError(f"kernels have no {dtype}")
    return name


def view_of(tensor: torch.Tensor) -> View:
    """Return a tensor as operations name it."""
    with torch._C.DisableTorchFunction():
        memory = memory_of(tensor)
        memory.calls.add(session().call)
        return View(
            buffer=session().number(memory), offset=int(tensor.storage_offset()) * tensor.element_size(),
            shape=list(tensor.shape), strides=list(tensor.stride()), dtype=dtype_name(tensor.dtype))


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
    # Late, since that module imports this one.
    from grader.host.constants import of_constants

    if (made := of_constants(func, args, kwargs)) is not None:
        return made
    return session().refuse(*operators.refusal(_outermost(name), name))


# The calls under way, the student's own first: `einsum` says more than the `bmm` that it becomes.
called: list[str] = []


def _outermost(name: str) -> str:
    """Return the dispatcher's name of the function that the student called; `name` if the dispatcher has none."""
    outer = called[0].removeprefix("__").removesuffix("__") if called else name
    return outer if outer != "getitem" and hasattr(torch.ops.aten, outer) else name


def _plain(value: Any) -> Any:
    """Return a handle as a meta tensor without Python code of ours, and any other value as it is."""
    return torch.Tensor._make_subclass(torch.Tensor, value) if isinstance(value, Handle) else value


def _view(func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if name.endswith("_"):
        # The handle itself changes its shape.
        func(*args, **kwargs)
        return args[0]
    # Lists are not searched: they hold sizes, no tensors, and a search takes longer than the view.
    made = tree_map(lambda v: handle(v) if type(v) is torch.Tensor else v,
                    func(*map(_plain, args), **{key: _plain(value) for key, value in kwargs.items()}))
    if name.startswith("as_strided"):
        _check_extent(made)
    return made


def _check_extent(tensor: torch.Tensor) -> None:
    """Raise PyTorch's error for a view that reaches past its memory: PyTorch does not notice without a storage."""
    last = tensor.storage_offset() + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    if tensor.numel() and (last + 1) * tensor.element_size() > memory_of(tensor).bytes:
        raise RuntimeError(
            f"setStorage: sizes {list(tensor.shape)}, strides {list(tensor.stride())}, storage offset "
            f"{tensor.storage_offset()} are out of bounds for storage of size {memory_of(tensor).bytes}")


def place_for(device: Any, pinned: Any, like: torch.Tensor | None = None) -> Place:
    """Return the place of an allocation, from the arguments that PyTorch takes."""
    if device is None:
        place: Place = "device" if like is not None and memory_of(like).place == "device" else "host"
    else:
        device = torch.device(device)
        if device.type == "cuda" and device.index not in (None, 0):
            raise RuntimeError("CUDA error: invalid device ordinal")
        place = "device" if device.type == "cuda" else "host"
    return "pinned" if pinned and place == "host" else place


def _allocate(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], constant: Constant) -> Handle:
    like = next((a for a in args if isinstance(a, torch.Tensor)), None)
    place = place_for(kwargs.pop("device", None), kwargs.pop("pin_memory", False), like)
    if like is not None and func._schema.name.endswith("_like"):
        made = _like(like, kwargs.get("dtype"), kwargs.get("memory_format"))
    else:
        made = func(*tree_map(_plain, args), **kwargs, device=_META)
    return _new(made, place, constant)


def _like(source: torch.Tensor, dtype: torch.dtype | None, memory_format: torch.memory_format | None) -> torch.Tensor:
    """Make the same as `torch.empty_like` on the meta device. PyTorch's own is Python there, and its first call imports
    sympy: a third of a second for each planner."""
    dense = _plain(source).clone(memory_format=memory_format or torch.preserve_format)
    return torch.empty_strided(dense.shape, dense.stride(), dtype=dtype or source.dtype, device=_META)


def _new(made: torch.Tensor, place: Place, constant: Constant | None) -> Handle:
    storage = made.untyped_storage()
    session().allocate(storage, storage.nbytes(), place, constant=constant)
    return handle(made)


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
    number: bool | int | float = torch.empty((), dtype=dtype, device=_HOST).fill_(value).item()
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
        session().refuse("input_written", operators.readable(_outermost("fill_")))
    return memory


def _constant(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Handle:
    place = place_for(kwargs.pop("device", None), kwargs.pop("pin_memory", False))
    with_meta = func(*args, **kwargs, device=_META)
    if with_meta.untyped_storage().nbytes() > DATA_BYTES:
        session().refuse("other", operators.readable(_outermost(func._schema.name.split("::")[1])))
    return adopt(func(*args, **kwargs, device=_HOST), place)


def adopt(tensor: torch.Tensor, place: Place) -> Handle:
    """Adopt a small, real tensor of constants as part of the plan."""
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        tensor = tensor.detach().contiguous()
        size = tensor.numel() * tensor.element_size()
        if size > DATA_BYTES:
            session().refuse("other", operators.readable(_outermost("tensor")))
        if tensor.dtype == torch.int64 and any(session().at(number) for number in tensor.reshape(-1).tolist()):
            session().refuse("address", "data_ptr")
        contents = bytes(tensor.reshape(-1).view(torch.uint8).tolist()) if size else b""
        made = _new(torch.empty(tensor.shape, dtype=tensor.dtype, device=_META), place, Constant("data", data=contents))
        _data(made, contents)
        return made


def _data(target: Handle, contents: bytes) -> None:
    if contents:
        session().record(Data(
            buffer=view_of(target).buffer, contents=base64.b64encode(contents).decode(), line=session().line()),
            asynchronous=False)


def _lift_fresh(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if isinstance(tensor, Handle) else adopt(tensor, "host")


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
    made = _new(torch.empty(source.shape, dtype=dtype, device=_META), place, Constant("nothing"))
    return _fill(made, constant.value, asynchronous=memory.place == place) if constant.kind == "value" else made


def _copy_(target: Handle, source: torch.Tensor, non_blocking: bool = False) -> Handle:
    memory = _writable(target)
    if not isinstance(source, Handle):
        source = handle(source) if source.is_meta else adopt(source, "host")
    constant, within = memory_of(source).constant, memory_of(source).place == memory.place
    if constant is not None and constant.kind == "value":
        _plain(source).expand(target.shape)
        return _fill(target, constant.value, asynchronous=within)
    if constant is not None and constant.kind == "data" and len(constant.data) == source.element_size():
        number = torch.frombuffer(bytearray(constant.data), dtype=source.dtype).item()
        return _fill(target, number, asynchronous=within)
    expanded = handle(_plain(source).expand(target.shape))
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
    own = same and whole and memory.settled and not memory.given
    if source.dtype != target.dtype:
        if not own or not {dtype_name(source.dtype), dtype_name(target.dtype)} <= CAST:
            session().refuse("cast", operators.readable(_outermost(name)))
    elif not session().copies and not own:
        session().refuse("copy" if same else "transposed_copy", operators.readable(_outermost(name)))


def _copied(source: Handle, made: torch.Tensor, place: Place, non_blocking: bool = False) -> Handle:
    """Copy the source to memory of its own, of the shape and strides of `made`."""
    target = _new(made, place, None)
    if target.numel():
        session().record(Copy(source=view_of(source), target=view_of(target), line=session().line()),
                         asynchronous=non_blocking)
    return target


def clone(source: Handle, *, memory_format: Any = None) -> Handle:
    made = _plain(source).clone(memory_format=memory_format)
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
        session().refuse("copy", operators.readable(_outermost("_to_copy")))
    made = _like(source, dtype, memory_format)
    _allow_copy(source, made, "_to_copy")
    return _copied(source, made, place, non_blocking)


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
    return _copied(source, _plain(source).clone(memory_format=torch.contiguous_format), "pinned")


_WRITTEN: dict[str, Callable[..., Any]] = {
    "fill_": _fill, "zero_": lambda target: _fill(target, 0), "copy_": _copy_, "clone": clone, "_to_copy": _to_copy,
    "lift_fresh": _lift_fresh, "_pin_memory": lambda source, device=None: pin_memory(source),
}
