"""A worker: loads one student file and calls its function when the judge asks. The only file that runs student code.

Everything here shares its process with the student and may be tampered with by the student, so nothing that it
reports can earn a point: the judge looks at the output buffers, the source text and its own clock.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import inspect
import linecache
import mmap
import os
import sys
import traceback
import weakref
from collections.abc import Iterator
from types import ModuleType, TracebackType
from typing import Any

import torch

from grader.plan import frames, wire
from grader.worker import gpu, interpreter
from grader.worker.batches import Batches
from grader.worker.recorder import Recorder

_DTYPES = {"float32": torch.float32, "float16": torch.float16}
_TEXT = 8_000
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
)  # fmt: skip
_LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_MAP_FAILED = ctypes.c_void_p(-1).value


class _Problem(Exception):
    """A failure that is no exception of the student's: the function is missing, its signature is wrong."""

    def __init__(self, failure: wire.WorkerFailure, message: str) -> None:
        super().__init__(message)
        self.failure = failure


class _Submission:
    """The student's module and function, and the record of what they run."""

    def __init__(self, request: wire.Load, source: str) -> None:
        self.file = request.file
        self._recorded = request.record
        self.recorder = Recorder(request.file, ours=(_argument, gpu.open_tensor, Batches.wake))
        self.cuda = request.device == "cuda"
        if self.cuda:
            gpu.start(self.recorder.kernel_launched if request.record else None)
        else:
            interpreter.configure(max_programs=request.max_programs, on_launch=self.recorder.kernel_launched)
        # inspect, and through it triton, finds the source of functions in linecache.
        linecache.cache[self.file] = (len(source), None, source.splitlines(keepends=True), self.file)
        name = request.file.removesuffix(".py")
        spec = importlib.util.spec_from_loader(name, loader=None, origin=self.file)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        module.__file__ = self.file
        sys.modules[name] = module
        compiled = compile(source, self.file, "exec", dont_inherit=True) if self.cuda else (
            interpreter.compile_host(source, self.file))
        if request.record:
            # For good: finalizers and signal handlers run when they will.
            self.recorder.__enter__()
        exec(compiled, module.__dict__)
        self.function = _find(module, request)
        # What an import computes knows none of the inputs; what it leaves behind is seen where it is used.
        self.recorder.take()

    @contextlib.contextmanager
    def recording(self, wanted: bool) -> Iterator[None]:
        """Records what runs inside, or does not, whatever it does outside."""
        if self._recorded and not wanted:
            self.recorder.__exit__(None, None, None)
        try:
            yield
        finally:
            if self._recorded and not wanted:
                self.recorder.__enter__()

    def call(self, arguments: list[Any]) -> None:
        self.function(*arguments)
        if self.cuda:
            # An error of a kernel shows up here at the latest.
            torch.cuda.synchronize()
        # A finalizer that hangs on a tensor runs here, before the record is taken; no copy is under way any more.
        arguments.clear()


def serve(channel: frames.Channel) -> None:
    """Answers requests until the judge hangs up."""
    loaded: list[_Submission] = []
    batches: Batches | None = None
    while True:
        try:
            request, descriptors = channel.receive_with_descriptors(wire.REQUEST)
        except frames.ChannelClosed:
            return
        reply: wire.Message
        try:
            match request:
                case wire.Load():
                    file = request.file
                    loaded.append(_Submission(request, _read_all(descriptors[0])))
                    reply = wire.Loaded(seq=request.seq)
                case wire.Clock():
                    if batches is not None:
                        batches.drop()
                    batches = Batches(_map(descriptors[0]), cuda=loaded[0].cuda)
                    reply = _done(request, loaded[0])
                case wire.Map():
                    assert batches is not None
                    batches.keep(request.slot, _arguments(request, descriptors))
                    reply = _done(request, loaded[0])
                case wire.Unmap():
                    if batches is not None:
                        batches.drop()
                    reply = _done(request, loaded[0])
                case wire.Batch():
                    assert batches is not None
                    chosen = loaded[request.which]
                    batches.run(chosen.function, request, chosen.recording(request.record))
                    reply = _done(request, chosen)
                case wire.Call():
                    loaded[0].call(_arguments(request, descriptors))
                    reply = _done(request, loaded[0])
                case wire.Probe():
                    raise ValueError("only a worker without a submission is probed")
        except BaseException as error:
            reply = _failed(request.seq, error, file, loading=isinstance(request, wire.Load))
        finally:
            for descriptor in descriptors:
                with contextlib.suppress(OSError):
                    os.close(descriptor)
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        channel.send(reply)


