"""Helpers for authors of assignments: mistakes in two lines, and the usual defaults."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor

from grader.kit.inputs import Distributions, maker
from grader.model.assignment import Assignment, Mistake, Work
from grader.model.parameters import Inputs, Parameter, Scalar, extents

EPS16, EPS32 = 2.0**-10, 2.0**-23
"""The distance from 1 to the next number in fp16 and fp32."""
SMALLEST16, SMALLEST_NORMAL32 = 2.0**-24, 2.0**-126
"""The smallest fp16 number above zero, and the smallest normal fp32 number."""
ITEM_BYTES = {"float32": 4, "float16": 2, "uint8": 1}

Rows = Callable[[Inputs, Any], Inputs]


def mistakes(*given: Mistake | tuple[str, str, Callable[..., Any]]) -> tuple[Mistake, ...]:
    """Mistakes of an assignment: each is (name, hint, wrong answer), or a `Mistake` from a family."""
    return tuple(
        mistake if isinstance(mistake, Mistake) else Mistake(name=mistake[0], hint=mistake[1], answer=mistake[2])
        for mistake in given)


def rows_of(*names: str) -> Rows:
    """The rows of an assignment whose output row i depends on row i of these inputs, and on the whole other inputs."""
    def rows(inputs: Inputs, index: slice | Tensor) -> Inputs:
        return {name: value[index] if name in names else value for name, value in inputs.items()}

    return rows


def assignment(
    *, parameters: Sequence[Parameter], distributions: Distributions, rows: Rows | str | None = None,
    work: Callable[[Mapping[str, int]], Work] | None = None, flop: Callable[[Mapping[str, int]], float] | None = None,
    **more: Any,
) -> Assignment:
    """Makes an `Assignment` whose inputs are drawn from `distributions`.

    `rows` may be the names of the inputs that are taken row by row. Without `work` each tensor is read or written
    once, and `flop` gives the arithmetic of matrix products.
    """
    def least(sizes: Mapping[str, int]) -> Work:
        tensors = [p for p in parameters if not isinstance(p, Scalar)]
        moved = sum(math.prod(extents(p, sizes)) * ITEM_BYTES[p.dtype] for p in tensors)
        return Work(bytes=moved, flop=0 if flop is None else flop(sizes))

    return Assignment(
        parameters=tuple(parameters), distributions=distributions, make_inputs=maker(parameters, distributions),
        rows=rows_of(*rows.split()) if isinstance(rows, str) else rows, work=work or least, **more)
