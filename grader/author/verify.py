"""Checks whether an assignment is ready for students: missing files, and wrong answers that would pass.

Each check yields a sentence for each problem. An exception in the author's code is a problem, too.
"""

from __future__ import annotations

import ast
import math
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch
from torch import Tensor

from grader import home
from grader.author import handout
from grader.author.student_kit import solved
from grader.frontends import Outline, by_suffix
from grader.judge.buffers import DTYPES
from grader.judge.compare import Comparison, compare, poison_
from grader.judge.inspection import FACTS, good_figures
from grader.judge.judgement import Judgement
from grader.judge.prepared import Prepared, Task
from grader.model import catalogue
from grader.model.assignment import Assignment, Work
from grader.model.cases import Case, shape_of
from grader.model.catalogue import right_answer
from grader.model.course import read_course
from grader.model.launched import Inspection
from grader.model.parameters import Inputs, Scalar
from grader.model.submission import Source

SEEDS = (11, 22)
EARLIER = 33
# The largest block that a student may choose: some case must need several.
LARGE_BLOCK = 4096
# Half precision must exceed the allowed error by this factor, so that it does not pass by chance.
HALF_PRECISION_RATIO = 3.0
# Mistakes are compared on answers of at most this many elements.
LARGEST = 50_000


@dataclass(frozen=True)
class Subject:
    """An assignment, and the folder that holds `assignments/`, `reference/` and `student_template/`."""

    assignment: Assignment
    root: Path

    def drawn(self, case: Case, seed: int) -> tuple[Inputs, Tensor]:
        """Inputs of a case, and their right answer."""
        inputs = self.assignment.make_inputs(case, torch.Generator().manual_seed(seed))
        return inputs, _float64("oracle", right_answer(self.assignment, inputs))

    def compared(self, answer: Tensor, inputs: Inputs, expected: Tensor) -> Comparison:
        """Compares an answer, stored as a kernel would store it, with the right one."""
        allowed = None
        if self.assignment.tolerance is not None:
            allowed = _float64("tolerance", self.assignment.tolerance(inputs, expected))
        return compare(answer.to(DTYPES[self.assignment.output.dtype]).contiguous(), expected, allowed)

    @property
    def cases(self) -> tuple[Case, ...]:
        return self.assignment.cases_for("cpu")


def verify(name: str, root: Path | None = None) -> Iterator[tuple[str, list[str]]]:
    """Yields the subject of each check and its problems, for the course's assignment `name`, or that of another `root`.

    Ends after a check that finds files missing, or in which the author's code raises.
    """
    root = root or home.root()
    for about, check in {"its files are there": _files, **CHECKS}.items():
        problems, raised = [], False
        try:
            for problem in check(Subject(_assignment(name, root), root)):
                problems.append(problem)
        except Exception as error:
            ours = isinstance(error, catalogue.CatalogueError)
            problems.append(str(error) if ours else catalogue.blame(error, root / "assignments"))
            raised = True
        # Each problem once, not once for each seed.
        yield about, list(dict.fromkeys(problems))
        if raised or (problems and check is _files):
            return


def trial(subject: Subject) -> Iterator[str]:
    """Quick checks for problems that would fail every grading: a missing baseline, and the assignment's own functions
    on its first case. Raises what those functions raise.

    Stub, handout and reference are not checked: grading does not need them, and a students' kit has no reference.
    """
    yield from _baseline(subject)
    first = subject.assignment.model_copy(update={"cases": subject.cases[:1]})
    yield from _right_answers(Subject(first, subject.root))
    for case in first.cases:
        inputs, _ = subject.drawn(case, SEEDS[0])
        for mistake in first.mistakes:
            mistake.answer(**inputs)


def _assignment(name: str, root: Path) -> Assignment:
    known = catalogue.assignments(root)
    if name not in known:
        raise catalogue.CatalogueError(
            f"{root}/assignments/{name}: no such assignment; choose from {', '.join(known)}")
    return known[name]


def _files(subject: Subject) -> Iterator[str]:
    """The files that students, the course and the judge need, with the functions in them."""
    assignment, root = subject.assignment, subject.root
    yield from _baseline(subject)
    for path in (catalogue.reference(assignment, root), catalogue.stub(assignment, root)):
        yield from _file(subject, path, assignment.function)
    for other in assignment.in_languages()[1:]:
        for path in (catalogue.reference(other, root), catalogue.stub(other, root)):
            if not path.is_file():
                yield f"{path}: no such file; write one with {other.signature}"
            elif other.function not in _outline(other, path).defined:
                yield f"{path}: no function {other.signature}; add it"
    path = handout.handout(assignment.name, root)
    if not path.is_file():
        yield f"{path}: no such file; write a text for students"


