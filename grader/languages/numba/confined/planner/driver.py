"""The device that host code sees through Numba: stand-ins for its driver, its arrays, streams and events."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from grader.host.handles import GPU
from grader.host.record import Session, session
from grader.languages.numba.confined import api
from grader.languages.numba.confined.planner import arrays
from grader.languages.numba.confined.planner.arrays import (
    NumbaArray,
    in_stream,
    is_asynchronous,
    made,
    stream_number,
    tensor_of,
)
from grader.plan.streams import NON_BLOCKING

# Numbers of streams, apart from PyTorch's. Streams of Numba's wait for the default stream, so the bit is not set.
_FIRST_STREAM = 0x6000_0000
_MILLISECONDS = 1.0


class NumbaDevice:
    """A stand-in for Numba's device. Attributes have the driver's names, such as MULTIPROCESSOR_COUNT."""

    id = 0

    def __init__(self, session: Session) -> None:
        device = session.device
        self.compute_capability = device.major, device.minor
        self.name, self.uuid = device.name.encode(), "GPU-00000000-0000-0000-0000-000000000000"
        self.supports_float16, self.supports_bfloat16 = True, device.major >= 8
        self.supports_fp8 = self.compute_capability >= (8, 9)
        most = {"X": (2**31 - 1, 1024), "Y": (65_535, 1024), "Z": (65_535, 64)}
        self.__dict__.update({
            "MULTIPROCESSOR_COUNT": device.multi_processor_count, "WARP_SIZE": device.warp_size,
            "MAX_THREADS_PER_BLOCK": 1024, "MAX_SHARED_MEMORY_PER_BLOCK": 48 << 10,
            "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": device.shared_memory_per_block_optin,
            "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": device.shared_memory_per_multiprocessor,
            "MAX_THREADS_PER_MULTI_PROCESSOR": device.max_threads_per_multi_processor,
            "MAX_REGISTERS_PER_BLOCK": device.regs_per_multiprocessor, "TOTAL_CONSTANT_MEMORY": 64 << 10,
            "MAX_REGISTERS_PER_MULTIPROCESSOR": device.regs_per_multiprocessor, "CLOCK_RATE": device.clock_rate_khz,
            "L2_CACHE_SIZE": device.l2_cache_size, "COMPUTE_CAPABILITY_MAJOR": device.major,
            "COMPUTE_CAPABILITY_MINOR": device.minor, "COOPERATIVE_LAUNCH": 1,
            **{f"MAX_GRID_DIM_{axis}": grid for axis, (grid, _) in most.items()},
            **{f"MAX_BLOCK_DIM_{axis}": block for axis, (_, block) in most.items()}})

    def reset(self) -> None:
        """Do nothing: there is nothing to free."""


class NumbaStream:
    """A stand-in for Numba's stream that notes waits."""

    _made = 0

    def __init__(self, number: int | None = None) -> None:
        NumbaStream._made += 1
        self.number = _FIRST_STREAM + 2 * NON_BLOCKING * NumbaStream._made if number is None else number

    @property
    def handle(self) -> int:
        return self.number

    def __int__(self) -> int:
        return self.number

    def synchronize(self) -> None:
        session().note("finish_stream", self.number)

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[NumbaStream]:
        yield self
        self.synchronize()

    def add_callback(self, *_: Any) -> NoReturn:
        session().refuse("other", "stream.add_callback")


class NumbaEvent:
    """A stand-in for Numba's event: the event has always just happened."""

    _made = 1 << 20

    def __init__(self, timing: bool = True) -> None:
        NumbaEvent._made += 1
        self.number = NumbaEvent._made

    def record(self, stream: Any = 0) -> None:
        session().note("record", stream_number(stream), self.number)

    def wait(self, stream: Any = 0) -> None:
        session().note("wait", stream_number(stream), self.number)

    def synchronize(self) -> None:
        session().note("finish_event", event=self.number)

    def query(self) -> bool:
        self.synchronize()
        return True

    def elapsed_time(self, other: Any) -> float:
        return _MILLISECONDS


