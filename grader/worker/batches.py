"""Calls that are timed: begun and ended by the judge's clock, through words of a shared page.

The judge owns the time. What this side does is to be ready, to wait without sleeping, and to say when all is done.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import torch

from grader.judge import wire
from grader.worker import gpu


class Batches:
    """The page, and the arguments of each slot. `page` is the page's memory, of `wire.PAGE_BYTES`."""

    def __init__(self, page: Any, *, cuda: bool) -> None:
        # A read of one element is one load of 64 bits, which is whole on every machine that PyTorch runs on.
        self._words = (ctypes.c_int64 * (wire.PAGE_BYTES // 8)).from_buffer(page)
        self._cuda = cuda
        self._slots: list[list[Any]] = []

    def keep(self, slot: int, arguments: list[Any]) -> None:
        if slot == 0:
            self._drop()
        if slot != len(self._slots):
            raise ValueError(f"slot {len(self._slots)} expected, got {slot}")
        self._slots.append(arguments)

    def _drop(self) -> None:
        dropped, self._slots = self._slots, []
        for argument in (argument for arguments in dropped for argument in arguments):
            # Memory that is open here the judge cannot give back.
            if isinstance(argument, torch.Tensor) and argument.is_cuda:
                gpu.close_tensor(argument)

    def run(self, function: Callable[..., Any], number: int, slots: Sequence[int]) -> None:
        """Calls `function` on the slots between the judge's "go" and our "done"."""
        words = self._words
        chosen = [self._slots[slot] for slot in slots]
        if self._cuda:
            # The switch to this process's context on the device is over before the clock starts.
            torch.cuda.synchronize()
        words[wire.READY] = number
        while words[wire.GO] != number:
            pass
        for arguments in chosen:
            function(*arguments)
        if self._cuda:
            torch.cuda.synchronize()
        words[wire.DONE] = number
