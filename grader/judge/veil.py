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
    """Secret bits for each column, the same for all rows: few enough to stay in a cache.

    From the distribution of the values below, sign and exponent of a column's bits could be guessed, and no more than
    that: most of the fraction stays open. What commutes with an exclusive or by columns, moving rows about, can be done
    ahead; it saves none of the time that a copy takes.
    """

    def __init__(self, generator: torch.Generator) -> None:
        self._generator = generator
        self._tensors: list[Tensor] = []
        self._bits = torch.zeros(0, dtype=torch.int32, device=generator.device)

    def cover(self, tensors: Sequence[Tensor]) -> None:
        """From now on it is for these: contiguous, of any shapes, on the generator's device."""
        self._tensors = [_words(tensor) for tensor in tensors]
        longest = max((tensor.shape[-1] * tensor.element_size() for tensor in tensors), default=0)
        # Whole words of the widest kind.
        self._bits = torch.zeros(2 * -(-longest // 8), dtype=torch.int32, device=self._generator.device)

    def renew(self) -> None:
        """Other bits."""
        self._bits.random_(-(2**31), 2**31, generator=self._generator)

    def write(self, number: int, contents: Tensor) -> None:
        """`contents` into tensor `number`, under the veil."""
        target = self._tensors[number]
        # Wider words than elements have to begin where a tensor's memory does.
        whole = contents.contiguous() if contents.storage_offset() == 0 else contents.clone()
        torch.bitwise_xor(_words(whole), self._over(target), out=target)

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
