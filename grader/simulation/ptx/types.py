"""PTX's types as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.plan.limits import Unsupported

__all__ = ["DTYPES", "Array", "Unsupported"]

Array = Any
"""A NumPy array, or a NumPy scalar, which arithmetic returns if no axis is left."""


DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(kind)
    for name, kind in {
        "u8": "u1", "s8": "i1", "b8": "u1", "u16": "u2", "s16": "i2", "b16": "u2",
        "u32": "u4", "s32": "i4", "b32": "u4",
        "u64": "u8", "s64": "i8", "b64": "u8", "f16": "f2", "f32": "f4", "f64": "f8", "pred": "?", "cc": "?",
        # No NumPy type is like these: they travel as bit patterns.
        "bf16": "u2", "f16x2": "u4", "bf16x2": "u4", "u16x2": "u4", "s16x2": "u4", "tf32": "u4",
        "e4m3x2": "u2", "e5m2x2": "u2",
    }.items()
}  # fmt: skip
"""The dtype of a value of each type; "cc" is the carry flag of extended-precision arithmetic."""
