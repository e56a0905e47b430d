"""The names that an `assignment.py` imports. The families of mistakes and checks are not among them: each is a module
beside this one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from grader.course.assignment import Answer, Assignment, Baseline, Mistake, Renewal, Work
from grader.course.cases import Case, cases, dtype_of, shape_of, timed
from grader.course.parameters import Input, Inputs, Output, Parameter, Scalar, Update
from grader.kit.inputs import Bits, Bytes, Distribution, Distributions, Loud, Number, Outliers, Peaks, Spread, maker
from grader.kit.whole import Bools, Distinct, Fixed, Indices, Offsets, OneOf, Whole
from grader.plan.plan import ITEM_BYTES
from grader.results.structure import CaseFacts, Condition, Measure

__all__ = [
    "EPS16", "EPS32", "SMALLEST16", "SMALLEST_NORMAL32", "Baseline", "Bits", "Bools", "Bytes", "Case", "CaseFacts",
    "Condition", "Distinct", "Distribution", "Fixed", "Indices", "Input", "Inputs", "Loud", "Measure", "Mistake",
    "Number", "Offsets", "OneOf", "Outliers", "Output", "Peaks", "Renewal", "Scalar", "Spread", "Update", "Whole",
    "Work", "assignment", "cases", "eps", "mistakes", "rounding", "timed",
]

EPS16, EPS32 = 2.0**-10, 2.0**-23
"""The machine epsilon of fp16 and of fp32: the distance from 1 to the next number."""
SMALLEST16, SMALLEST_NORMAL32 = 2.0**-24, 2.0**-126
"""The smallest fp16 number above zero, and the smallest normal fp32 number."""

Rows = Callable[[Inputs, Any], Inputs]
Tolerance = Callable[[Inputs, Any], Any]


def eps(dtype: torch.dtype) -> float:
    """Return the machine epsilon of a float dtype, the distance from 1 to the next number: 2⁻⁷ for bfloat16, EPS16 for
    float16."""
    return torch.finfo(dtype).eps


def rounding(answer: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the absolute error allowed for each element (float64) of an `answer` that is rounded once to a float
    dtype: twice the error of rounding to the nearest."""
    info = torch.finfo(dtype)
    # Subnormal numbers lie as far apart as the smallest normal ones. GPUs may flush subnormals of float32 and bfloat16
    # to zero.
    least = info.smallest_normal * (1 if dtype in (torch.float32, torch.bfloat16) else info.eps)
    return info.eps * answer.abs() + least


def mistakes(*given: Mistake | tuple[str, str, Callable[..., Any]], output: str = "") -> tuple[Mistake, ...]:
    """Return the mistakes of an assignment. Each is (name, hint, wrong answer), or a `Mistake` from a family. `output`
    names the output that they are about, if there are several; "" is the first. For several names, "values indices", a
    wrong answer is a sequence with an answer or None for each output."""
    made = [mistake if isinstance(mistake, Mistake) else Mistake(name=mistake[0], hint=mistake[1], answer=mistake[2])
            for mistake in given]
    names = output.split()
    if len(names) > 1:
        return tuple(mistake.model_copy(update={"output": name, "answer": partial(_part, mistake.answer, at)})
                     for mistake in made for at, name in enumerate(names))
    return tuple(mistake if mistake.output or not output else mistake.model_copy(update={"output": output})
                 for mistake in made)


def _part(answer: Callable[..., Any], at: int, **inputs: Any) -> Any:
    answers = answer(**inputs)
    return None if answers is None else answers[at]


@cache
def rows_of(*names: str) -> Rows:
    """Return the rows of an assignment in which row i of the output depends on row i of these inputs, and on all of the
    other inputs."""
    def rows(inputs: Inputs, index: slice | Tensor) -> Inputs:
        return {name: value[index] if name in names else value for name, value in inputs.items()}

    return rows


def assignment(
    *, parameters: Sequence[Parameter], distributions: Distributions,
    work: Callable[[Mapping[str, int]], Work] | None = None, flop: Callable[[Mapping[str, int]], float] | None = None,
    tolerance: Tolerance | Mapping[str, Tolerance] | None = None,
    rows: Rows | str | Mapping[str, Rows | str] | None = None,
    **more: Any,
) -> Assignment:
    """Make an `Assignment` whose inputs are drawn from `distributions`.

    `tolerance`, `rows`, `columns` and `spot_check` hold for every output, or are mappings by the output's name; an
    output without a tolerance must match exactly, and the others are optional. `rows` may be the names of the inputs
    that are taken row by row. Without `work`, each tensor counts as read or written once, an Update as both, and
    `flop(sizes)` gives the arithmetic of matrix products.
    Raises ValueError.
    """
    def least(case: Case) -> Work:
        if work is not None:
            return work(case.sizes)
        tensors = [p for p in parameters if not isinstance(p, Scalar)]
        moved = sum(math.prod(shape_of(p, case)) * ITEM_BYTES[dtype_of(p, case)] * (2 if isinstance(p, Update) else 1)
                    for p in tensors)
        return Work(bytes=moved, flop=0 if flop is None else flop(case.sizes))

    outputs = [p.name for p in parameters if isinstance(p, Output | Update)]
    judged = {"tolerance": tolerance, "rows": rows, **{key: more.pop(key, None) for key in ("columns", "spot_check")}}
    of_output: dict[str, dict[str, Any]] = {
        name: {key: rows_of(*value.split()) if isinstance(value, str) else value for key, value in rules.items()}
        for name, rules in _by_output(judged, outputs).items()}
    alone = of_output[outputs[0]] if len(outputs) == 1 else {}
    return Assignment(
        parameters=tuple(parameters), distributions=distributions, make_inputs=maker(parameters, distributions),
        work=least, **alone, answers={} if alone else {name: Answer(**rules) for name, rules in of_output.items()},
        **more)


def _by_output(judged: Mapping[str, Any], outputs: Sequence[str]) -> dict[str, dict[str, Any]]:
    for key, given in judged.items():
        if isinstance(given, Mapping) and (unknown := set(given) - set(outputs)):
            raise ValueError(f"{key}: {min(unknown)} is no output; name one of {', '.join(outputs)}")
    return {name: {key: given.get(name) if isinstance(given, Mapping) else given for key, given in judged.items()}
            for name in outputs}
