"""Calls that are timed: begun and ended by the judge's clock, through words of a shared page.

The judge owns the time. What this side does is to be ready, to wait without sleeping, and to say when all is done.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch

from grader.plan import wire
from grader.worker import gpu

# Looked up before any student code runs.
_synchronize = getattr(torch._C, "_cuda_synchronize", torch.cuda.synchronize)


class Batches:
    """The page, and the arguments of each slot. `page` is the page's memory, of `wire.PAGE_BYTES`."""

    def __init__(self, page: Any, *, cuda: bool) -> None:
        self._touched = torch.zeros(1, device="cuda") if cuda else None
        # A read of one element is one load of 64 bits, which is whole on every machine that PyTorch runs on.
        self._words = (ctypes.c_int64 * (wire.PAGE_BYTES // 8)).from_buffer(page)
        self._slots: list[list[Any]] = []

    def keep(self, slot: int, arguments: list[Any]) -> None:
        if slot != len(self._slots):
            raise ValueError(f"slot {len(self._slots)} expected, got {slot}")
        self._slots.append(arguments)

    def drop(self) -> None:
        """Lets go of every slot."""
        dropped, self._slots = self._slots, []
        for argument in (argument for arguments in dropped for argument in arguments):
            # Memory that is open here the judge cannot give back.
            if isinstance(argument, torch.Tensor) and argument.is_cuda:
                gpu.close_tensor(argument)

    def wake(self) -> None:
        """The device's switch to this process's context takes some work to happen: before the clock starts."""
        if self._touched is not None:
            self._touched.add_(1)
            _synchronize()

    def run(
        self, function: Callable[..., Any], request: wire.Batch, recording: AbstractContextManager[object]
    ) -> None:
        """Calls `function` on the slots between the judge's "go" and our "done", inside `recording`."""
        words, number = self._words, request.number
        chosen = [self._slots[slot] for slot in request.slots]
        warm = [self._slots[slot] for slot in request.warm]
        with recording, _no_garbage():
            # All that takes time and needs no inputs is done by now.
            words[wire.MARKS] = number
            while (word := words[wire.SET]) != number:
                if word == -number:
                    return
            # Whoever has been stopped finds the processor's caches cold.
            for arguments in warm:
                function(*arguments)
            self.wake()
            words[wire.READY] = number
            while words[wire.GO] != number:
                pass
            for arguments in chosen:
                function(*arguments)
            if self._touched is not None:
                _synchronize()
            words[wire.DONE] = number


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Python looks for garbage after so and so many objects, wherever it is: milliseconds, where much is loaded."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
