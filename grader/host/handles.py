"""Tensors without numbers: shape, strides, dtype and a device, on PyTorch's meta device, with no storage behind them.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, ClassVar

import torch

from grader.host import operators
from grader.host.record import Constant, Memory, session
from grader.plan.messages import GivenTensor
from grader.plan.plan import DATA_BYTES, ITEM_BYTES, Data, DType, Place, View

GPU = torch.device("cuda", 0)
HOST = torch.device("cpu")
META = torch.device("meta")


Run = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""A stand-in for functions or operators of PyTorch, which takes one of them and its arguments."""


class Handle(torch.Tensor):
    """A tensor of the submission: an ordinary tensor to the student's code, a meta tensor to PyTorch.

    `run_function` and `run_operator` are set by `functions` and `dispatch`, which make handles.
    """

    run_function: ClassVar[Run]
    run_operator: ClassVar[Run]

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return GPU if memory_of(self).place == "device" else HOST

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
        return cls.run_operator(func, args, kwargs or {})

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return cls.run_function(func, args, kwargs or {})


def handle(tensor: torch.Tensor) -> Handle:
    """Return the handle of a meta tensor, for the student's code."""
    return torch.Tensor._make_subclass(Handle, tensor)


def memory_of(tensor: torch.Tensor) -> Memory:
    with torch._C.DisableTorchFunction():
        return session().memory(tensor.untyped_storage())


def parameter_handle(parameter: GivenTensor) -> Handle:
    """Make the handle of a tensor parameter of the graded function."""
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        tensor = torch.empty(parameter.elements, dtype=getattr(torch, parameter.dtype), device=META)
        shape, strides = parameter.shape, parameter.strides
        tensor = tensor.as_strided(shape, strides) if strides else tensor.view(shape)
        storage = tensor.untyped_storage()
        session().allocate(storage, storage.nbytes(), parameter.place, given=parameter.name, output=parameter.output)
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


# The calls under way, the student's own first: `einsum` says more than the `bmm` that it becomes.
called: list[str] = []


def outermost(name: str) -> str:
    """Return the dispatcher's name of the function that the student called; `name` if the dispatcher has none."""
    outer = called[0].removeprefix("__").removesuffix("__") if called else name
    return outer if outer != "getitem" and hasattr(torch.ops.aten, outer) else name


def plain(value: Any) -> Any:
    """Return a handle as a meta tensor without Python code of ours, and any other value as it is."""
    return torch.Tensor._make_subclass(torch.Tensor, value) if isinstance(value, Handle) else value


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


def allocated(tensor: torch.Tensor, place: Place, constant: Constant | None) -> Handle:
    """Return the handle of a meta tensor that gets memory of its own."""
    storage = tensor.untyped_storage()
    session().allocate(storage, storage.nbytes(), place, constant=constant)
    return handle(tensor)


def adopt(tensor: torch.Tensor, place: Place) -> Handle:
    """Adopt a small, real tensor of constants as part of the plan."""
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        tensor = tensor.detach().contiguous()
        size = tensor.numel() * tensor.element_size()
        if size > DATA_BYTES:
            session().refuse("other", operators.readable(outermost("tensor")))
        if tensor.dtype == torch.int64 and any(session().at(number) for number in tensor.reshape(-1).tolist()):
            session().refuse("address", "data_ptr")
        contents = bytes(tensor.reshape(-1).view(torch.uint8).tolist()) if size else b""
        empty = torch.empty(tensor.shape, dtype=tensor.dtype, device=META)
        made = allocated(empty, place, Constant("data", data=contents))
        if contents:
            session().record(Data(
                buffer=view_of(made).buffer, contents=base64.b64encode(contents).decode(), line=session().line()),
                asynchronous=False)
        return made


def known_numbers(tensor: Any) -> torch.Tensor | None:
    """Return the numbers of a tensor that host code itself has written down, such as a shape; None for any other."""
    constant = memory_of(tensor).constant if isinstance(tensor, Handle) else None
    if constant is None or constant.kind != "data" or not constant.data:
        return None
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        return torch.frombuffer(bytearray(constant.data), dtype=tensor.dtype).as_strided(
            tensor.shape, tensor.stride(), tensor.storage_offset())
