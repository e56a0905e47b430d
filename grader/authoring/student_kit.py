"""The students' kit of a course, made as a folder and a zip: the grader, stubs, handouts, public cases, no solution.

Only named folders are copied, so `reference/`, `tests/`, `examples/` and the like are never in it.
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from grader import home, temporary
from grader.authoring import handout
from grader.course import catalogue
from grader.course.assignment import Assignment
from grader.course.course import Course, read_course
from grader.course.forms import function_of
from grader.errors import UserError

# The files that make the grader's folder installable.
INSTALLED = ("pyproject.toml", "constraints.txt", "LICENSE")
# Parts of the grader's folder that are left out: students need no cluster, and not the package's own course.
LEFT_OUT = ("cluster", home.IN_WHEEL.name)
OWN, RULES, CALIBRATION = "student_kit", "student_template/README.md", "calibration"
# Tables of course.toml about individual students, with the comments above them.
_OF_STUDENTS = re.compile(
    r"(?ms)(?:^[ \t]*(?:#[^\n]*)?\n)*^\[\[late\.(?:extensions|excused|overrides)\]\].*?(?=^\[|\Z)")
# A row of a Markdown table about a folder of stubs.
_FOLDER = re.compile(r"^\| `(student_template/\w+)/` \|[^\n]*\n", re.MULTILINE)



def write(out: Path, course: Path) -> Path:
    """Make the folder `out`, and beside it a zip of it, and return the zip's path.

    `course` is the course.toml of the kit; its assignments go into the kit. Raises UserError, and
    OSError for files that cannot be read or written.
    """
    root, own = home.root(), home.course_path(OWN)
    if not own.is_dir():
        raise UserError(f"{own}: no such folder; make kits with the course's grader, not with that of a kit")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out}: already exists; choose a new or empty folder")
    packed = out.with_name(f"{out.name}.zip")
    if packed.exists():
        raise UserError(f"{packed}: already exists; remove it or choose another name")
    assignments = catalogue.assignments(root)
    rules = read_course(course, frozenset(assignments))
    text_ = _without_names(course, rules, frozenset(assignments))
    names = _assignment_names(rules, assignments)
    for name in names:
        _require_hidden(assignments[name], root)
        if problem := solved(catalogue.stub(assignments[name], root), assignments[name].function):
            raise UserError(problem)
    with temporary.all_or_nothing(out, packed):
        return _packed(out, own, root, rules, text_, {name: assignments[name] for name in names})


def _packed(out: Path, own: Path, root: Path, rules: Course, text_: str, given: dict[str, Assignment]) -> Path:
    shutil.copytree(own, out, dirs_exist_ok=True)
    shutil.copytree(home.PACKAGE, out / home.PACKAGE.name, ignore=lambda folder, names: [
        name for name in names if name == "__pycache__" or (folder == str(home.PACKAGE) and name in LEFT_OUT)])
    for name in INSTALLED:
        _copy(home.SHIPPED / name, out / name)
    if (root / CALIBRATION).is_dir():
        _copy(root / CALIBRATION, out / CALIBRATION)
    (out / "course.toml").write_text(text_, encoding="utf-8")
    for path in catalogue.shared_modules(root):
        _copy(path, out / path.relative_to(root))
    # For each language with a folder of its own, an assignment in that language.
    languages: dict[str, Assignment] = {}
    for name, assignment in given.items():
        _copy(root / "assignments" / name, out / "assignments" / name)
        _copy_stub(assignment, root, out)
        for language in assignment.in_languages(rules.languages):
            if catalogue.stub(language, root) != catalogue.stub(assignment, root):
                _copy_stub(language, root, out)
                languages[language.front_end.name] = language
    for language in languages.values():
        _copy_beside(language, root, out)
    _copy(home.course_path(RULES), out / RULES)
    for path in (out / "README.md", out / RULES):
        # The examples in these texts must name an assignment of the course.
        text = path.read_text(encoding="utf-8")
        text = text if "silu" in given else text.replace("silu", next(iter(given)))
        # A table must not name the folder of a language that does not count.
        path.write_text(_FOLDER.sub(lambda row: row[0] if (out / row[1]).is_dir() else "", text), encoding="utf-8")
    # Handouts follow this course, which may differ from the repository's.
    for path, drawn in handout.texts(given, rules, out).items():
        handout.draw(path, drawn)
    (out / handout.NOTEBOOK).write_text(
        handout.notebook(given, rules, out), encoding="utf-8")
    return Path(shutil.make_archive(str(out.absolute()), "zip", out.absolute().parent, out.name))


def solved(path: Path, function: str) -> str:
    """Return a sentence if a stub holds more than a stub should; "" if it does not."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    defined = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == function]
    # In an autograd Function, `forward` comes first.
    nodes = (node for statement in defined for node in ast.walk(statement))
    body = next((node for node in nodes if isinstance(node, ast.FunctionDef)), None)
    launches = body is not None and any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) for node in ast.walk(body))
    last = body.body[-1] if body is not None else None
    if not launches and isinstance(last, ast.Raise) and "NotImplementedError" in ast.unparse(last):
        return ""
    return f"{path}: not a stub; {function} must end with raise NotImplementedError and launch nothing"


