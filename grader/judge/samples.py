"""Looks at secret places of many tensors, to see later what has changed since. On a device a look is one launch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.judge.compare import POISON, unwritten
from grader.judge.graphs import recorded


class Samples:
    """Of tensors of one shape, what stood at `count` secret places of each when they were looked at."""

    def __init__(self, tensors: list[Tensor], count: int, generator: torch.Generator) -> None:
        self._flat = [tensor.view(-1) for tensor in tensors]
        self._generator = generator
        shape, device = (len(tensors), min(count, tensors[0].numel())), tensors[0].device
        self._places = torch.zeros(shape, dtype=torch.int64, device=device)
        self._then, self._now = (torch.zeros(shape, dtype=tensors[0].dtype, device=device) for _ in range(2))
        self._look_then = self._look(self._then)
        self._look_now = self._look(self._now)

    def choose(self) -> None:
        """Other places."""
        self._places.random_(self._flat[0].numel(), generator=self._generator)

    def take(self) -> None:
        self._look_then()
        if self._places.is_cuda:
            torch.cuda.synchronize()

    def expect(self, number: int, contents: Tensor) -> None:
        """Tensor `number` is to hold `contents`."""
        torch.index_select(contents.reshape(-1), 0, self._places[number], out=self._then[number])

    def unwritten(self, count: int) -> bool:
        """Whether the first `count` tensors hold poison at those places now."""
        self._look_now()
        return bool(unwritten(self._now[:count]).all())

    def changed(self, count: int) -> Tensor:
        """For each of the first `count` tensors, a bool on the device: whether it does not hold at those places the
        same as when it was looked at."""
        self._look_now()
        as_integer, _ = POISON[self._then.dtype]
        return (self._now[:count].view(as_integer) != self._then[:count].view(as_integer)).any(dim=1)

    def _look(self, kept: Tensor) -> Callable[[], None]:
        def look() -> None:
            # The last come first, since a batch ends with them.
            for flat, places, taken in reversed(list(zip(self._flat, self._places, kept, strict=True))):
                torch.index_select(flat, 0, places, out=taken)

        return recorded(look, cuda=self._places.is_cuda)
