"""The device that host code sees: stand-ins for torch.cuda, where there is no driver.

A plan has the operations in the order in which host code asks for them, a replayed CUDA graph among them as its
operations. Streams and events say which operations follow which on a GPU.
"""

from __future__ import annotations

import contextlib
import pdb
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from grader.host.handles import GPU
from grader.host.record import Session, session
from grader.plan.streams import NON_BLOCKING

# The first of the numbers by which PyTorch names CUDA streams; 0 is the default stream.
_FIRST_STREAM = 0x5000_0000
_MILLISECONDS = 1.0


class Stream:
    """A stand-in for torch.cuda.Stream that notes waits."""

    _made = 0

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        Stream._made += 1
        self.device, self.device_index, self.priority = GPU, 0, priority
        self.cuda_stream = _FIRST_STREAM + 2 * NON_BLOCKING * Stream._made + NON_BLOCKING

    def wait_event(self, event: Any) -> None:
        session().note("wait", self.cuda_stream, event.cuda_event)

    def wait_stream(self, stream: Any) -> None:
        self.wait_event(stream.record_event())

    def synchronize(self) -> None:
        session().note("finish_stream", self.cuda_stream)

    def query(self) -> bool:
        self.synchronize()
        return True

    def record_event(self, event: Any = None) -> Any:
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        self._before = _State.stream
        _State.stream = self
        return self

    def __exit__(self, *_: object) -> None:
        _State.stream = self._before

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.cuda_stream == other.cuda_stream

    def __hash__(self) -> int:
        return hash(self.cuda_stream)


class ExternalStream(Stream):
    """A stand-in for torch.cuda.ExternalStream: a stream that another library has made, by its number."""

    def __init__(self, stream_ptr: int, device: Any = None, **_: Any) -> None:
        super().__init__(device)
        self.cuda_stream = int(stream_ptr)


class Event:
    """A stand-in for torch.cuda.Event: the event has always just happened."""

    _made = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        Event._made += 1
        self.device, self.cuda_event = GPU, Event._made

    def record(self, stream: Any = None) -> None:
        session().note("record", (stream or _State.stream).cuda_stream, self.cuda_event)

    def wait(self, stream: Any = None) -> None:
        (stream or _State.stream).wait_event(self)

    def synchronize(self) -> None:
        session().note("finish_event", event=self.cuda_event)

    def query(self) -> bool:
        self.synchronize()
        return True

    def elapsed_time(self, end: Any) -> float:
        return _MILLISECONDS


class _State:
    """The state that torch.cuda keeps for the process."""

    default = Stream()
    stream = default


_State.default.cuda_stream = 0


class _Graphs:
    """CUDA graphs of a session: a capture collects the operations that host code asks for, a replay records them."""

    def __init__(self, session: Session) -> None:
        class CUDAGraph:
            def __init__(self, *_: Any, **__: Any) -> None:
                self.requests: list[Callable[[], None]] = []

            def capture_begin(self, *_: Any, **__: Any) -> None:
                self.requests = []
                session.captures.append(self.requests)

            def capture_end(self) -> None:
                session.captures.pop()

            def replay(self) -> None:
                session.note("begin_graph", _State.stream.cuda_stream)
                for request in self.requests:
                    request()
                session.note("end_graph")

            def instantiate(self) -> None: ...

            def reset(self) -> None:
                self.requests = []

            def pool(self) -> tuple[int, int]:
                return 0, 1

        class Capture:
            """A stand-in for torch.cuda.graph."""

            def __init__(self, cuda_graph: Any, pool: Any = None, stream: Any = None, **_: Any) -> None:
                self.graph, self.stream = cuda_graph, stream or Stream()

            def __enter__(self) -> None:
                self.stream.__enter__()
                self.graph.capture_begin()

            def __exit__(self, *_: object) -> None:
                self.graph.capture_end()
                self.stream.__exit__()

        self.CUDAGraph, self.Capture = CUDAGraph, Capture