def _done(request: wire.Message, submission: _Submission) -> wire.Done:
    operators, kernels = submission.recorder.take()
    return wire.Done(seq=request.seq, operators=operators, kernels=kernels)


def _arguments(request: wire.Call | wire.Map, descriptors: list[int]) -> list[Any]:
    arguments = [_argument(argument, descriptors) for argument in request.arguments]
    # The student's code finds tensors, and no file that holds their contents.
    while descriptors:
        os.close(descriptors.pop())
    return arguments


def _find(module: ModuleType, request: wire.Load) -> Any:
    function = getattr(module, request.function, None)
    expected = f"{request.function}({', '.join(request.parameters)})"
    if function is None:
        raise _Problem("missing_function", f"{request.file} has no function {request.function}; {expected} expected")
    if not callable(function):
        raise _Problem("missing_function", f"{request.function} is not a function; {expected} expected")
    try:
        inspect.signature(function).bind(*request.parameters)
    except (TypeError, ValueError) as error:
        found = f"{request.function}{_signature(function)}"
        raise _Problem("wrong_signature", f"{found} cannot be called as {expected}: {error}") from None
    return function


def _signature(function: Any) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return "(…)"


def _read_all(descriptor: int) -> str:
    chunks = []
    while chunk := os.read(descriptor, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks).decode("utf-8-sig")


def _argument(argument: wire.Argument, descriptors: list[int]) -> Any:
    if isinstance(argument, wire.ScalarArgument):
        return argument.value
    if isinstance(argument, wire.DeviceArgument):
        return gpu.open_tensor(argument)
    dtype = _DTYPES[argument.dtype]
    mapped = _map(descriptors[argument.descriptor])
    return torch.frombuffer(mapped, dtype=dtype).view(*argument.shape)


def _map(descriptor: int) -> Any:
    """A shared mapping of a whole file as a buffer, unmapped with it. Unlike Python's `mmap` it keeps no descriptor."""
    size = os.fstat(descriptor).st_size
    address = _LIBC.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, descriptor, 0)
    if address in (None, _MAP_FAILED):
        raise OSError(ctypes.get_errno(), "a tensor's memory cannot be mapped")
    mapped = (ctypes.c_char * size).from_address(address)
    weakref.finalize(mapped, _LIBC.munmap, address, size)
    return mapped


def _failed(seq: int, error: BaseException, file: str, *, loading: bool) -> wire.Failed:
    frames = [frame for one in _chain(error) for frame in _frames(one.__traceback__, file)]
    line = gpu.compile_error_line(error, file) or (frames[-1].lineno or 0 if frames else 0)
    if isinstance(error, SyntaxError) and error.filename == file:
        line = error.lineno or 0
    name = type(error).__name__
    message = str(error) if isinstance(error, _Problem | interpreter.KernelFault) else f"{name}: {error}".rstrip(": ")
    text = "".join(traceback.format_list(frames)) + message
    return wire.Failed(
        seq=seq, failure=_kind(error, loading), message=_clip(message), line=line, traceback=_clip(text),
    )


def _kind(error: BaseException, loading: bool) -> wire.WorkerFailure:
    if isinstance(error, _Problem):
        return error.failure
    if isinstance(error, interpreter.TooManyPrograms):
        return "too_many_programs"
    if isinstance(error, interpreter.OutOfBounds):
        return "out_of_bounds"
    if isinstance(error, interpreter.Unsupported):
        return "unsupported"
    if (kind := gpu.failure(error)) is not None:
        return kind
    if any(isinstance(one, MemoryError) or "can't allocate memory" in str(one) for one in _chain(error)):
        return "out_of_memory"
    if isinstance(error, SyntaxError) and loading:
        return "syntax_error"
    if isinstance(error, NotImplementedError) and not loading:
        return "not_attempted"
    return "import_error" if loading else "exception"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, then what it came from, outermost first: the innermost holds the student's line."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)


def _frames(trace: TracebackType | None, file: str) -> list[traceback.FrameSummary]:
    return [frame for frame in traceback.extract_tb(trace) if frame.filename == file]


def _clip(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= _TEXT else text[: _TEXT // 2] + "\n…\n" + text[-_TEXT // 2 :]
