"""The catalogue of assignments: every `assignments/<name>/assignment.py` is in it, and no list names them."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
import traceback
from collections.abc import Collection, Mapping
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path, PurePath
from types import CodeType, ModuleType
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from grader import home
from grader.course import forms
from grader.course.assignment import Assignment
from grader.course.cases import cases
from grader.course.forms import file_of
from grader.course.parameters import Inputs
from grader.errors import UserError, advised

HIDDEN = "hidden.toml"
"""The file of an assignment's hidden cases, beside its assignment.py. It is optional, and students do not get it."""


def files(root: Path | None = None) -> dict[str, str]:
    """Return the file that students hand in for each assignment of the course, or of the folder `root`, by the
    assignment's name. Imports nothing."""
    return {folder.name: file_of(folder.name, root=root) for folder in _folders(root or home.root())}


def select(names: Collection[str], only: Collection[str], option: str = "") -> list[str]:
    """Return the `names` that are in `only`; all of them if it is empty. Raises UserError, which begins with the
    `option`."""
    for name in only:
        if name not in names:
            raise UserError(f"{option}{name!r} is no assignment; choose from {', '.join(names)}")
    return [name for name in names if not only or name in only]


def reference(assignment: Assignment, root: Path | None = None) -> Path:
    """Return the path of our kernel for an assignment, in the language of the assignment's file. A students' kit has
    none."""
    return (root or home.root()) / "reference" / _place(assignment)


def stub(assignment: Assignment, root: Path | None = None) -> Path:
    """Return the path of the file that students fill in, in the language of the assignment's file."""
    return (root or home.root()) / "student_template" / _place(assignment)


def _place(assignment: Assignment) -> PurePath:
    """Return the relative path of an assignment's file. Files in other languages than the first have a folder with
    their language's name."""
    language = assignment.front_end
    folder = "" if language.suffix == forms.SUFFIX and language.claims is None else language.name
    return PurePath(folder, assignment.file)


def assignments(root: Path | None = None) -> dict[str, Assignment]:
    """Return every assignment of the course, or of the folder `root`, by name, in the order in which they are
    taught."""
    return _assignments(root or home.root())


@cache
def _assignments(root: Path) -> dict[str, Assignment]:
    every = [read(folder / "assignment.py") for folder in _folders(root)]
    return {a.name: a for a in sorted(every, key=lambda a: (a.order, a.name))}


@advised("write functions eager and compiled")
def baseline_source(name: str) -> bytes:
    """Return the source of an assignment's `baseline.py`, which an executor runs."""
    return (home.root() / "assignments" / name / "baseline.py").read_bytes()


def baseline(name: str, root: Path | None = None) -> ModuleType:
    """Return the module of an assignment's baselines, `eager` and `compiled`, in this process, for tests and
    benchmarks."""
    return _baseline((root or home.root()) / "assignments" / name / "baseline.py")


@cache
def _baseline(path: Path) -> ModuleType:
    return _load(f"assignments.{path.parent.name}.baseline", path)


