"""Checks of an assignment's answers: the oracle's, the baseline's, those of mistakes, and those of parts of large
outputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy
import torch
from torch import Tensor

from grader.authoring.subject import SEEDS, Drawn, Subject
from grader.course import catalogue
from grader.course.assignment import Assignment, Work
from grader.course.cases import shape_of
from grader.course.parameters import Scalar
from grader.kit.whole import Fixed

# Mistakes are compared on answers of at most this many elements.
LARGEST = 50_000


def right_answers(subject: Subject) -> Iterator[str]:
    assignment = subject.assignment
    for case in subject.cases:
        for seed in SEEDS:
            drawn = subject.drawn(case, seed)
            for output in subject.outputs:
                if (got := tuple(drawn.right[output.name].shape)) != (shape := shape_of(output, case)):
                    about = f"oracle: {output.name}" if len(subject.outputs) > 1 else "oracle"
                    yield f"{case.name}: {about}: expected a tensor of shape {shape}, got {got}"
                    return
            stored = {name: subject.stored(name, case, right) for name, right in drawn.right.items()}
            if said := subject.unlikely(drawn.inputs, stored):
                yield f"{case.name}: the statistic refuses the oracle's own answer: {said}"
                continue
            for of_output, view in subject.views():
                if subject.ratio(view, drawn, drawn.right[view.output.name]) > 1:
                    yield (f"{case.name}: {of_output}the oracle's own answer, rounded, exceeds the tolerance; allow "
                           "the rounding to the output's dtype")
    # The baseline only runs on timed cases, so check it on cases with their kinds of inputs, if there are any.
    timed = {case.values for case in assignment.timed}
    for case in [case for case in subject.cases if case.values in timed] or subject.cases:
        drawn = subject.drawn(case, SEEDS[0])
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
        drawn = subject.drawn(case, SEEDS[0])
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
    draws = [subject.drawn(case, SEEDS[0]) for case in subject.cases]
    for of_output, view in subject.views():
        answers: dict[str, list[Tensor | None]] = {}
        failed: dict[str, bool] = {}
        for drawn in draws:
            expected = drawn.right[view.output.name]
            for number, mistake in enumerate(view.mistakes):
                about, answer = f"mistake {mistake.name!r}", mistake.answer(**drawn.inputs)
                if answer is not None and subject.answer(about, view.output, answer).shape != expected.shape:
                    got = tuple(answer.shape)
                    yield (f"{drawn.case.name}: {of_output}{about}: expected shape {tuple(expected.shape)}, got {got}")
                    return
                wrong = answer is not None and subject.ratio(view, drawn, answer) > 1
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
        # Random bits (an assignment with a statistic) draw their integers, such as a seed: a kernel that knew them in
        # advance could choose the bits.
        if assignment.distributions is not None and assignment.statistic is None:
            draws = assignment.distributions(case)
            for p in assignment.parameters:
                if isinstance(p, Scalar) and p.type != "float" and not isinstance(draws[p.name], Fixed):
                    yield (f"{case.name}: {p.name} is drawn, and the baseline may have to do more or less with its "
                           f"own; give timed cases a Fixed {p.type}")
    largest = max(subject.cases, key=lambda case: math.prod(shape_of(subject.outputs[0], case)))
    drawn = subject.drawn(largest, SEEDS[0])
    for of_output, view in subject.views():
        for problem in (*_parts(subject, view, drawn), *_spots(subject, view, drawn)):
            yield f"{largest.name}: {of_output}{problem}"
    if assignment.renew is not None:
        renewal = assignment.renew(drawn.inputs, numpy.random.default_rng(SEEDS[0]))
        renewal.elements.copy_(renewal.values)
        if not torch.equal(*(catalogue.right_answer(assignment, inputs) for inputs in (drawn.inputs, renewal.inputs))):
            yield f"{largest.name}: renew: the values that it gives lead to another answer than its inputs"


def _parts(subject: Subject, view: Assignment, drawn: Drawn) -> Iterator[str]:
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


def _spots(subject: Subject, view: Assignment, drawn: Drawn) -> Iterator[str]:
    if view.spot_check is None:
        return
    check = view.spot_check([drawn.inputs], torch.Generator().manual_seed(SEEDS[0]))
    right = subject.stored(view.output.name, drawn.case, drawn.right[view.output.name])
    for about, answer, passes in (("right", right, True), ("wrong", torch.zeros_like(right), False)):
        if bool((check([drawn.inputs], [answer]) <= 1).all()) != passes:
            yield f"spot_check: an answer that is {about} {'fails' if passes else 'passes'}"