def _without_names(course: Path, rules: Course, known: frozenset[str]) -> str:
    """Return the text of a course.toml without its tables about individual students. Raises UserError if the text still
    names a student."""
    whole = course.read_text(encoding="utf-8")
    if not rules.late.names_students:
        return whole
    text = _OF_STUDENTS.sub("", whole)
    for line in text.splitlines():
        for stranger in rules.late.strangers(()):
            if re.search(rf"(?<![\w-]){re.escape(stranger)}(?![\w-])", line.partition("#")[2], re.IGNORECASE):
                raise UserError(f"{course}: line {whole.splitlines().index(line) + 1}: a comment names {stranger!r}, a "
                               "student in [late]; remove the name")
    with temporary.folder("kit") as folder:
        left = folder / "course.toml"
        left.write_text(text, encoding="utf-8")
        try:
            if not read_course(left, known).late.names_students:
                return text
        except UserError:
            pass
    raise UserError(f"{course}: names students in a form that cannot be removed; write tables [[late.extensions]], "
                   "[[late.excused]] and [[late.overrides]], each heading on its own line")


def _assignment_names(course: Course, assignments: Iterable[str]) -> list[str]:
    """Return the course's assignments, and any others that course.toml gives points or thresholds: these must exist in
    a kit, too."""
    taught = {*(course.assignments or assignments), *course.points.assignments, *course.thresholds.assignments}
    return [name for name in assignments if name in taught]


def _require_hidden(assignment: Assignment, root: Path) -> None:
    """Raise UserError if a file for students names a hidden case."""
    folder = root / "assignments" / assignment.name
    for path in (path for path in folder.rglob("*") if path.suffix in (".py", ".md")):
        text = path.read_text(encoding="utf-8")
        for case in assignment.cases:
            if case.hidden and re.search(rf"(?<![\w-]){re.escape(case.name)}(?![\w-])", text):
                raise UserError(f"{path}: names the hidden case {case.name}; only {catalogue.HIDDEN} may name it")


def _copy_stub(assignment: Assignment, root: Path, out: Path) -> None:
    _copy(catalogue.stub(assignment, root), catalogue.stub(assignment, out))


def _copy_beside(assignment: Assignment, root: Path, out: Path) -> None:
    """Copy the files beside the stubs in a language's folder: headers, a program, a README. A file that defines a
    function of an assignment could be a solution, and is not copied."""
    outline = assignment.front_end.outline
    functions = {function_of(name, assignment.suffix, root) for name in catalogue.files(root)}
    for path in catalogue.stub(assignment, root).parent.iterdir():
        if path.is_file() and not functions & outline(path.read_text(encoding="utf-8", errors="replace")).defined:
            _copy(path, catalogue.stub(assignment, out).with_name(path.name))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", catalogue.HIDDEN))
    else:
        shutil.copy(source, target)