def answers(assignment: Assignment, inputs: Inputs, outputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the oracle's answer for each output, by name. The call's own `outputs` are for an oracle that takes
    them. An `assignment` with several outputs has to be about all of them."""
    returned, names = assignment.oracle(**inputs, **(outputs or {})), [output.name for output in assignment.outputs]
    return dict(zip(names, returned if len(names) > 1 else (returned,), strict=True))


def objection(assignment: Assignment, inputs: Inputs, outputs: Mapping[str, Any]) -> str:
    """Return the objection of the assignment's statistic to the outputs of a call; "" if there is none."""
    if assignment.statistic is None:
        return ""
    sentence: str = assignment.statistic(inputs, outputs if len(outputs) > 1 else next(iter(outputs.values())))
    return sentence


def right_answer(assignment: Assignment, inputs: Inputs) -> Any:
    """Return the oracle's answer for the output that `assignment` is about, in that output's shape."""
    return assignment.about(assignment.output.name).oracle(**inputs)


def answer_and_tolerance(assignment: Assignment, inputs: Inputs) -> tuple[Any, Any]:
    """Return the oracle's answer for the output that `assignment` is about, and the absolute error allowed; None if
    every bit must match."""
    expected, view = right_answer(assignment, inputs), assignment.about(assignment.output.name)
    return expected, None if view.tolerance is None else view.tolerance(inputs, expected)


def shared_modules(root: Path) -> list[Path]:
    """Return the modules that assignments under `root` may share: Python files in `assignments/`, and its folders whose
    names begin with `_`."""
    return [path for path in sorted((root / "assignments").glob("*"))
            if path.suffix == ".py" or (path.is_dir() and path.name.startswith("_") and path.name != "__pycache__")]


def _folders(root: Path) -> list[Path]:
    return [folder for folder in sorted((root / "assignments").iterdir())
            if folder.is_dir() and not folder.name.startswith(("_", "."))]


def read(path: Path) -> Assignment:
    """Import a file again, and return its assignment. Raises UserError."""
    name = path.parent.name
    value = getattr(_load(f"assignments.{name}", path), "ASSIGNMENT", None)
    if not isinstance(value, Assignment):
        raise UserError(f"{path}: no ASSIGNMENT of type Assignment; define it")
    if value.name != name:
        raise UserError(f"{path}: named {value.name!r}, but its folder is {name!r}; give both one name")
    hidden = path.with_name(HIDDEN)
    return _with_hidden(value, hidden) if hidden.is_file() else value


class _HiddenCases(BaseModel):
    """A file `hidden.toml`: names of cases, as `grader.course.cases.cases` takes them, and the answers that are right
    by nature."""

    model_config = ConfigDict(extra="forbid")

    cases: str = ""
    gpu: str = ""
    right_by_nature: dict[str, str] = {}


def _with_hidden(public: Assignment, path: Path) -> Assignment:
    try:
        hidden = _HiddenCases.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        more = cases(" ".join(public.cases[0].sizes), hidden.cases, gpu=hidden.gpu, visibility="hidden")
        return Assignment(**{
            **dict(public), "cases": (*public.cases, *more),
            "right_by_nature": {**public.right_by_nature, **hidden.right_by_nature}})
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise UserError(f"{path}: {problem}; its keys are cases, gpu, right_by_nature") from None
    except ValueError as error:
        raise UserError(f'{path}: {error}; write cases = "5x9 67x127-extreme"') from None


class _UncachedLoader(SourceFileLoader):
    """A loader that ignores cached bytecode: a file that changes within a second and keeps its length would get the
    bytecode of its earlier text."""

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _load(module_name: str, path: Path) -> ModuleType:
    _package_of(path.parents[1])
    # Load it as a package, so that the file can import modules beside it: `from .tables import WEIGHTS`.
    spec = importlib.util.spec_from_file_location(
        module_name, path, loader=_UncachedLoader(module_name, str(path)),
        submodule_search_locations=[str(path.parent)] if module_name.count(".") == 1 else None)
    if spec is None or spec.loader is None or not path.is_file():
        raise UserError(f"{path}: no such file; write it")
    module = importlib.util.module_from_spec(spec)
    # Register it before it runs: pydantic and inspect look modules up by name.
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise UserError(f"{blame(error, path.parent)}; correct the file, it cannot be imported") from error
    return module


def _package_of(folder: Path) -> None:
    """Make this folder the package `assignments`, and forget what was imported from another course."""
    if (known := sys.modules.get(home.ASSIGNMENTS)) is not None and list(known.__path__) == [str(folder)]:
        return
    for name in [name for name in sys.modules if name.partition(".")[0] == home.ASSIGNMENTS]:
        del sys.modules[name]
    package = sys.modules[home.ASSIGNMENTS] = ModuleType(home.ASSIGNMENTS)
    package.__path__ = [str(folder)]


def blame(error: BaseException, folder: Path) -> str:
    """Describe an exception in an author's code in one line, with its innermost place in `folder`, if any."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    message = f"{type(error).__name__}: {error}"
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        message = ": ".join([*map(str, first["loc"]), first["msg"].removeprefix("Value error, ")])
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if folder in Path(frame.filename).parents] or frames
    return f"{last[-1].filename}, line {last[-1].lineno}: {message}".partition("\n")[0]
