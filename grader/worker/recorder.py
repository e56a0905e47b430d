"""The run-time record: which PyTorch operators were dispatched and which kernels launched, and from which lines.

The record can be forged. It is made in the student's process, where what it watches can change it, and whoever gets
hold of this module's objects can leave things out of it. That is why the judge reads the source as well, and neither
alone decides. It needs no GPU and sees CPU and CUDA tensors alike, since both are dispatched the same way.
"""

from __future__ import annotations

import _thread
import importlib._bootstrap
import math
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

import torch
from torch import _tensor_str
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.plan.wire import KernelUse, OperatorUse
from grader.worker import audit
from grader.worker.imports import Libraries

MOST = 256
NAME = 80
# Ways out of PyTorch that no operator betrays. np.asarray(tensor) ends in Tensor.numpy.
EXITS = ("numpy", "tolist", "__dlpack__", "untyped_storage", "storage")
STARTERS = ("start_new_thread", "start_joinable_thread", "_start_new_thread", "_start_joinable_thread")

# Ways to switch the recording of operators off, or to take its mode away; PyTorch itself uses them.
SWITCHES: tuple[tuple[ModuleType, str], ...] = (
    *((_python_dispatch, name) for name in ("_disable_current_modes", "_pop_mode", "_pop_mode_temporarily")),
    *((torch._C, name) for name in (
        "_DisableTorchDispatch", "_pop_torch_dispatch_stack", "_push_on_torch_dispatch_stack", "_set_dispatch_mode",
        "_unset_dispatch_mode", "_ExcludeDispatchKeyGuard", "_ForceDispatchKeyGuard", "_SetExcludeDispatchKeyGuard",
        "_dispatch_tls_set_dispatch_key_excluded", "_dispatch_tls_set_dispatch_key_included",
        "_AutoDispatchBelowAutograd", "_IncludeDispatchKeyGuard", "_PreserveDispatchKeyGuard",
    )),
)  # fmt: skip
# Elements printed in one call. Printing for a look shows a few thousand at most; more is a way to read them.
MOST_PRINTED = 16_384


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for one in list(vars(module).values()):
        members = list(vars(one).values()) if isinstance(one, type) else [one]
        for member in members:
            inner = getattr(member, "__func__", member)
            while isinstance(inner, FunctionType) and inner.__module__ == module.__name__:
                yield inner
                inner = getattr(inner, "__wrapped__", None)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


# Code whose operators are not the student's doing, known by the very objects: a name can be given to any code.
_PRINTING = frozenset(c for f in _functions(_tensor_str) for c in _codes(f.__code__))
_IMPORTING = frozenset(c for f in _functions(importlib._bootstrap) for c in _codes(f.__code__))


# Triton's autotuner puts arguments back between its trials, and our interpreter asks where tensors lie.
_MACHINERY = {
    "triton.runtime.autotuner": ("_pre_hook", "_post_hook"), "grader.worker.interpreter.launch": ("_pointer",),
}


def _machinery() -> Iterator[CodeType]:
    for name, functions in _MACHINERY.items():
        if (module := sys.modules.get(name)) is not None:
            codes = (code for function in _functions(module) for code in _codes(function.__code__))
            yield from (code for code in codes if code.co_name in functions)


def _is_of_torch(frame: FrameType) -> bool:
    """Whether a frame runs code of PyTorch's, known by the very object: a module's name can be given to any code."""
    name = str(frame.f_globals.get("__name__", ""))
    module = sys.modules.get(name) if name.partition(".")[0] == "torch" else None
    if module is None:
        return False
    return any(frame.f_code is code for function in _functions(module) for code in _codes(function.__code__))


