"""New contents on the host, of which one element is held back until the clock starts.

No pass over host memory is so short that a veil could come off it unseen. Instead of one element of each slot there is
another value, drawn like the rest, until the last moment: whatever was there earlier to look at them, a thread or work
that has waited in the GPU's queue, does not know which one, and has to look at all of them again. One page of each slot
is also replaced by another each time, in the same place, and what stays in the old one is as good as new but for such a
value: who has registered memory with the GPU's driver in an earlier call, so that the GPU fetches what the host is to
gather, goes on reading the page that was there.
"""

from __future__ import annotations

import secrets

import torch

from grader.assignment import Renewal
from grader.judge.buffers import HostTensor

_INTEGERS = {2: torch.int16, 4: torch.int32}


class Withheld:
    """The elements that are still to be written."""

    def __init__(self) -> None:
        self._left: list[tuple[memoryview, int, int]] = []

    def write(self, shared: HostTensor, renewal: Renewal) -> None:
        """The values of `renewal` to its elements, a view of `shared`, but for one of them.

        Nothing tells which: it holds nothing that stood there before, and a device's old page neither.
        """
        elements, values, (decoy, stale) = renewal.elements, renewal.values, renewal.decoys
        # Not torch's generators: on a CPU they have 2^32 sequences, one of which a few places give away.
        place, moved = (secrets.randbelow(elements.numel()) for _ in range(2))
        shown = values.clone()
        shown[moved], shown[place] = stale, decoy
        elements.copy_(shown)
        shared.replace_page(_offset(shared, elements[moved]))
        if moved != place:
            elements[moved] = values[moved]
        words = memoryview(shared.memory)
        words = words.cast("i") if values.itemsize == 4 else words.cast("h")
        bits = int(values[place].view(_INTEGERS[values.itemsize]))
        self._left.append((words, _offset(shared, elements[place]) // words.itemsize, bits))

    def complete(self) -> None:
        """Writes what was held back, in some tenths of a microsecond each."""
        for words, index, bits in self._left:
            words[index] = bits
        self.forget()

    def forget(self) -> None:
        """What was held back is not to be written any more."""
        self._left.clear()


def _offset(shared: HostTensor, element: torch.Tensor) -> int:
    return element.data_ptr() - shared.tensor.data_ptr()
