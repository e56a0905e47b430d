"""Checks of an assignment's cases, of their inputs, and of answers: by the oracle, by the baseline, by mistakes, and in
parts of large outputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy
import torch
from torch import Tensor

from grader.authoring.subject import SEEDS, CaseData, Subject
from grader.course import catalogue
from grader.course.assignment import Assignment, Work
from grader.course.cases import Case, dtype_of, shape_of
from grader.course.parameters import Input, Scalar, Update, extents, given
from grader.judging.answers.compare import same_bits
from grader.judging.running.buffers import DTYPES
from grader.kit.whole import Fixed, Values

# Mistakes are compared on answers of at most this many elements.
LARGEST = 50_000


def right_answers(subject: Subject) -> Iterator[str]:
    assignment = subject.assignment
    for case in subject.cases:
        for seed in SEEDS:
            drawn = subject.draw(case, seed)
            for output in subject.outputs:
                if (got := tuple(drawn.right[output.name].shape)) != (shape := shape_of(output, case)):
                    about = f"oracle: {output.name}" if len(subject.outputs) > 1 else "oracle"
                    yield f"{case.name}: {about}: expected a tensor of shape {shape}, got {got}"
                    return
            stored = {name: subject.stored(name, case, right) for name, right in drawn.right.items()}
            if said := subject.objection(drawn.inputs, stored):
                yield f"{case.name}: the statistic refuses the oracle's own answer: {said}"
                continue
            for of_output, view in subject.views():
                if subject.ratio(view, drawn, drawn.right[view.output.name]) > 1:
                    yield (f"{case.name}: {of_output}the oracle's own answer, rounded, exceeds the tolerance; allow "
                           "the rounding to the output's dtype")
    # The baseline only runs on timed cases, so check it on cases with their kinds of inputs, if there are any.
    timed = {case.values for case in assignment.timed}
    for case in [case for case in subject.cases if case.values in timed] or subject.cases:
        drawn = subject.draw(case, SEEDS[0])
        try:
            made = subject.baseline(case, drawn.inputs)
        except Exception as error:
            # No other check needs the baseline, so go on.
            yield f"{case.name}: {catalogue.blame(error, subject.root / 'assignments')}"
            break
        for of_output, view in subject.views():
            if subject.ratio(view, drawn, made[view.output.name]) > 1:
                yield f"{case.name}: {of_output}the baseline's answer is wrong: baseline.py, eager"
    yield from _any_answers(subject)


def _any_answers(subject: Subject) -> Iterator[str]:
    """Check that an oracle which is given a student's answer accepts any answer: an index in it may point anywhere, and
    an oracle that raises would be a failure of the grader."""
    for case in subject.cases if subject.assignment.conditions else ():
        drawn = subject.draw(case, SEEDS[0])
        stored = {name: subject.stored(name, case, right) for name, right in drawn.right.items()}
        for name in sorted(subject.assignment.conditions):
            for value in _extremes(stored[name].dtype):
                wild = {**stored, name: torch.full_like(stored[name], value)}
                try:
                    right = subject.right(drawn.inputs, wild)
                    for _, view in subject.views():
                        subject.compared(view, drawn, wild, right[view.output.name])
                except Exception as error:
                    yield (f"{case.name}: the oracle is given {value} everywhere in {name}, as a student may answer, "
                           f"and fails: {type(error).__name__}: {error}; limit what it takes from {name}")
                    return


def _extremes(dtype: torch.dtype) -> list[float] | list[int] | list[bool]:
    """Return the least and the greatest number of a dtype, and a negative one that may be an index from the end."""
    if dtype == torch.bool:
        return [False, True]
    if dtype.is_floating_point:
        return [torch.finfo(dtype).min, 0.0, torch.finfo(dtype).max]
    return [torch.iinfo(dtype).min, *([-1] if torch.iinfo(dtype).min else []), torch.iinfo(dtype).max]


def mistakes(subject: Subject) -> Iterator[str]:
    """Check that each mistake fails on some case, and that no two mistakes give the same answers on all cases."""
    draws = [subject.draw(case, SEEDS[0]) for case in subject.cases]
    for of_output, view in subject.views():
        answers: dict[str, list[Tensor | None]] = {}
        failed: dict[str, bool] = {}
        for draw in draws:
            expected = draw.right[view.output.name]
            for number, mistake in enumerate(view.mistakes):
                about, answer = f"mistake {mistake.name!r}", mistake.answer(**draw.inputs)
                if answer is not None and subject.answer(about, view.output, answer).shape != expected.shape:
                    got = tuple(answer.shape)
                    yield (f"{draw.case.name}: {of_output}{about}: expected shape {tuple(expected.shape)}, got {got}")
                    return
                wrong = answer is not None and subject.ratio(view, draw, answer) > 1
                failed[mistake.name] = failed.get(mistake.name, False) or wrong
                small = answer is not None and 1 < expected.numel() <= LARGEST
                answers.setdefault(f"{number} {mistake.name}", []).append(answer if small else None)
        for name, wrong in failed.items():
            if not wrong:
                yield f"{of_output}mistake {name!r} is right on every case, so it can never be recognised"
        yield from _namesakes(of_output, answers)


def _namesakes(of_output: str, answers: Mapping[str, Sequence[Tensor | None]]) -> Iterator[str]:
    keys = list(answers)
    for place, key in enumerate(keys):
        for earlier in keys[:place]:
            pairs = [(a, b) for a, b in zip(answers[key], answers[earlier], strict=True) if a is not None]
            first, second = (numbered.partition(" ")[2] for numbered in (earlier, key))
            same = all(b is not None and torch.allclose(a.double(), b.double(), equal_nan=True) for a, b in pairs)
            if first != second and pairs and same:
                yield f"{of_output}mistakes {first!r} and {second!r} give the same answer on all cases; " \
                      "add one that differs"


def timing(subject: Subject) -> Iterator[str]:
    """Check the functions for measuring speed: work, rows, columns, spot_check and renew."""
    assignment = subject.assignment
    for case in (case for timed in assignment.timed for case in timed.siblings()):
        if assignment.work is not None and not isinstance(work := assignment.work(case), Work):
            yield f"{case.name}: work: expected a Work, got {type(work).__name__}"
        # An assignment with a statistic asks for random bits, and draws its integers, such as a seed: a kernel that
        # knew them in advance could choose the bits.
        if assignment.distributions is not None and assignment.statistic is None:
            draws = assignment.distributions(case)
            for p in assignment.parameters:
                if isinstance(p, Scalar) and p.type != "float" and not isinstance(draws[p.name], Fixed):
                    yield (f"{case.name}: {p.name} is drawn, and the baseline's work may depend on it; "
                           f"give timed cases a Fixed {p.type}")
    largest = max(subject.cases, key=lambda case: math.prod(shape_of(subject.outputs[0], case)))
    drawn = subject.draw(largest, SEEDS[0])
    for of_output, view in subject.views():
        for problem in (*_parts(subject, view, drawn), *_spots(subject, view, drawn)):
            yield f"{largest.name}: {of_output}{problem}"
    if assignment.renew is not None:
        renewal = assignment.renew(drawn.inputs, numpy.random.default_rng(SEEDS[0]))
        renewal.elements.copy_(renewal.values)
        if not torch.equal(*(catalogue.right_answer(assignment, inputs) for inputs in (drawn.inputs, renewal.inputs))):
            yield f"{largest.name}: renew: the values that it gives lead to another answer than its inputs"


def _parts(subject: Subject, view: Assignment, drawn: CaseData) -> Iterator[str]:
    """Yield the problems of `rows` and `columns`."""
    name, expected = view.output.name, drawn.right[view.output.name]
    stored = {name: subject.stored(name, drawn.case, right) for name, right in drawn.right.items()}
    for about, part_of, axis in (("rows", view.rows, 0), ("columns", view.columns, expected.dim() - 1)):
        if part_of is None:
            continue
        if expected.dim() <= axis or (about == "columns" and axis == 0):
            yield f"{about}: the output has none; leave {about} out"
            continue
        for index in (slice(0, 1), torch.tensor([expected.shape[axis] - 1, 0])):
            place = (slice(None),) * axis + (index,)
            part = subject.right(part_of(drawn.inputs, index), {key: value[place] for key, value in stored.items()
                                                                if key in view.conditions})[name]
            wanted = expected[place]
            if part.shape != wanted.shape or not torch.allclose(part.double(), wanted.double()):
                yield f"{about}: its inputs must give these {about} of the whole answer"
                break


def _spots(subject: Subject, view: Assignment, drawn: CaseData) -> Iterator[str]:
    if view.spot_check is None:
        return
    check = view.spot_check([drawn.inputs], torch.Generator().manual_seed(SEEDS[0]))
    right = subject.stored(view.output.name, drawn.case, drawn.right[view.output.name])
    for about, answer, passes in (("right", right, True), ("wrong", torch.zeros_like(right), False)):
        if bool((check([drawn.inputs], [answer]) <= 1).all()) != passes:
            yield f"spot_check: an answer that is {about} {'fails' if passes else 'passes'}"


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
        if value != (least := _least_size(subject, name)):
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


def _least_size(subject: Subject, name: str) -> int:
    """Return the least value that a size may have with the other sizes of the first case."""
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
                problem = "its contents must follow from the seed, so that another seed gives others"
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