class Recorder:
    """Records dispatched operators and launched kernels while a student's function runs: `with recorder: silu(x, out)`.

    `file` is the student's `co_filename`; a line is that of the innermost frame in it, 0 if there is none. Covered are
    the thread that enters, and every thread begun inside through `threading` or `_thread`, for as long as it lives.
    `ours` are functions that dispatch on the grader's account. Not covered: what a child process does (that one is
    begun is recorded), and machine code that calls no operator.
    Run the module's own code under it too: what it starts or changes is then in what `take` next returns.
    """

    def __init__(self, file: str, ours: Iterable[Callable[..., Any]] = ()) -> None:
        self._file = file
        # A finalizer of the student's may run, and dispatch, while this is held.
        self._lock = threading.RLock()
        self._others = _PRINTING | _IMPORTING | {*_machinery()}
        self._others |= {function.__code__ for function in ours if isinstance(function, FunctionType)}
        self._printed = 0
        self._operators: dict[tuple[str, int], int] = {}
        self._kernels: dict[tuple[str, int], int] = {}
        self._mode: _Mode | None = None
        self._patched: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> Recorder:
        for name in EXITS:
            # The method of the C base class stays below; leaving uncovers it again.
            self._patch(torch.Tensor, name, self._exit(name, getattr(torch.Tensor, name)))
        self._patch(torch.Tensor, "__repr__", self._printer(torch.Tensor.__repr__))
        for module, name in SWITCHES:
            if hasattr(module, name):
                self._patch(module, name, self._switch(name, getattr(module, name)))
        for module in (_thread, threading):
            for name in STARTERS:
                if (start := getattr(module, name, None)) is not None:
                    self._patch(module, name, self._starter(start))
        audit.watch(self._file, self._count)
        self._libraries = Libraries()
        self._libraries.install()
        self._mode = _Mode(self._operator)
        self._mode.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None,
    ) -> None:
        if self._mode is not None:
            self._mode.__exit__(kind, error, trace)  # type: ignore[no-untyped-call]
            self._mode = None
        self._libraries.remove()
        while self._patched:
            target, name, old = self._patched.pop()
            if old is None:
                delattr(target, name)
            else:
                setattr(target, name, old)

    def kernel_launched(self, name: str, line: int, programs: int) -> None:
        """Counts one launch of a kernel defined or launched at `line`; `programs` is its number of instances."""
        with self._lock:
            key = (name[:NAME], max(line, 0))
            self._kernels[key] = self._kernels.get(key, 0) + max(programs, 0)

    def take(self) -> tuple[list[OperatorUse], list[KernelUse]]:
        """What was recorded since the last call, one use for each name and line, with sums; then forgets.

        Of more than 256, the lines of one name are put together under the first of them.
        """
        with self._lock:
            operators, kernels = _few(self._operators), _few(self._kernels)
            self._operators, self._kernels, self._printed = {}, {}, 0
        return (
            [OperatorUse(name=name, line=line, count=count) for (name, line), count in operators],
            [KernelUse(name=name, line=line, programs=programs) for (name, line), programs in kernels],
        )

    def _operator(self, name: str) -> None:
        line = self._line(sys._getframe(1))
        if line is not None:
            self._count(name, line)

    def _count(self, name: str, line: int) -> None:
        with self._lock:
            key = (name[:NAME], line)
            self._operators[key] = self._operators.get(key, 0) + 1

    def _line(self, frame: FrameType | None) -> int | None:
        """The innermost line in the student's file, 0 without one; None where someone else's code is at work."""
        while frame is not None:
            code = frame.f_code
            if code.co_filename == self._file:
                return frame.f_lineno
            if code in self._others:
                return None
            frame = frame.f_back
        return 0

    def _exit(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def leaving(*args: Any, **kwargs: Any) -> Any:
            self._operator(name)
            return original(*args, **kwargs)

        return leaving

    def _printer(self, original: Callable[..., str]) -> Callable[..., str]:
        def printing(tensor: Any, *args: Any, **kwargs: Any) -> str:
            options = _tensor_str.PRINT_OPTS
            if tensor.numel() <= options.threshold:
                self._printed += tensor.numel()
            else:
                self._printed += math.prod(min(size, 2 * options.edgeitems) for size in tensor.shape)
            if self._printed > MOST_PRINTED:
                self._operator("str")
            return original(tensor, *args, **kwargs)

        return printing

    def _switch(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def switching(*args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(1)
            if not _is_of_torch(caller) and (line := self._line(caller)):
                self._count(name, line)
            return original(*args, **kwargs)

        return switching

    def _starter(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def start(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            def recorded(*given: Any, **named: Any) -> Any:
                # Modes belong to a thread, and so does the state each keeps.
                with _Mode(self._operator):
                    return function(*given, **named)

            return original(recorded, *args, **kwargs)

        return start

    def _patch(self, target: Any, name: str, new: Any) -> None:
        self._patched.append((target, name, vars(target).get(name)))
        setattr(target, name, new)


class _Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, seen: Callable[[str], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._seen = seen

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # True would import PyTorch's compiler, more than a second, at the first operator.
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None,
    ) -> Any:
        self._seen(func._schema.name)
        return func(*args, **(kwargs or {}))


def _few(counts: dict[tuple[str, int], int]) -> list[tuple[tuple[str, int], int]]:
    if len(counts) > MOST:
        merged: dict[str, tuple[int, int]] = {}
        for (name, line), count in counts.items():
            first, total = merged.get(name, (line, 0))
            merged[name] = (first, total + count)
        counts = {(name, line): count for name, (line, count) in merged.items()}
    return sorted(counts.items(), key=lambda item: (item[0][1], item[0][0]))[:MOST]