class _Runtime:
    """A stand-in for torch.cuda.cudart(): calls to the profiler do nothing, all others raise RuntimeError."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: 0 if name.startswith("cudaProfiler") else _no_driver(name)


def _no_driver(name: str) -> Any:
    raise RuntimeError(f"{name} is not there for host code: allocate with torch.empty")


def index(device: Any) -> int:
    index = torch.device("cuda", device).index if isinstance(device, int) else torch.device(device or "cuda").index
    if index not in (None, 0):
        raise RuntimeError("CUDA error: invalid device ordinal")
    return 0


def _properties(session: Session) -> Any:
    device = session.device
    return types.SimpleNamespace(
        **{name: getattr(device, name) for name in type(device).model_fields if not name.endswith("_khz")},
        L2_cache_size=device.l2_cache_size, clock_rate=device.clock_rate_khz,
        memory_clock_rate=device.memory_clock_rate_khz, gcnArchName="", is_integrated=0, is_multi_gpu_board=0,
        max_threads_per_block=1024)


@contextlib.contextmanager
def _range(*_: Any, **__: Any) -> Iterator[None]:
    yield


def install(session: Session) -> None:
    """Put the stand-ins in the place of torch.cuda's functions. A planner's process is the submission's alone, so
    nothing is put back."""
    properties, graphs = _properties(session), _Graphs(session)
    capability = (session.device.major, session.device.minor)
    cuda: Any = torch.cuda
    constant: dict[str, Any] = {
        "is_available": True, "is_initialized": True, "device_count": 1, "current_device": 0,
        "get_device_name": session.device.name, "get_device_capability": capability,
        "get_device_properties": properties, "is_bf16_supported": True, "default_stream": _State.default,
        "memory_allocated": 0, "max_memory_allocated": 0, "memory_reserved": 0, "max_memory_reserved": 0,
        "memory_stats": {}, "memory_summary": "", "memory_usage": 0, "utilization": 0, "graph_pool_handle": (0, 1),
        "mem_get_info": (session.device.total_memory, session.device.total_memory),
        "get_arch_list": [session.device.target], "can_device_access_peer": False, "get_rng_state": None,
    }
    for name, value in constant.items():
        setattr(cuda, name, lambda *_, _value=value, **__: _value)
    for name in (
        "_lazy_init", "init", "empty_cache", "ipc_collect", "reset_peak_memory_stats",
        "reset_max_memory_allocated", "reset_max_memory_cached", "reset_accumulated_memory_stats", "manual_seed",
        "manual_seed_all", "seed", "seed_all", "set_per_process_memory_fraction", "_sleep", "set_sync_debug_mode",
    ):
        # A function of its own for each: PyTorch's compiler, when it is imported, distinguishes functions by identity.
        setattr(cuda, name, lambda *_, **__: None)
    cuda.synchronize = lambda *_, **__: session.note("finish_all")
    cuda.set_device = index
    cuda._exchange_device, cuda._maybe_exchange_device = (lambda device: 0), (lambda device: 0)
    cuda.Stream, cuda.ExternalStream, cuda.Event = Stream, ExternalStream, Event
    cuda.current_stream = lambda *_, **__: _State.stream
    cuda.set_stream = lambda stream: setattr(_State, "stream", stream)
    cuda.stream = lambda stream: stream or contextlib.nullcontext()
    cuda.cudart = _Runtime
    for name in ("caching_allocator_alloc", "caching_allocator_delete"):
        setattr(cuda, name, lambda *_, _name=name, **__: _no_driver(_name))
    cuda.CUDAGraph, cuda.graph = graphs.CUDAGraph, graphs.Capture
    cuda.is_current_stream_capturing = lambda: bool(session.captures)
    for module in (cuda.streams, cuda.graphs, cuda.memory, cuda.random):
        for name in vars(module).keys() & vars(cuda).keys():
            if name in constant or name in ("Stream", "Event", "ExternalStream", "CUDAGraph", "graph", "synchronize"):
                setattr(module, name, getattr(cuda, name))
    for name in ("range_push", "range_pop", "range_start", "range_end", "mark"):
        setattr(cuda.nvtx, name, lambda *_, **__: None)
    cuda.nvtx.range = _range
    accelerator: Any = torch.accelerator
    for name in ("synchronize", "current_stream", "set_stream", "device_count", "is_available"):
        setattr(accelerator, name, getattr(cuda, name))
    accelerator.current_accelerator = lambda *_, **__: torch.device("cuda")
    accelerator.current_device_index = cuda.current_device
    torch.version.cuda = torch.version.cuda or "12.8"
    for module in (torch, torch.utils.dlpack):
        setattr(module, "to_dlpack", lambda _: session.refuse("dlpack", "to_dlpack"))  # noqa: B010
    _wrappers()


def _wrappers() -> None:
    """Replace PyTorch's wrappers of functions that launch kernels by the functions themselves, and disable debuggers.
    """

    class Op:
        """A stand-in for the result of torch.library's decorators: it calls the function. Rules that are registered on
        it are dropped, since only other layers of PyTorch read them."""

        def __init__(self, name: str, fn: Callable[..., Any]) -> None:
            space, _, short = name.partition("::")
            self.call = fn
            setattr(getattr(torch.ops, space), short, self)

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return self.call(*args, **kwargs)

        def __getattr__(self, name: str) -> Any:
            if not name.startswith(("register_", "default")):
                raise AttributeError(name)
            return self if name == "default" else lambda fn=None, /, *_, **__: fn or (lambda fn: fn)

    def itself(model: Any = None, /, **_: Any) -> Any:
        return model if model is not None else lambda model: model

    def op(name: str, fn: Any = None, /, **_: Any) -> Any:
        return Op(name, fn) if fn is not None else lambda fn: Op(name, fn)

    library: Any = torch.library
    library.custom_op = op
    torch.compile = itself
    sys.breakpointhook = pdb.set_trace = lambda *_, **__: None
