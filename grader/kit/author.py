"""What an author of assignments writes with: sizes by their names, mistakes in two lines, and the usual defaults."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from torch import Tensor

from grader.assignment import Assignment, Case, Inputs, Mistake, Parameter, Scalar, TimedCase, Work, extents
from grader.kit.inputs import Distributions, maker

EPS16, EPS32 = 2.0**-10, 2.0**-23
"""The distance from 1 to the next number."""
SMALLEST16, SMALLEST_NORMAL32 = 2.0**-24, 2.0**-126
"""The smallest number above zero that fp16 has, and the smallest that fp32 has with all its digits."""
ITEM_BYTES = {"float32": 4, "float16": 2, "uint8": 1}

Rows = Callable[[Inputs, Any], Inputs]


def cases(
    sizes: str, names: str, *, gpu: str = "", visibility: Literal["public", "hidden"] = "public"
) -> tuple[Case, ...]:
    """Cases by their names: `cases("M N", "5x9 67x127-extreme", gpu="8192x8192")` has three, of which the last is for a
    GPU alone. What follows a dash names the case's values. Hidden ones stand in a file of their own, `hidden.toml`."""
    def case(name: str, needs: Literal["any", "gpu"]) -> Case:
        return Case(name=name, sizes=_sizes(sizes, name), values=name.partition("-")[2] or "mixed", needs=needs,
                    visibility=visibility)

    return (*(case(name, "any") for name in names.split()), *(case(name, "gpu") for name in gpu.split()))


def timed(sizes: str, *names: str) -> tuple[TimedCase, ...]:
    """Timed cases: each of `names` is one, then its smaller sizes for devices with less memory, the largest first."""
    return tuple(
        TimedCase(name=first, sizes=_sizes(sizes, first), smaller=tuple(_sizes(sizes, name) for name in smaller))
        for first, *smaller in (one.split() for one in names))


def mistakes(*found: Mistake | tuple[str, str, Callable[..., Any]]) -> tuple[Mistake, ...]:
    """Each is a name, a hint and the wrong answer, or comes from a family of them."""
    return tuple(
        one if isinstance(one, Mistake) else Mistake(name=one[0], hint=one[1], answer=one[2]) for one in found)


def rows_of(*names: str) -> Rows:
    """Row i of the output takes row i of these inputs, and all of the others."""
    def rows(inputs: Inputs, index: slice | Tensor) -> Inputs:
        return {name: value[index] if name in names else value for name, value in inputs.items()}

    return rows


def assignment(
    *, parameters: Sequence[Parameter], distributions: Distributions, rows: Rows | str | None = None,
    work: Callable[[Mapping[str, int]], Work] | None = None, flop: Callable[[Mapping[str, int]], float] | None = None,
    **more: Any,
) -> Assignment:
    """An `Assignment` whose inputs are drawn from `distributions`.

    `rows` may be the names of the inputs that are taken row by row. Without `work` each tensor is read or written
    once, and `flop` tells the arithmetic of matrix products.
    """
    def least(sizes: Mapping[str, int]) -> Work:
        tensors = [p for p in parameters if not isinstance(p, Scalar)]
        moved = sum(math.prod(extents(p, sizes)) * ITEM_BYTES[p.dtype] for p in tensors)
        return Work(bytes=moved, flop=0 if flop is None else flop(sizes))

    return Assignment(
        parameters=tuple(parameters), distributions=distributions, make_inputs=maker(parameters, distributions),
        rows=rows_of(*rows.split()) if isinstance(rows, str) else rows, work=work or least, **more)


def _sizes(sizes: str, name: str) -> dict[str, int]:
    names, found = sizes.split(), name.partition("-")[0].split("x")
    if len(found) != len(names) or not all(size.isdecimal() for size in found):
        raise ValueError(f"case {name!r}: {len(names)} sizes expected ({'x'.join(names)})")
    return dict(zip(names, map(int, found), strict=True))
