"""Errors of approximate instructions, as the PTX ISA 9.0 documents them for each (9.7.3, 9.7.4)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.simulation.ptx.types import Array
from grader.simulation.ptx.values.halves import CODES
from grader.simulation.ptx.values.rules import Words

Erring = Callable[[Array, int], Array]
"""A function from exact results, and a time that varies the errors, to results that are as far off as they may be."""

# rcp (9.7.3.13); div.approx and div.full (9.7.3.8); ex2 (9.7.3.21).
_ULPS = {"rcp": 1, "div": 2, "ex2": 2}
# 9.7.3.15, 16, 22 and 20: lg2 of numbers up to 0.5 and from 2 on, where this is more than its absolute error.
_RELATIVE = {"sqrt": 2.0**-23, "rsqrt": 2.0**-22.9, "tanh": 2.0**-11, "lg2": 2.0**-22}
# lg2 between 0.5 and 2 (9.7.3.20). sin and cos (9.7.3.18, 19) of angles up to a turn; up to fifty, 2^-14.7 is allowed.
_ABSOLUTE = {"lg2": 2.0**-22, "sin": 2.0**-20.5, "cos": 2.0**-20.5}
# Relative errors, documented for ex2 (9.7.4.10). The documented errors of tanh (9.7.4.9) are absolute, and these stay
# below them: an absolute error leaves nothing of small numbers, and would accuse every kernel that takes their tanh.
_HALVES = {("ex2", "f16"): 2.0**-9.9, ("ex2", "bf16"): 2.0**-7,
           ("tanh", "f16"): 2.0**-10.987, ("tanh", "bf16"): 2.0**-8}
_BOUNDED = ("sin", "cos", "tanh")
# These are exact at 0, by the tables of special inputs, and kernels rely on it: a running maximum that stays multiplies
# its sum by exp(0).
_ONE_AT_ZERO = ("ex2", "cos")


def documented(name: str, modifiers: Words) -> Erring | None:
    """Return the error of an instruction; None if its result is exact, or correctly rounded."""
    kind = modifiers[-1] if modifiers else ""
    if not {"approx", "full"} & set(modifiers):
        return None
    if kind == "f32" and any(name in bounds for bounds in (_ULPS, _RELATIVE, _ABSOLUTE)):
        ulps, relative, absolute = (bounds.get(name, 0) for bounds in (_ULPS, _RELATIVE, _ABSOLUTE))
        return lambda value, time: _off(value, time, name, np.maximum(
            np.maximum(ulps * np.spacing(np.abs(value)).astype(np.float64), relative * np.abs(value)), absolute))
    if (bound := _HALVES.get((name, kind.removesuffix("x2")))) is None:
        return None
    code = CODES[kind]

    def half(value: Array, time: int) -> Array:
        exact = code.decode(value)
        return code.encode(_off(exact, time, name, bound * np.abs(exact)))

    return half


def _off(value: Array, time: int, name: str, step: Array) -> Array:
    """Return results that are off by `step`, up or down as their bits decide, so that some are off in the harmful
    direction. Numbers that are not normal stay."""
    bits = value.view(np.uint32) ^ np.uint32(time * 0x9E3779B1 & 0xFFFFFFFF)
    up = (bits * np.uint32(0x85EBCA6B)) >> np.uint32(31) == 0
    wide = value.astype(np.float64)
    moved = np.where(up, wide + step, wide - step).astype(np.float32)
    # Rounding must not take a result further off than documented.
    moved = np.where(np.abs(moved - wide) > step, np.nextafter(moved, value), moved)
    if name in _BOUNDED:
        moved = np.clip(moved, np.float32(-1), np.float32(1))
    ordinary = np.isfinite(value) & (np.abs(value) >= np.finfo(np.float32).smallest_normal)
    if name in _ONE_AT_ZERO:
        ordinary &= value != 1
    return np.where(ordinary, moved, value)
