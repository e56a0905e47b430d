"""Contents of host inputs while a call is recorded: each word is a token, from which the seed recovers its place.

See builder/runtime/tokens.c, which makes them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy
import numpy.typing

WORD = 4
_FIRST, _SECOND = 0x9E3779B1, 0x85EBCA6B
_PAGE = 4096
_LARGEST, _SMALLEST = 1, 2
TOKEN_SIZES = 3
"""The sizes of tokens, of which the last two bits of a seed choose one: see builder/runtime/tokens.c."""
_MASK = (1 << 64) - 1
Words = numpy.typing.NDArray[numpy.uint32]
Places = numpy.typing.NDArray[numpy.int64]


def _mixed(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


@dataclass(frozen=True)
class TokenSource:
    """Host input of a call: `number` of its buffer in the recordings, index `given` of its parameter, size in bytes."""

    number: int
    given: int
    call: int
    bytes: int

    @property
    def words(self) -> int:
        return self.bytes // WORD

    def places(self, words: Words, seed: int) -> Places:
        """Return the index of the input's word for each token; -1 for a word that is no token. The last page also holds
        tokens past the input's end: their indices are `words` or more."""
        bits = 3
        while bits < 7 and self.bytes > WORD << (24 + bits):
            bits += 1
        key = _mixed((seed + _mixed(64 * self.call + self.given)) & _MASK) | 1
        lowest = {_LARGEST: 256 - (1 << bits), _SMALLEST: 0}.get(seed & 3, 127 - (1 << bits - 1))
        exponent = (words >> 23 & 0xFF).astype(numpy.int64) - lowest
        x = (words & 0x7FFFFF).astype(numpy.uint64) | (words >> 31).astype(numpy.uint64) << numpy.uint64(23)
        x |= (exponent & ((1 << bits) - 1)).astype(numpy.uint64) << numpy.uint64(24)
        size = 1 << 24 + bits
        half, mask = numpy.uint64((25 + bits) // 2), numpy.uint64(size - 1)
        for factor, added in ((_SECOND, key >> 32), (_FIRST, key)):
            x ^= x >> half
            x = (x - numpy.uint64(added & (size - 1))) * numpy.uint64(pow(factor, -1, size)) & mask
        indices = x.astype(numpy.int64)
        wrong = (exponent < 0) | (exponent >= 1 << bits) | (indices >= -(-self.bytes // _PAGE) * _PAGE // WORD)
        return numpy.where(wrong, -1, indices)
