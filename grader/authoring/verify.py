"""Checks whether an assignment is ready for students: missing files, and wrong answers that would pass.

Each check yields a sentence for each problem. An exception in the author's code is a problem, too.
"""

from __future__ import annotations

import ast
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from grader import home
from grader.authoring import answers, handout, new, nulls
from grader.authoring.student_kit import solved
from grader.authoring.subject import SEEDS, Subject
from grader.course import catalogue
from grader.course.assignment import Assignment
from grader.course.course import PointsTable, read_course
from grader.course.parameters import directions
from grader.course.submission import Source
from grader.errors import UserError
from grader.judging.evidence.inspection import FACTS, good_figures
from grader.judging.judgement import Judgement
from grader.judging.prepared import PreparedTask, Task
from grader.languages import Outline
from grader.results.launched import Inspection

ROOM = 0.75
"""The largest share of the error allowed that a reference kernel may use. Other values and other orders of a sum need
the rest."""


def verify(name: str, root: Path | None = None) -> Iterator[tuple[str, list[str]]]:
    """Yield each check's name and its problems, for the assignment `name` of the course or of the folder `root`.

    Stops after a check that finds files missing, or in which the author's code raises.
    """
    root = root or home.root()
    for about, check in {"its files are there": _files, **CHECKS}.items():
        problems, raised = [], False
        try:
            for problem in check(Subject(_assignment(name, root), root)):
                problems.append(problem)
        except Exception as error:
            problems.append(catalogue.blame(error, root / "assignments"))
            raised = True
        # Each problem once, not once for each seed.
        yield about, list(dict.fromkeys(problems))
        if raised or (problems and check is _files):
            return


def trial(subject: Subject) -> Iterator[str]:
    """Run quick checks for problems that would make every grading fail: a missing baseline, and the assignment's own
    functions on its first case. Raises whatever those functions raise.

    Stub, handout and reference are not checked: grading does not need them, and a students' kit has no reference.
    """
    yield from _baseline(subject)
    first = subject.assignment.model_copy(update={"cases": subject.cases[:1]})
    yield from answers.right_answers(Subject(first, subject.root))
    for case in first.cases:
        inputs = subject.inputs(case, SEEDS[0])
        for mistake in first.mistakes:
            mistake.answer(**inputs)


def _assignment(name: str, root: Path) -> Assignment:
    known = catalogue.assignments(root)
    if name not in known:
        raise UserError(
            f"{root}/assignments/{name}: no such assignment; choose from {', '.join(known)}")
    return known[name]


def _files(subject: Subject) -> Iterator[str]:
    """Check that the files for students, course and judge exist, and define the functions that they must."""
    assignment, root = subject.assignment, subject.root
    yield from _baseline(subject)
    for path in (catalogue.reference(assignment, root), catalogue.stub(assignment, root)):
        yield from _class(assignment, path) if assignment.autograd else _file(subject, path, assignment.function)
    for language in assignment.in_languages()[1:]:
        for path in (catalogue.reference(language, root), catalogue.stub(language, root)):
            if not path.is_file():
                yield f"{path}: no such file; write one with {language.signature}"
            elif language.function not in _outline(language, path).defined:
                yield f"{path}: no function {language.signature}; add it"
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
    defined = _functions(ast.parse(path.read_text(encoding="utf-8"), str(path)).body)
    for function in functions:
        if defined.get(function) != given:
            yield f"{path}: no function {function}({', '.join(given)}); add it"


def _class(assignment: Assignment, path: Path) -> Iterator[str]:
    """Check that a file defines the assignment's autograd Function."""
    if not path.is_file():
        yield f"{path}: no such file; write one with {assignment.signature}"
        return
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    classes = {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}
    defined = _functions(classes.get(assignment.autograd, []))
    if any(defined.get(name) != taken for name, taken in directions(assignment.parameters).items()):
        yield f"{path}: no class {assignment.signature}; add it"


def _outline(assignment: Assignment, path: Path) -> Outline:
    return assignment.front_end.outline(path.read_text(encoding="utf-8"))


def _functions(body: Sequence[ast.stmt]) -> dict[str, list[str]]:
    """Return the functions at the top level of a file or a class, with the names of their parameters."""
    return {node.name: [a.arg for a in node.args.args] for node in body if isinstance(node, ast.FunctionDef)}


def _stub(subject: Subject) -> Iterator[str]:
    if problem := solved(catalogue.stub(subject.assignment, subject.root), subject.assignment.function):
        yield problem
    for language in subject.assignment.in_languages()[1:]:
        path = catalogue.stub(language, subject.root)
        if language.function not in _outline(language, path).stubs:
            yield f"{path}: not a stub; mark the place to be written as the other stubs do"


def _handout(subject: Subject) -> Iterator[str]:
    drawn = handout.parts(subject.assignment, read_course(home.file(), frozenset(catalogue.files())))
    path = handout.handout(subject.assignment.name, subject.root)
    heading, title = path.read_text(encoding="utf-8").partition("\n")[0], f"# {subject.assignment.title}"
    if heading != title:
        yield f"{path}: begins with {heading!r}, expected the assignment's title; write {title!r}"
    yield from handout.problems(path, drawn)
    yield from new.placeholders(path, path.with_name("assignment.py"))


def _reference(subject: Subject) -> Iterator[str]:
    """Check that the reference kernels get full marks with room to spare, and that the stored figures of the first one
    are up to date. Languages whose tools are not installed are left out."""
    course = read_course(home.file(), frozenset(catalogue.files()))
    if subject.assignment.structure:
        # The reference meets the assignment's conditions, also where this course gives no points for them.
        course = course.model_copy(update={"points": PointsTable(structure=1)})
    inspections: list[Inspection | None] = []
    for language in subject.assignment.in_languages():
        if language.front_end.problem():
            continue
        path = catalogue.reference(language, subject.root)
        source = Source(content=path.read_bytes(), file=language.file)
        judgement = Judgement(PreparedTask(Task(language, source, course, secrets.token_bytes(32), "cpu")))
        for check in judgement.take_all():
            if check.outcome == "failed" and check.detail is not None:
                yield f"{path}: {check.id}: {check.detail.message} {check.detail.hint}".strip()
            # A ratio of exactly 1 is right: an error of one whole level, as of bytes, may be all that is allowed.
            elif ROOM < (check.worst_ratio or 0) < 1:
                yield (f"{path}: {check.id}: errs by {check.worst_ratio:.2f} of what is allowed; widen it, or kernels "
                       "that are as right will fail with other values")
        inspections.append(judgement.extras.inspection)
    name, inspection = subject.assignment.name, inspections[0]
    path = catalogue.reference(subject.assignment, subject.root)
    stored = subject.root / "assignments" / name / FACTS
    if stored.is_file() and (inspection is None or inspection.figures != good_figures(name, subject.root)):
        yield f"{stored}: not the figures of {path}; run kernelmark inspect {path} --keep"


CHECKS: Mapping[str, Callable[[Subject], Iterator[str]]] = {
    "its stub is left to be written": _stub,
    "its cases reach the hard shapes": answers.cases,
    "its inputs follow from the seed": answers.drawing,
    "right answers pass": answers.right_answers,
    "wrong answers fail": nulls.wrong_answers,
    "no two mistakes are alike": answers.mistakes,
    "its speed can be measured": answers.timing,
    "its handout says what is graded": _handout,
    "its reference kernel gets full marks": _reference,
}