def _baseline(subject: Subject) -> Iterator[str]:
    path = subject.root / "assignments" / subject.assignment.name / "baseline.py"
    yield from _file(subject, path, "eager", "compiled")


def _file(subject: Subject, path: Path, *functions: str) -> Iterator[str]:
    given = [p.name for p in subject.assignment.parameters]
    if not path.is_file():
        yield f"{path}: no such file; write one with {' and '.join(functions)}({', '.join(given)})"
        return
    defined = _functions(path)
    for function in functions:
        if defined.get(function) != given:
            yield f"{path}: no function {function}({', '.join(given)}); add it"


def _outline(assignment: Assignment, path: Path) -> Outline:
    return by_suffix(assignment.suffix).outline(path.read_text(encoding="utf-8"))


def _functions(path: Path) -> dict[str, list[str]]:
    """The functions at a file's top level, with the names of their parameters."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return {node.name: [a.arg for a in node.args.args] for node in tree.body if isinstance(node, ast.FunctionDef)}


def _float64(about: str, value: object) -> Tensor:
    if not isinstance(value, Tensor) or value.dtype != torch.float64:
        got = str(value.dtype).removeprefix("torch.") if isinstance(value, Tensor) else type(value).__name__
        raise catalogue.CatalogueError(f"{about}: expected a tensor of float64, got {got}")
    return value


def _stub(subject: Subject) -> Iterator[str]:
    if problem := solved(catalogue.stub(subject.assignment, subject.root), subject.assignment.function):
        yield problem
    for other in subject.assignment.in_languages()[1:]:
        path = catalogue.stub(other, subject.root)
        if other.function not in _outline(other, path).stubs:
            yield f"{path}: not a stub; mark the place to be written as the other stubs do"


def _cases(subject: Subject) -> Iterator[str]:
    sizes = [case.sizes for case in subject.cases]
    largest = max(math.prod(shape_of(subject.assignment.output, case)) for case in subject.cases)
    if any(value != 1 for value in sizes[0].values()):
        yield "cases: every size of the first case must be 1, so that the simplest failure is reported first"
    if not any(value > 1 and not value & (value - 1) for size in sizes for value in size.values()):
        yield "cases: none has a size that is a power of two; add one"
    if not any(value > 2 and value & (value - 1) for size in sizes for value in size.values()):
        yield "cases: none has a size that is no power of two, so masks are not tested; add one"
    if largest <= LARGE_BLOCK:
        yield f"cases: the largest output has {largest:,} elements, which fit in one block; add one with more than " \
              f"{LARGE_BLOCK:,}"
    if len(subject.assignment.cases) == len(subject.cases):
        yield 'cases: none is for a GPU alone, with sizes beyond int32 or a grid; add one (gpu="8192x8192")'
    if not subject.assignment.timed:
        yield "timed: no case, so speed cannot be measured; add one"


def _drawing(subject: Subject) -> Iterator[str]:
    """Checks that inputs are as declared, and that they follow from the seed."""
    for case in subject.cases:
        (inputs, _), (same, _), (other, _) = (subject.drawn(case, seed) for seed in (SEEDS[0], SEEDS[0], SEEDS[1]))
        for p in subject.assignment.parameters:
            if p.kind == "output":
                continue
            value = inputs[p.name]
            if isinstance(p, Scalar):
                if not isinstance(value, float) or value != same[p.name] or value == other[p.name]:
                    yield f"{case.name}: {p.name}: must be a number that follows from the seed"
            elif value.shape != shape_of(p, case) or value.dtype != DTYPES[p.dtype] or not value.is_contiguous():
                yield f"{case.name}: {p.name}: must be a contiguous tensor {shape_of(p, case)} of {p.dtype}"
            elif value.dtype.is_floating_point and not bool(value.isfinite().all()):
                yield f"{case.name}: {p.name}: must hold finite numbers"
            elif not torch.equal(value, same[p.name]) or torch.equal(value, other[p.name]):
                yield f"{case.name}: {p.name}: its contents must follow from the seed"


def _right_answers(subject: Subject) -> Iterator[str]:
    for case in subject.cases:
        for seed in SEEDS:
            inputs, expected = subject.drawn(case, seed)
            shape = shape_of(subject.assignment.output, case)
            if expected.shape != shape:
                yield f"{case.name}: oracle: expected a tensor of shape {shape}, got {tuple(expected.shape)}"
                return
            if not subject.compared(expected, inputs, expected).passed:
                yield f"{case.name}: the oracle's own answer, rounded, exceeds the tolerance"
    module = catalogue.baseline(subject.assignment.name, subject.root)
    for case in subject.cases:
        inputs, expected = subject.drawn(case, SEEDS[0])
        out = torch.empty(expected.shape, dtype=DTYPES[subject.assignment.output.dtype])
        poison_(out)
        returned = module.eager(**inputs, out=out)
        if not subject.compared(out if returned is None else returned, inputs, expected).passed:
            yield f"{case.name}: the baseline's answer is wrong: baseline.py, eager"


def _wrong_answers(subject: Subject) -> Iterator[str]:
    """Checks that trivial answers fail on every case, except where they are right by nature."""
    by_nature = dict(subject.assignment.right_by_nature)
    for case in subject.cases:
        for name, null in NULLS.items():
            why = by_nature.pop(f"{case.name}: {name}", None)
            passed = {subject.compared(answer, inputs, expected).worst_ratio <= null.least
                      for inputs, expected in (subject.drawn(case, seed) for seed in SEEDS)
                      if (answer := null.answer(subject, case, inputs, expected)) is not None}
            if True in passed and why is None:
                yield (f"{case.name}: {name} would pass; change the sizes or the inputs, or say why it is right: "
                       f'right_by_nature={{"{case.name}: {name}": "…"}}')
            elif passed == {False} and why is not None:
                yield f"{case.name}: {name} fails, but right_by_nature says that it passes ({why})"
    for unknown in by_nature:
        yield f"right_by_nature: {unknown!r} is no case with a wrong answer; the answers are {', '.join(NULLS)}"


def _mistakes(subject: Subject) -> Iterator[str]:
    """Checks that each mistake fails on some case, and that no two mistakes give the same answers on all cases."""
    answers: dict[str, list[Tensor | None]] = {}
    failed: dict[str, bool] = {}
    for case in subject.cases:
        inputs, expected = subject.drawn(case, SEEDS[0])
        for number, mistake in enumerate(subject.assignment.mistakes):
            answer = mistake.answer(**inputs)
            if answer is not None and _float64(f"mistake {mistake.name!r}", answer).shape != expected.shape:
                got = tuple(answer.shape)
                yield f"{case.name}: mistake {mistake.name!r}: expected shape {tuple(expected.shape)}, got {got}"
                return
            wrong = answer is not None and not subject.compared(answer, inputs, expected).passed
            failed[mistake.name] = failed.get(mistake.name, False) or wrong
            small = answer is not None and 1 < expected.numel() <= LARGEST
            answers.setdefault(f"{number} {mistake.name}", []).append(answer if small else None)
    for name, wrong in failed.items():
        if not wrong:
            yield f"mistake {name!r} is right on every case, so it can never be recognised"
    keys = list(answers)
    for place, key in enumerate(keys):
        for other in keys[:place]:
            pairs = [(a, b) for a, b in zip(answers[key], answers[other], strict=True) if a is not None]
            first, second = (numbered.partition(" ")[2] for numbered in (other, key))
            same = all(b is not None and torch.allclose(a, b, equal_nan=True) for a, b in pairs)
            if first != second and pairs and same:
                yield f"mistakes {first!r} and {second!r} give the same answer on all cases; add one that differs"


def _timing(subject: Subject) -> Iterator[str]:
    """Checks the functions for measuring speed: work, rows, spot_check and renew."""
    assignment = subject.assignment
    for case in (case for timed in assignment.timed for case in timed.siblings()):
        if assignment.work is not None and not isinstance(work := assignment.work(case), Work):
            yield f"{case.name}: work: expected a Work, got {type(work).__name__}"
    case = max(subject.cases, key=lambda case: math.prod(shape_of(assignment.output, case)))
    inputs, expected = subject.drawn(case, SEEDS[0])
    if assignment.rows is not None:
        for index in (slice(0, 1), torch.tensor([len(expected) - 1, 0])):
            part = _float64("rows: the oracle of them", right_answer(assignment, assignment.rows(inputs, index)))
            if part.shape != expected[index].shape or not torch.allclose(part, expected[index]):
                yield f"{case.name}: rows: its inputs must give these rows of the whole answer"
                break
    if assignment.spot_check is not None:
        check = assignment.spot_check([inputs], torch.Generator().manual_seed(SEEDS[0]))
        right = expected.to(DTYPES[assignment.output.dtype])
        for about, answer, passes in (("right", right, True), ("wrong", torch.zeros_like(right), False)):
            if bool((check([inputs], [answer]) <= 1).all()) != passes:
                yield f"{case.name}: spot_check: an answer that is {about} {'fails' if passes else 'passes'}"
    if assignment.renew is not None:
        renewal = assignment.renew(inputs, numpy.random.default_rng(SEEDS[0]))
        renewal.elements.copy_(renewal.values)
        if not torch.equal(right_answer(assignment, inputs), right_answer(assignment, renewal.inputs)):
            yield f"{case.name}: renew: the values that it gives lead to another answer than its inputs"


def _handout(subject: Subject) -> Iterator[str]:
    drawn = handout.parts(subject.assignment, read_course(home.file(), frozenset(catalogue.files())))
    yield from handout.problems(handout.handout(subject.assignment.name, subject.root), drawn)


def _reference(subject: Subject) -> Iterator[str]:
    """Checks that the reference kernels get full marks, and that the kept figures of the first are current. Languages
    whose tools are not installed are left out."""
    course = read_course(home.file(), frozenset(catalogue.files()))
    inspections: list[Inspection | None] = []
    for one in subject.assignment.in_languages():
        if by_suffix(one.suffix).problem():
            continue
        path = catalogue.reference(one, subject.root)
        task = Task(one, Source(content=path.read_bytes(), file=one.file), course, secrets.token_bytes(32), "cpu")
        judgement = Judgement(Prepared(task))
        for check in judgement.take_all():
            if check.outcome == "failed" and check.detail is not None:
                yield f"{path}: {check.id}: {check.detail.message} {check.detail.hint}".strip()
        inspections.append(judgement.extras.inspection)
    name, inspection = subject.assignment.name, inspections[0]
    path = catalogue.reference(subject.assignment, subject.root)
    kept = subject.root / "assignments" / name / FACTS
    if kept.is_file() and (inspection is None or inspection.figures != good_figures(name, subject.root)):
        yield f"{kept}: not the figures of {path}; run kernelmark inspect {path} --keep"


def _the_input(subject: Subject, case: Case, inputs: Inputs, expected: Tensor) -> Tensor:
    """The first input's elements in memory order, repeated or cut to fill the output."""
    flat = _first(inputs).reshape(-1)
    return flat.repeat(-(-expected.numel() // flat.numel()))[: expected.numel()].view(expected.shape)


def _half_precision(subject: Subject, case: Case, inputs: Inputs, expected: Tensor) -> Tensor | None:
    """The most accurate answer in half precision: only inputs and answer are rounded."""
    if subject.assignment.output.dtype != "float32":
        return None
    rounded = {name: v.half().float() if isinstance(v, Tensor) else v for name, v in inputs.items()}
    return right_answer(subject.assignment, rounded).half()  # type: ignore[no-any-return]


def _first(inputs: Inputs) -> Tensor:
    return next(value for value in inputs.values() if isinstance(value, Tensor))


CHECKS: Mapping[str, Callable[[Subject], Iterator[str]]] = {
    "its stub is left to be written": _stub,
    "its cases reach the hard shapes": _cases,
    "its inputs follow from the seed": _drawing,
    "right answers pass": _right_answers,
    "wrong answers fail": _wrong_answers,
    "its mistakes are told apart": _mistakes,
    "its speed can be measured": _timing,
    "its handout says what is graded": _handout,
    "its reference kernel gets full marks": _reference,
}


@dataclass(frozen=True)
class Null:
    """A trivial answer that does not solve the assignment; None for a case without one. It counts as passing if its
    worst error is at most `least` times the allowed error."""

    answer: Callable[[Subject, Case, Inputs, Tensor], Tensor | None]
    least: float = 1.0


NULLS: Mapping[str, Null] = {
    "zeros": Null(lambda subject, case, inputs, expected: torch.zeros_like(expected)),
    "ones": Null(lambda subject, case, inputs, expected: torch.ones_like(expected)),
    "the input": Null(_the_input),
    "the mean": Null(lambda subject, case, inputs, expected: _first(inputs).double().mean().expand(expected.shape)),
    "an earlier answer": Null(lambda subject, case, inputs, expected: subject.drawn(case, EARLIER)[1]),
    "half precision": Null(_half_precision, HALF_PRECISION_RATIO),
}
