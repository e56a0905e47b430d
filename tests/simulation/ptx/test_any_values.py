"""Any bits in any shape: no instruction warns, raises or returns another type."""

import warnings
from typing import Any

import numpy as np

from grader.simulation.ptx.lanes import DTYPES
from grader.simulation.ptx.values import PURE
from tests.rows import each_row
from tests.simulation.ptx import test_float_values, test_integer_values
from tests.simulation.ptx.exact import evaluate

INSTRUCTIONS = sorted(
    {row[0] for table in (test_float_values.TABLE, test_integer_values.TABLE) for row in table}
    | {f"{name}.{mode}.{kind}" for kind in ("f32", "f64") for mode in test_float_values.MODES
       for name in ("add", "mul", "fma", "div", "sqrt", "rcp")}
    | {f"{name}.{kind}" for name, _, kinds, _ in test_integer_values.EXACT for kind in kinds}
)  # fmt: skip


def anything(kind: str, shape: tuple[int, ...], random: np.random.Generator) -> Any:
    dtype = DTYPES[kind]
    if dtype.kind == "b":
        return np.asarray(random.integers(0, 2, shape)).astype(bool)
    raw = random.integers(0, 2**63, shape, np.uint64) << np.uint64(1) >> np.uint64(64 - 8 * dtype.itemsize)
    return np.asarray(raw).astype(f"u{dtype.itemsize}").view(dtype)


@each_row("instruction", INSTRUCTIONS)
def test_any_bits(instruction: str) -> None:
    name, *modifiers = instruction.split(".")
    words, random = tuple(modifiers), np.random.default_rng(len(instruction))
    sources, results, function = PURE[name](words)
    shapes: list[tuple[int, ...]] = [(), (1, 1), (3, 1), (3, 40), (0, 40)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for trial in range(12):
            chosen = [shapes[(trial * 7 + n) % 5 if trial > 4 else trial] for n in range(len(sources))]
            if (0, 40) in chosen:
                # No block at all goes with no other number of them than one.
                chosen = [shape if shape in ((), (1, 1), (0, 40)) else (1, 1) for shape in chosen]
            given = [anything(kind, shape, random) for kind, shape in zip(sources, chosen, strict=True)]
            result = evaluate(function, given)
            for kind, value in zip(results, result, strict=True):
                assert value.dtype == DTYPES[kind]
                assert np.broadcast_shapes(value.shape, *chosen) == np.broadcast_shapes(*chosen)
