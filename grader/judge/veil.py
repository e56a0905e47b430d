"""Contents that nobody can use before all of them are in place.

What a submission has queued on a GPU goes on while its processes are stopped, and may wait there for memory to change:
with inputs written one after another, all but the last could be worked on before the clock starts. So they are written
under a veil, an exclusive or with secret bits, which is taken off all of them in one pass, short and as long each time.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

WIDTHS = ((8, torch.int64), (4, torch.int32), (2, torch.int16))


class Veil:
    """Over contiguous tensors of any shapes, all on one device, with secret bits of its own for each column: few enough
    to stay in a cache, and too many for the values below each to be guessed from their distribution."""

    def __init__(self, tensors: Sequence[Tensor], generator: torch.Generator) -> None:
        self._tensors = [_words(tensor) for tensor in tensors]
        self._generator = generator
        longest = max((tensor.shape[-1] * tensor.element_size() for tensor in tensors), default=0)
        # Whole words of the widest kind.
        self._bits = torch.zeros(2 * -(-longest // 8), dtype=torch.int32, device=generator.device)

    def renew(self) -> None:
        """Other bits."""
        self._bits.random_(-(2**31), 2**31, generator=self._generator)

    def write(self, number: int, contents: Tensor) -> None:
        """`contents` into tensor `number`, under the veil."""
        target = self._tensors[number]
        torch.bitwise_xor(_words(contents.contiguous()), self._over(target), out=target)

    def turn(self, number: int) -> None:
        """Takes the veil off tensor `number`, or puts it on again."""
        target = self._tensors[number]
        target.bitwise_xor_(self._over(target))

    def _over(self, words: Tensor) -> Tensor:
        return self._bits.view(words.dtype)[: words.shape[-1]]


def _words(tensor: Tensor) -> Tensor:
    """A view as integers, of as many bytes each as divide a row."""
    row = tensor.shape[-1] * tensor.element_size()
    return tensor.view(next(dtype for width, dtype in WIDTHS if row % width == 0))
