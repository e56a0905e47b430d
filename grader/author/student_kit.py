"""What a course hands out, as a folder and a zip: the grader, stubs, handouts, public cases and no solution.

What is left out is left out by where it lies: `reference/`, `tests/`, `examples/` and the rest are never copied.
"""

from __future__ import annotations

import ast
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from grader.author import handout
from grader.model import catalogue
from grader.model.assignment import Assignment, file_of
from grader.model.course import Course, CourseError, read_course

# Copied whole from the repository's root, beside what lies in the folder OWN; the course's own assignments come to it.
WHOLE = ("grader", "calibration", "pyproject.toml", "constraints.txt", "LICENSE")
# Nobody else's machines are a student's business.
CLUSTER = "grader/cluster"
OWN = "student_kit"
# Tables on single students, with the comments before them, which say more of the same.
_OF_STUDENTS = re.compile(
    r"(?ms)(?:^[ \t]*(?:#[^\n]*)?\n)*^\[\[late\.(?:extensions|excused|overrides)\]\].*?(?=^\[|\Z)")


class KitError(Exception):
    """There can be no kit; one line that says what, where and what was expected."""


def write(out: Path, course: Path, root: Path = catalogue.ROOT) -> Path:
    """Makes the folder `out`, and beside it a zip of it, whose path is returned.

    `course` is the course.toml that goes into it, with the assignments that it names. Raises KitError, CourseError,
    CatalogueError, and OSError for what cannot be read or written.
    """
    if not (root / OWN).is_dir():
        raise KitError(f"{root / OWN}: no such folder; the course's repository expected, which a kit itself is not")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise KitError(f"{out}: is there already; a new or empty folder expected")
    packed = out.with_name(f"{out.name}.zip")
    if packed.exists():
        raise KitError(f"{packed}: is there already; another name, or none of that name, expected")
    found = catalogue.assignments(root)
    rules = read_course(course, frozenset(found))
    told = _without_names(course, rules, frozenset(found))
    names = _named(rules, found)
    for name in names:
        _nothing_told(found[name], root)
        if said := solved(root / "student_template" / file_of(name), found[name].function):
            raise KitError(said)
    shutil.copytree(root / OWN, out, dirs_exist_ok=True)
    for name in WHOLE:
        _copy(root / name, out / name)
    shutil.rmtree(out / CLUSTER)
    (out / "course.toml").write_text(told, encoding="utf-8")
    for name in names:
        _copy(root / "assignments" / name, out / "assignments" / name)
        _copy(root / "student_template" / file_of(name), out / "student_template" / file_of(name))
    _copy(root / "student_template/README.md", out / "student_template/README.md")
    for path in (out / "README.md", out / "student_template/README.md"):
        # Commands name an assignment that the course has.
        text = path.read_text(encoding="utf-8")
        path.write_text(text if "silu" in names else text.replace("silu", names[0]), encoding="utf-8")
    # As this course has it, which may be another than the repository's.
    for path, drawn in handout.texts({name: found[name] for name in names}, rules, out).items():
        handout.draw(path, drawn)
    (out / handout.NOTEBOOK).write_text(
        handout.notebook({name: found[name] for name in names}, rules, out), encoding="utf-8")
    return Path(shutil.make_archive(str(out.absolute()), "zip", out.absolute().parent, out.name))


def solved(path: Path, function: str) -> str:
    """That a stub holds more than what is to be written, in a sentence; "" if it is one."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    body = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function), None)
    launches = body is not None and any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) for node in ast.walk(body))
    last = body.body[-1] if body is not None else None
    if not launches and isinstance(last, ast.Raise) and "NotImplementedError" in ast.unparse(last):
        return ""
    return f"{path}: a stub expected: {function} ends with raise NotImplementedError, and launches nothing"


def _without_names(course: Path, rules: Course, known: frozenset[str]) -> str:
    """The text of a course.toml without what it says of single students. Raises KitError if it cannot be left out."""
    whole = course.read_text(encoding="utf-8")
    if not rules.late.names_students:
        return whole
    text = _OF_STUDENTS.sub("", whole)
    for line in text.splitlines():
        for who in rules.late.strangers(()):
            if re.search(rf"(?<![\w-]){re.escape(who)}(?![\w-])", line.partition("#")[2], re.IGNORECASE):
                raise KitError(f"{course}: line {whole.splitlines().index(line) + 1}: a comment names {who!r}, of whom "
                               "[late] says something; a comment without expected")
    with tempfile.TemporaryDirectory() as folder:
        left = Path(folder, "course.toml")
        left.write_text(text, encoding="utf-8")
        try:
            if not read_course(left, known).late.names_students:
                return text
        except CourseError:
            pass
    raise KitError(f"{course}: names students where it cannot be left out; tables [[late.extensions]], "
                   "[[late.excused]] and [[late.overrides]] expected, each with its name in a line")


def _named(course: Course, found: Iterable[str]) -> list[str]:
    """The course's assignments, and any that course.toml has points or thresholds for, which it must know."""
    taught = {*(course.assignments or found), *course.points.assignments, *course.thresholds.assignments}
    return [name for name in found if name in taught]


def _nothing_told(assignment: Assignment, root: Path) -> None:
    """No file for students names a hidden case."""
    folder = root / "assignments" / assignment.name
    for path in (path for path in folder.rglob("*") if path.suffix in (".py", ".md")):
        text = path.read_text(encoding="utf-8")
        for case in assignment.cases:
            if case.hidden and re.search(rf"(?<![\w-]){re.escape(case.name)}(?![\w-])", text):
                raise KitError(f"{path}: names the hidden case {case.name}; {catalogue.HIDDEN} alone expected to")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", catalogue.HIDDEN))
    else:
        shutil.copy(source, target)
