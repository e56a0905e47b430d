"""PTX's pure instructions as functions of NumPy's arrays: `PURE`.

Types are PTX's names (`ptx.types.DTYPES`). Values of f16 are float16; bf16, f16x2 and bf16x2 are bit patterns.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.simulation.ptx.types import Unsupported
from grader.simulation.ptx.values.comparisons import COMPARISON_MAKERS
from grader.simulation.ptx.values.conversions import CONVERSION_MAKERS
from grader.simulation.ptx.values.floats import FLOAT_MAKERS
from grader.simulation.ptx.values.halves import HALF_MAKERS, HALVES
from grader.simulation.ptx.values.integers import BYTE_MAKERS, CARRY_MAKERS, INTEGER_MAKERS
from grader.simulation.ptx.values.logic import LOGIC_MAKERS
from grader.simulation.ptx.values.rules import Maker, Pure, Rule, Words, pure

__all__ = ["PURE", "Pure"]


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


_ARITHMETIC = sorted({*CARRY_MAKERS, *INTEGER_MAKERS, *FLOAT_MAKERS, *HALF_MAKERS})
PURE: Mapping[str, Pure] = {
    **{name: pure(_by_type(name)) for name in _ARITHMETIC},
    **{name: pure(maker) for makers in (LOGIC_MAKERS, COMPARISON_MAKERS, CONVERSION_MAKERS, BYTE_MAKERS)
       for name, maker in makers.items()},
}
"""Instructions by name."""
