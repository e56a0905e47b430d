"""Checks of an assignment's cases and of their inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torch import Tensor

from grader.authoring.subject import SEEDS, Subject
from grader.course.cases import Case, dtype_of, shape_of
from grader.course.parameters import Input, Scalar, Update, extents, given
from grader.judging.answers.compare import same_bits
from grader.judging.running.buffers import DTYPES
from grader.kit.whole import Fixed, Values

# Seeds, each of which stands for a grading.
GRADINGS = range(100, 108)
# The largest block size that a student may choose. Some case must need several such blocks.
LARGE_BLOCK = 4096


def cases(subject: Subject) -> Iterator[str]:
    assignment, sizes = subject.assignment, [case.sizes for case in subject.cases]
    tensors = [p for p in assignment.parameters if not isinstance(p, Scalar)]
    largest = max(math.prod(shape_of(tensor, case)) for case in subject.cases for tensor in tensors)
    free = [{name: value for name, value in size.items() if name not in assignment.choices} for size in sizes]
    for name, value in sizes[0].items():
        if value != (least := _least(subject, name)):
            yield (f"cases: {name} in the first case must be {least}, its least, so that the simplest failure is "
                   "reported first")
    if not any(value > 1 and not value & (value - 1) for size in sizes for value in size.values()):
        yield "cases: none has a size that is a power of two; add one"
    if not any(value > 2 and value & (value - 1) for size in free for value in size.values()):
        yield "cases: none has a size that is no power of two, so masks are not tested; add one"
    for name, allowed in assignment.choices.items():
        if missing := set(allowed) - {size[name] for size in sizes}:
            yield f"cases: {name} is {min(missing)} in none, though it may be; add one, or take it out of choices"
    if largest <= LARGE_BLOCK:
        yield f"cases: the largest tensor has {largest:,} elements, which fit in one block; add one with more than " \
              f"{LARGE_BLOCK:,}"
    if len(assignment.cases) == len(subject.cases):
        yield 'cases: none is for a GPU alone, with sizes beyond int32 or a grid; add one (gpu="8192x8192")'
    if not assignment.timed:
        yield "timed: no case, so speed cannot be measured; add one"
    for timed in assignment.timed:
        for tensor in tensors:
            if (dtype := dtype_of(tensor, timed)) not in {dtype_of(tensor, case) for case in subject.cases}:
                yield f"timed: {tensor.name} is {dtype} in {timed.name}, and in no case that is checked; add one"


def _least(subject: Subject, name: str) -> int:
    """Return the least value that a size may have while the other sizes are those of the first case."""
    first, allowed = subject.cases[0], subject.assignment.choices.get(name, range(1, subject.cases[0].sizes[name] + 1))
    tensors = [p for p in subject.assignment.parameters if not isinstance(p, Scalar)]
    return next(value for value in sorted(allowed) if all(
        extent > 0 for tensor in tensors for extent in extents(tensor, {**first.sizes, name: value})))


def drawing(subject: Subject) -> Iterator[str]:
    """Check that inputs are as declared, follow from the seed, and differ."""
    differs, numbers = dict[str, bool](), dict[str, set[object]]()
    for case in subject.cases:
        inputs, same, redrawn = (subject.inputs(case, seed) for seed in (SEEDS[0], SEEDS[0], SEEDS[1]))
        named = subject.assignment.distributions(case) if subject.assignment.distributions is not None else {}
        for p in given(subject.assignment.parameters):
            value, differ = inputs[p.name], not _equal(inputs[p.name], redrawn[p.name])
            problem = _number_problem(p, value) if isinstance(p, Scalar) else _tensor_problem(p, case, value)
            if not problem and not _equal(value, same[p.name]):
                problem = "its contents must follow from the seed"
            # Two draws of a few whole numbers may be equal by chance.
            if not problem and not differ and not isinstance(named.get(p.name), Values):
                problem = "its contents must follow from the seed, another seed gives others"
            if problem:
                yield f"{case.name}: {p.name}: {problem}"
            if isinstance(p, Scalar):
                numbers.setdefault(p.name, set()).update((value, redrawn[p.name]))
            elif not isinstance(named.get(p.name), Fixed):
                differs[p.name] = differs.get(p.name, False) or differ
    for name, drawn in numbers.items():
        if len(drawn) == 1:
            yield f"{name}: {drawn.pop()} in every case, so a kernel that ignores it passes; give it another value, too"
        else:
            yield from _left_to_luck(subject, name)
    for name, differ in differs.items():
        if not differ:
            yield f"{name}: its contents are the same for every seed; draw them from the generator"


def _left_to_luck(subject: Subject, name: str) -> Iterator[str]:
    """Check that each grading has two values of a scalar, and both signs if it may have both."""
    gradings = [[subject.inputs(case, seed)[name] for case in subject.cases] for seed in GRADINGS]
    remedy = f'give it a case of its own: "{name}": Fixed(…) if case.values == "…" else …'
    if any(len(set(values)) == 1 for values in gradings):
        yield f"{name}: the same in every case, by the luck of some draws; {remedy}"
    for sign, about in ((-1, "below"), (1, "above")):
        cases_of = [sum(sign * value > 0 for value in values) for values in gradings]
        if any(cases_of) and not all(cases_of):
            yield f"{name}: {about} 0 in no case, by the luck of some draws; {remedy}"


def _number_problem(scalar: Scalar, value: object) -> str:
    fits = type(value) is {"float": float, "int": int, "bool": bool}[scalar.type]
    return "" if fits and math.isfinite(value) else f"must be a finite {scalar.type} of Python"  # type: ignore[arg-type]


def _tensor_problem(tensor: Input | Update, case: Case, value: object) -> str:
    shape, dtype = shape_of(tensor, case), dtype_of(tensor, case)
    if not isinstance(value, Tensor) or value.shape != shape or value.dtype != DTYPES[dtype] \
            or not value.is_contiguous():
        return f"must be a contiguous tensor {shape} of {dtype}"
    return "" if bool(value.double().isfinite().all()) else "must hold finite numbers"


def _equal(left: object, right: object) -> bool:
    return same_bits(left, right) if isinstance(left, Tensor) and isinstance(right, Tensor) else left == right
