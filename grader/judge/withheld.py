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
from typing import Any

from numpy.typing import NDArray

from grader.assignment import Renewal
from grader.judge.buffers import HostTensor


class Withheld:
    """The elements that are still to be written."""

    def __init__(self) -> None:
        self._left: list[tuple[NDArray[Any], int, float]] = []

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
        shared.replace_page(elements[moved].data_ptr() - shared.tensor.data_ptr())
        if moved != place:
            elements[moved] = values[moved]
        # NumPy writes an element in less than a tenth of a microsecond, torch in one and a half.
        self._left.append((elements.numpy(), place, values[place].item()))

    def complete(self) -> None:
        """Writes what was held back, in about a tenth of a microsecond each."""
        for elements, place, value in self._left:
            elements[place] = value
        self.forget()

    def forget(self) -> None:
        """What was held back is not to be written any more."""
        self._left.clear()