class NumbaContext:
    """A stand-in for Numba's context and for the runtime that keeps it, on one device."""

    def __init__(self, session: Session) -> None:
        self.device = NumbaDevice(session)
        self.gpus = [self.device]
        self._session = session

    def get_or_create_context(self, devnum: int | None) -> NumbaContext:
        if devnum not in (None, 0):
            raise RuntimeError("CUDA error: invalid device ordinal")
        return self

    def ensure_context(self) -> Any:
        return contextlib.nullcontext()

    def synchronize(self) -> None:
        self._session.note("finish_all")

    def get_memory_info(self) -> tuple[int, int]:
        return self._session.device.total_memory, self._session.device.total_memory

    def create_stream(self) -> NumbaStream:
        return NumbaStream()

    def get_default_stream(self) -> NumbaStream:
        return NumbaStream(0)

    get_legacy_default_stream = get_per_thread_default_stream = get_default_stream

    def create_external_stream(self, handle: int) -> NumbaStream:
        return NumbaStream(int(handle))

    def create_event(self, timing: bool = True) -> NumbaEvent:
        return NumbaEvent(timing)

    def get_active_blocks_per_multiprocessor(self, *_: Any) -> int:
        return 1

    def reset(self) -> None:
        """Do nothing: there is nothing to free."""


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> NumbaArray:
    """Return an array on the device as it is, and one on the host copied there."""
    if to is not None:
        to.copy_to_device(obj, stream)
        return NumbaArray(tensor_of(to))
    if isinstance(obj, NumbaArray):
        return obj
    source = tensor_of(np.asarray(obj) if isinstance(obj, np.generic) else obj)
    with in_stream(stream):
        return NumbaArray(source.to(GPU, non_blocking=is_asynchronous(source, stream)), stream)


def as_cuda_array(obj: Any, sync: bool = True) -> NumbaArray:
    tensor = arrays.on_device(obj)
    if tensor is None:
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    return NumbaArray(tensor)


def _like(ary: Any) -> tuple[Any, Any]:
    return tuple(ary.shape), ary.dtype if isinstance(ary.dtype, np.dtype) else arrays.numpy_dtype(ary.dtype)


def _not_there(name: str) -> Callable[..., NoReturn]:
    return lambda *_, **__: session().refuse("other", f"cuda.{name}")


@contextlib.contextmanager
def _nothing(*_: Any, **__: Any) -> Iterator[None]:
    yield


def functions(context: NumbaContext) -> dict[str, Any]:
    """Return the stand-ins for functions of numba.cuda, by name."""
    return {
        "device_array": lambda shape, dtype=np.float64, strides=None, order="C", stream=0: NumbaArray(
            made(shape, dtype, strides, order), stream),
        "device_array_like": lambda ary, stream=0: NumbaArray(made(*_like(ary)), stream),
        "pinned_array": lambda shape, dtype=np.float64, strides=None, order="C": made(
            shape, dtype, strides, order, pinned=True),
        "pinned_array_like": lambda ary: made(*_like(ary), pinned=True),
        "mapped_array": lambda shape, dtype=np.float64, strides=None, order="C", stream=0, **_: NumbaArray(
            made(shape, dtype, strides, order, pinned=True)),
        "mapped_array_like": lambda ary, **_: NumbaArray(made(*_like(ary), pinned=True)),
        "to_device": to_device, "as_cuda_array": as_cuda_array,
        "is_cuda_array": lambda obj: arrays.on_device(obj) is not None and not isinstance(obj, np.ndarray),
        "from_cuda_array_interface": _not_there("from_cuda_array_interface"),
        "open_ipc_array": _not_there("open_ipc_array"), "managed_array": _not_there("managed_array"),
        "pinned": _nothing, "mapped": _nothing, "profiling": _nothing, "defer_cleanup": _nothing,
        "profile_start": lambda: None, "profile_stop": lambda: None, "close": lambda: None, "detect": lambda: True,
        "is_available": lambda: True, "is_supported_version": lambda: True, "gpus": context.gpus,
        "list_devices": lambda: context.gpus, "event": NumbaEvent,
        "event_elapsed_time": lambda start, end: _MILLISECONDS,
    }


def install(context: NumbaContext) -> None:
    """Put the stand-ins in the place of Numba's functions."""
    api.install_functions(functions(context))
