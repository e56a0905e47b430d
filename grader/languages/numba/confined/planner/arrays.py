"""Numba's device arrays without numbers: tensors of host code under NumPy's interface. They do what tensors do, which
is recorded or refused there."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, cast

import numpy as np
import torch

from grader.host.handles import GPU, Handle, memory_of
from grader.host.record import session
from grader.host.torch_cuda import ExternalStream
from grader.languages.numba.confined import api
from grader.plan.plan import memory_span


class NumbaArray:
    """A stand-in for Numba's DeviceNDArray, around a tensor. `stream` is that of copies which name none."""

    __cuda_memory__ = __cuda_ndarray__ = True

    def __init__(self, tensor: Any, stream: Any = 0) -> None:
        self.tensor, self.stream = tensor, stream

    @property
    def __handle__(self) -> Any:
        return self.tensor

    @property
    def dtype(self) -> Any:
        return numpy_dtype(self.tensor.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(step * self.tensor.element_size() for step in self.tensor.stride())

    @property
    def ndim(self) -> int:
        return int(self.tensor.dim())

    @property
    def size(self) -> int:
        return int(self.tensor.numel())

    @property
    def nbytes(self) -> int:
        return self.size * int(self.tensor.element_size())

    alloc_size = nbytes

    @property
    def T(self) -> NumbaArray:
        return self.transpose()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "strides": self.strides, "typestr": self.dtype.str, "stream": None, "version": 3,
                "data": (self.tensor.data_ptr(), False)}

    def __len__(self) -> int:
        return len(self.tensor)

    def __repr__(self) -> str:
        return f"DeviceNDArray(shape={self.shape}, dtype={self.dtype})"

    def transpose(self, axes: Sequence[int] | None = None) -> NumbaArray:
        return NumbaArray(self.tensor.permute(*(axes or range(self.ndim)[::-1])))

    def reshape(self, *shape: Any, order: str = "C") -> NumbaArray:
        sizes = list(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else list(shape)
        if order == "F":
            turned = self.tensor.permute(*range(self.ndim)[::-1]).view(*sizes[::-1])
            return NumbaArray(turned.permute(*range(len(sizes))[::-1]))
        return NumbaArray(self.tensor.view(*sizes))

    def ravel(self, order: str = "C", stream: Any = 0) -> NumbaArray:
        return self.reshape(self.size, order=order)

    def squeeze(self, axis: int | None = None, stream: Any = 0) -> NumbaArray:
        return NumbaArray(self.tensor.squeeze() if axis is None else self.tensor.squeeze(axis))

    def view(self, dtype: Any) -> NumbaArray:
        return NumbaArray(self.tensor.view(torch_dtype(dtype)))

    def bind(self, stream: Any = 0) -> NumbaArray:
        return NumbaArray(self.tensor, stream)

    def split(self, section: int, stream: Any = 0) -> Iterator[NumbaArray]:
        return (NumbaArray(part, stream) for part in self.tensor.split(section))

    def is_c_contiguous(self) -> bool:
        return bool(self.tensor.is_contiguous())

    def is_f_contiguous(self) -> bool:
        return bool(self.tensor.permute(*range(self.ndim)[::-1]).is_contiguous())

    def __getitem__(self, key: Any) -> NumbaArray:
        return self.getitem(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.setitem(key, value)

    def getitem(self, key: Any, stream: Any = 0) -> NumbaArray:
        part = self.tensor[_index(key)]
        if not part.dim() and self.ndim:
            session().refuse("read_number", "x[i]")
        return NumbaArray(part, stream or self.stream)

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        with in_stream(stream or self.stream):
            self.tensor[_index(key)] = tensor_of(value, self.tensor.dtype)

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        source, stream = tensor_of(ary, self.tensor.dtype), stream or self.stream
        with in_stream(stream):
            self.tensor.copy_(source, non_blocking=is_asynchronous(source, stream))

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> NoReturn:
        session().refuse("read_values", "copy_to_host")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        session().refuse("numpy", "__array__")

    def __float__(self) -> NoReturn:
        session().refuse("read_number", "float")

    def __int__(self) -> NoReturn:
        session().refuse("read_number", "int")

    def __bool__(self) -> NoReturn:
        session().refuse("truth", "bool")


def _refused(name: str) -> Any:
    return lambda self, *_: session().refuse("arithmetic", name)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "matmul", "rmatmul", "pow", "neg"):
    setattr(NumbaArray, f"__{_name}__", _refused(_name.removeprefix("r")))


def _index(key: Any) -> Any:
    """Return an index with Python's own numbers, which PyTorch does not read as tensors."""
    if isinstance(key, tuple):
        return tuple(map(_index, key))
    return operator.index(key) if hasattr(key, "__index__") and not isinstance(key, torch.Tensor) else key


def stream_number(stream: Any) -> int:
    """Return the number of a stream: Numba's, PyTorch's, a number or None."""
    return int(getattr(stream, "cuda_stream", stream) or 0)


def in_stream(stream: Any) -> ExternalStream:
    """Return a context in which operations go to a stream. Numba does not ask for PyTorch's current one."""
    return ExternalStream(stream_number(stream))


def is_asynchronous(source: torch.Tensor, stream: Any) -> bool:
    """Return whether host code does not wait for a copy of an array of its own, if that is pinned. Numba calls
    `cuMemcpyHtoDAsync` if it is given a stream, and copies elements that lie apart to other memory before."""
    return bool(stream) and (source.is_contiguous() or source.permute(*range(source.dim())[::-1]).is_contiguous())


def numpy_dtype(dtype: torch.dtype) -> Any:
    """Return NumPy's name of a dtype. Raises TypeError if it has none."""
    name = str(dtype).removeprefix("torch.")
    try:
        return np.dtype(name)
    except TypeError:
        raise TypeError(f"Numba has no arrays of {name}: pass a view of its bits, x.view(torch.int16)") from None


def torch_dtype(dtype: Any) -> torch.dtype:
    """Return PyTorch's dtype for NumPy's or Numba's. Raises TypeError if it has none."""
    name = np.dtype(getattr(dtype, "name", dtype)).name
    torch_type = getattr(torch, name, None)
    if not isinstance(torch_type, torch.dtype) or torch_type.is_complex:
        raise TypeError(f"the grader plans no arrays of {name}: use float32, float64, float16 or whole numbers")
    return torch_type


def tensor_of(value: Any, dtype: torch.dtype | None = None) -> Any:
    """Return the tensor of an array; a NumPy array, which only holds what host code wrote down, becomes a constant."""
    if isinstance(value, NumbaArray):
        return value.tensor
    return torch.as_tensor(value, dtype=dtype) if isinstance(value, (np.ndarray, list, tuple)) else value


def on_device(value: Any) -> Handle | None:
    """Return the tensor of an argument that a kernel takes as an array; None if it is no array, or lies on the host.
    """
    if isinstance(value, NumbaArray):
        return cast("Handle", value.tensor)
    return value if isinstance(value, Handle) and memory_of(value).place == "device" else None


def type_of(value: Any) -> Any:
    """Return Numba's type of an array or tensor. Raises TypeError for one that lies on the host."""
    tensor = on_device(value)
    if tensor is None:
        raise TypeError("a kernel takes arrays in the GPU's memory, and this one lies in the host's: pass "
                        "cuda.to_device(...) of it, and keep that")
    transposed = tensor.permute(*range(tensor.dim())[::-1])
    layout = "C" if tensor.is_contiguous() else "F" if transposed.is_contiguous() else "A"
    return api.array_type(numpy_dtype(tensor.dtype), tensor.dim(), layout)


def made(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", *, pinned: bool = False) -> Any:
    """Return a new tensor, on the device or in pinned memory, as NumPy's arguments describe it."""
    sizes = [int(size) for size in shape] if isinstance(shape, (tuple, list)) else [operator.index(shape)]
    kind, place = torch_dtype(dtype), {"device": "cpu", "pin_memory": True} if pinned else {"device": GPU}
    if strides is not None:
        steps = [int(stride) // kind.itemsize
                 for stride in (strides if isinstance(strides, (tuple, list)) else [strides])]
        room = torch.empty(memory_span(sizes, steps), dtype=kind, **place)
        return room.as_strided(sizes, steps)
    if order == "F":
        return torch.empty(sizes[::-1], dtype=kind, **place).permute(*range(len(sizes))[::-1])
    return torch.empty(sizes, dtype=kind, **place)
