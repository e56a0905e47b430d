"""Helpers for authors of assignments: mistakes in two lines, and the usual defaults."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor

from grader.kit.inputs import Distributions, maker
from grader.model.assignment import Assignment, Inputs, Mistake, Parameter, Scalar, Work, extents

EPS16, EPS32 = 2.0**-10, 2.0**-23
"""The distance from 1 to the next number."""
SMALLEST16, SMALLEST_NORMAL32 = 2.0**-24, 2.0**-126
"""The smallest positive number of fp16, and the smallest normal one of fp32."""
ITEM_BYTES = {"float32": 4, "float16": 2, "uint8": 1}

Rows = Callable[[Inputs, Any], Inputs]


def mistakes(*found: Mistake | tuple[str, str, Callable[..., Any]]) -> tuple[Mistake, ...]:
    """Makes mistakes of (name, hint, wrong answer) and of families of mistakes."""
    return tuple(
        one if isinstance(one, Mistake) else Mistake(name=one[0], hint=one[1], answer=one[2]) for one in found)


def rows_of(*names: str) -> Rows:
    """Makes `rows` for an output whose row i depends on row i of these inputs, and on all of the others."""
    def rows(inputs: Inputs, index: slice | Tensor) -> Inputs:
        return {name: value[index] if name in names else value for name, value in inputs.items()}

    return rows


def assignment(
    *, parameters: Sequence[Parameter], distributions: Distributions, rows: Rows | str | None = None,
    work: Callable[[Mapping[str, int]], Work] | None = None, flop: Callable[[Mapping[str, int]], float] | None = None,
    **more: Any,
) -> Assignment:
    """Makes an `Assignment` whose inputs are drawn from `distributions`.

    `rows` may be the names of the inputs that are used row by row. Without `work`, each tensor is read or written once,
    and `flop` is the arithmetic of matrix products.
    """
    def least(sizes: Mapping[str, int]) -> Work:
        tensors = [p for p in parameters if not isinstance(p, Scalar)]
        moved = sum(math.prod(extents(p, sizes)) * ITEM_BYTES[p.dtype] for p in tensors)
        return Work(bytes=moved, flop=0 if flop is None else flop(sizes))

    return Assignment(
        parameters=tuple(parameters), distributions=distributions, make_inputs=maker(parameters, distributions),
        rows=rows_of(*rows.split()) if isinstance(rows, str) else rows, work=work or least, **more)
