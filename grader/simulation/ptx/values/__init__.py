"""PTX's pure instructions as functions of NumPy's arrays: `PURE`.

Types are PTX's names (`ptx.lanes.DTYPES`). Values of f16 are float16; bf16, f16x2 and bf16x2 are bit patterns.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from grader.simulation.ptx.lanes import Unsupported
from grader.simulation.ptx.values.conversions import CONVERSION_MAKERS
from grader.simulation.ptx.values.floats import FLOAT_MAKERS, HALF_MAKERS, HALVES
from grader.simulation.ptx.values.integers import BYTE_MAKERS, CARRY_MAKERS, INTEGER_MAKERS
from grader.simulation.ptx.values.logic import COMPARISON_MAKERS, LOGIC_MAKERS
from grader.simulation.ptx.values.rules import Maker, Rule, Words

__all__ = ["PURE"]


def _by_type(name: str) -> Maker:
    """Return the maker of an instruction that integers, floats and halves share, by its last modifier."""

    def make(modifiers: Words) -> Rule:
        kind = modifiers[-1] if modifiers else ""
        if "cc" in modifiers or name in ("addc", "subc", "madc"):
            maker = CARRY_MAKERS.get(name)
        elif kind in HALVES.split():
            maker = HALF_MAKERS.get(name)
        else:
            maker = (FLOAT_MAKERS if kind in ("f32", "f64") else INTEGER_MAKERS).get(name)
        if maker is None:
            raise Unsupported(f"{name}.{'.'.join(modifiers)}")
        return maker(modifiers)

    return make


_SHARED = {name: _by_type(name) for name in sorted({*CARRY_MAKERS, *INTEGER_MAKERS, *FLOAT_MAKERS, *HALF_MAKERS})}
# A loop needs the same rules again and again.
PURE: Mapping[str, Maker] = {name: lru_cache(512)(maker) for name, maker in {
    **_SHARED, **LOGIC_MAKERS, **COMPARISON_MAKERS, **CONVERSION_MAKERS, **BYTE_MAKERS}.items()}
"""Makers of instructions' rules, by the instruction's name."""
