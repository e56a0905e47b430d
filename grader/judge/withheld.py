"""New contents on the host, of which one element is held back until the clock starts.

No pass over host memory is so short that a veil could come off it unseen. Instead, of each slot one element that the
answer needs keeps its old value until the last moment: whatever was there earlier to look at the rest, a thread or work
that has waited in the GPU's queue, does not know which one, and has to look at all of them again. One page of each slot
is also replaced by another each time, in the same place: who has registered memory with the GPU's driver in an earlier
call, so that the GPU fetches what the host is to gather, goes on reading the page that was there.
"""

from __future__ import annotations

import torch
from torch import Tensor

from grader.judge.buffers import HostTensor

_INTEGERS = {2: torch.int16, 4: torch.int32}


class Withheld:
    """The elements that are still to be written. `generator` is on the CPU."""

    def __init__(self, generator: torch.Generator) -> None:
        self._generator = generator
        self._left: list[tuple[memoryview, int, int]] = []

    def write(self, shared: HostTensor, elements: Tensor, values: Tensor) -> None:
        """`values` to `elements`, a one-dimensional view of `shared`, but for one of them."""
        place, moved = torch.randint(elements.numel(), (2,), generator=self._generator).tolist()
        shared.replace_page(_offset(shared, elements[moved]))
        integers = _INTEGERS[elements.element_size()]
        old, new = elements.view(integers), values.view(integers)
        words = memoryview(shared.memory)
        words = words.cast("i") if old.itemsize == 4 else words.cast("h")
        self._left.append((words, _offset(shared, old[place]) // words.itemsize, int(new[place])))
        # Not even for a moment does it stand there: something may be waiting for just that.
        new = new.clone()
        new[place] = old[place]
        old.copy_(new)

    def complete(self) -> None:
        """Writes what was held back, in some tenths of a microsecond each."""
        for words, index, value in self._left:
            words[index] = value
        self.forget()

    def forget(self) -> None:
        """What was held back is not to be written any more."""
        self._left.clear()


def _offset(shared: HostTensor, element: Tensor) -> int:
    return element.data_ptr() - shared.tensor.data_ptr()
