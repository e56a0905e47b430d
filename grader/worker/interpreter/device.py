"""Stand-ins for `torch.cuda` where there is none: queries that size a launch, streams and events that do nothing.

Without a GPU everything happens at once and in order, so there is nothing to wait for. `torch.cuda.is_available()` and
`x.is_cuda` go on telling the truth.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .. import placement
from .driver import CAPABILITY, DeviceProperties
from .patching import replace

_MEMORY = DeviceProperties().total_memory


class Stream:
    """Stands in for `torch.cuda.Stream`: what is put on it has already happened."""

    cuda_stream = stream_id = priority = device_index = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    @property
    def device(self) -> Any:
        import torch

        return torch.device("cpu")

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True

    def wait_event(self, event: Any) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        pass

    def record_event(self, event: Any = None) -> Any:
        return Event() if event is None else event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class Event:
    """Stands in for `torch.cuda.Event`: it is over as soon as it is recorded, and no time has passed."""

    cuda_event = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def record(self, stream: Any = None) -> None:
        pass

    def wait(self, stream: Any = None) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True

    def elapsed_time(self, end_event: Any) -> float:
        return 0.0


class _Context:
    """Stands in for `torch.cuda.device`, `device_of` and `stream`: there is but one device, and one stream."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def _range(message: str, *args: Any, **named: Any) -> Iterator[None]:
    yield


def _nothing(*_: Any, **__: Any) -> None:
    pass


def _zero(*_: Any, **__: Any) -> int:
    return 0


_STREAM = Stream()
_CUDA: dict[str, Any] = {
    "get_device_properties": lambda device=None: DeviceProperties(),
    "get_device_capability": lambda device=None: CAPABILITY,
    "get_device_name": lambda device=None: DeviceProperties.name,
    "device_count": lambda: 1, "current_device": _zero, "set_device": _nothing, "init": _nothing,
    "synchronize": _nothing, "ipc_collect": _nothing, "is_current_stream_capturing": lambda: False,
    "mem_get_info": lambda device=None: (_MEMORY, _MEMORY),
    "reset_peak_memory_stats": _nothing,
    "device": _Context, "device_of": _Context, "stream": _Context, "StreamContext": _Context,
    "Stream": Stream, "ExternalStream": Stream, "Event": Event,
    "current_stream": lambda device=None: _STREAM, "default_stream": lambda device=None: _STREAM,
    "set_stream": _nothing,
}  # fmt: skip
_NVTX: dict[str, Any] = {
    "range": _range, "range_push": _zero, "range_pop": _zero, "mark": _nothing, "range_start": _zero,
    "range_end": _nothing,
}  # fmt: skip


def install() -> None:
    """Stand in for what `torch.cuda` cannot do without a GPU; does nothing where there is one."""
    import torch

    if torch.cuda.is_available():
        return
    for owner, members in ((torch.cuda, _CUDA), (torch.cuda.nvtx, _NVTX)):
        for name, value in members.items():
            replace(owner, name, value)
    replace(torch.accelerator, "synchronize", _nothing)
    # Refuses a stand-in before any mode sees it.
    replace(torch.Tensor, "record_stream", _nothing)
    placement.enter()
