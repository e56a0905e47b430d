"""The run-time record: which PyTorch operators were dispatched and which kernels launched, and from which lines.

It runs in the student's process, where everything can be undone by what it watches: a hostile student can forge it.
That is why the judge reads the source as well, and neither alone decides. It needs no GPU and sees CPU and CUDA
tensors alike, since both are dispatched the same way.
"""

from __future__ import annotations

import _thread
import importlib.util
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.judge.wire import KernelUse, OperatorUse

MOST = 256
NAME = 80
# Ways out of PyTorch that no operator betrays. np.asarray(tensor) ends in Tensor.numpy.
EXITS = ("numpy", "tolist", "__dlpack__", "untyped_storage", "storage")
STARTERS = ("start_new_thread", "start_joinable_thread", "_start_new_thread", "_start_joinable_thread")

_triton = importlib.util.find_spec("triton")
# Triton's interpreter and autotuner move tensors about on their own account.
_TRITON = tuple(str(Path(folder) / "runtime") for folder in (_triton and _triton.submodule_search_locations) or ())
_INTERPRETER = str(Path(__file__).parent / "interpreter")
# Printing a tensor is no way to an answer worth its trouble, and honest code is full of it.
_PRINTING = torch._tensor_str.__file__
_IMPORTING = "<frozen importlib"
_OTHERS = (*_TRITON, _INTERPRETER, _PRINTING, _IMPORTING)


class Recorder:
    """Records dispatched operators and launched kernels while a student's function runs: `with recorder: silu(x, out)`.

    `file` is the student's `co_filename`; a line is that of the innermost frame in it, 0 if there is none. Covered are
    the thread that enters, and every thread begun inside through `threading` or `_thread`, for as long as it lives.
    Not covered: child processes, text made by printing a tensor, and machine code that calls no operator.
    Run the module's own code under it too: computing at import counts, and is in what `take` next returns.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._operators: dict[tuple[str, int], int] = {}
        self._kernels: dict[tuple[str, int], int] = {}
        self._mode: _Mode | None = None
        self._patched: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> Recorder:
        for name in EXITS:
            # The method of the C base class stays below; leaving uncovers it again.
            self._patch(torch.Tensor, name, self._exit(name, getattr(torch.Tensor, name)))
        for module in (_thread, threading):
            for name in STARTERS:
                if (start := getattr(module, name, None)) is not None:
                    self._patch(module, name, self._starter(start))
        self._mode = _Mode(self._operator)
        self._mode.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None,
    ) -> None:
        if self._mode is not None:
            self._mode.__exit__(kind, error, trace)  # type: ignore[no-untyped-call]
            self._mode = None
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
            self._operators, self._kernels = {}, {}
        return (
            [OperatorUse(name=name, line=line, count=count) for (name, line), count in operators],
            [KernelUse(name=name, line=line, programs=programs) for (name, line), programs in kernels],
        )

    def _operator(self, name: str) -> None:
        line = _line(sys._getframe(1), self._file)
        if line is not None:
            with self._lock:
                key = (name[:NAME], line)
                self._operators[key] = self._operators.get(key, 0) + 1

    def _exit(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def leaving(*args: Any, **kwargs: Any) -> Any:
            self._operator(name)
            return original(*args, **kwargs)

        return leaving

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


def _line(frame: FrameType | None, file: str) -> int | None:
    """The innermost line in the student's file, 0 without one; None where Triton, printing or an import is at work."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name == file:
            return frame.f_lineno
        if name.startswith(_OTHERS):
            return None
        frame = frame.f_back
    return 0


def _few(counts: dict[tuple[str, int], int]) -> list[tuple[tuple[str, int], int]]:
    if len(counts) > MOST:
        merged: dict[str, tuple[int, int]] = {}
        for (name, line), count in counts.items():
            first, total = merged.get(name, (line, 0))
            merged[name] = (first, total + count)
        counts = {(name, line): count for name, (line, count) in merged.items()}
    return sorted(counts.items(), key=lambda item: (item[0][1], item[0][0]))[:MOST]
