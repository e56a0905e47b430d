"""Rules: the effect of an instruction with its modifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from grader.simulation.ptx.lanes import DTYPES, Array, Unsupported

Words = tuple[str, ...]
"""The modifiers of an instruction: ("rn", "ftz", "f32") for `fma.rn.ftz.f32`."""


class Rule(NamedTuple):
    """Rule of an instruction without side effects: the types of its sources and of its results, and the function from
    sources to results. The type "cc" is the carry flag. A caller may drop trailing results that a program leaves
    unnamed.

    The function takes arrays of the sources' dtypes that broadcast, and returns one array or a tuple. It never raises,
    whatever the values are; a caller silences NumPy's warnings.
    """

    sources: Words
    results: Words
    function: Callable[..., Any]


Maker = Callable[[Words], Rule]
"""A function from an instruction's modifiers to its rule. Raises Unsupported for modifiers that are not known."""


def parse(modifiers: Words, flags: str = "", types: str = "", count: int = 1) -> tuple[frozenset[str], Words]:
    """Split modifiers into flags and the last `count` ones, which are types. Raises Unsupported for any that are not
    among `flags` and `types`."""
    given, kinds = modifiers[: len(modifiers) - count], modifiers[len(modifiers) - count :]
    if len(modifiers) < count or not set(given) <= set(flags.split()) or not set(kinds) <= set(types.split()):
        raise Unsupported("an instruction with the modifiers ." + ".".join(modifiers))
    return frozenset(given), kinds


def one_of(flags: frozenset[str], choices: str, default: str | None = None) -> str:
    """Return the one of `choices` that is among `flags`, or the default if none is. Raises Unsupported for several of
    them, or for none without a default."""
    chosen = flags & set(choices.split())
    if len(chosen) > 1 or (not chosen and default is None):
        raise Unsupported("an instruction with the modifiers ." + ".".join(sorted(flags)))
    return next(iter(chosen), str(default))


def whole(kind: str) -> np.dtype[Any]:
    """Return the unsigned dtype as wide as a type."""
    return np.dtype(f"u{DTYPES[kind].itemsize}")


def width(kind: str) -> int:
    """Return the width of a type in bits."""
    return DTYPES[kind].itemsize * 8


def halves(packed: Array) -> Array:
    """Return the two 16-bit halves of 32-bit words, low one first, along a new last axis, as uint16."""
    return np.asarray(packed)[..., None].view(np.uint16)


def joined(pairs: Array) -> Array:
    """Join pairs of 16-bit values of any dtype, along the last axis, into 32-bit words: the inverse of `halves`."""
    return np.ascontiguousarray(pairs).view(np.uint32)[..., 0]
