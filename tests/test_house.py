"""The rules of CONTRIBUTING.md for files and functions: their length, parameters, names and imports."""

import ast
import builtins
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from grader.home import ROOT

MOST_LINES = {"": 600, "assignments/": 150}
MOST_FUNCTION_LINES = 60
MOST_PARAMETERS = 8
ROOMS = ("grader", "assignments", "reference", "student_template", "tests", "benchmarks", "docs", "examples")
Function = ast.FunctionDef | ast.AsyncFunctionDef

# Triton's launcher has these parameters.
MANY_PARAMETERS = {"grader.languages.triton.confined.planner.launches._launch"}


def test_no_file_is_too_long() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
             for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    assert len(lines) > 300 and max(lines.values()) > 300
    assert [name for name, count in lines.items() for start, most in MOST_LINES.items()
            if name.startswith(start) and count > most] == []


def test_an_assignment_imports_what_an_author_is_told_of() -> None:
    """`grader.kit.author`, and families of mistakes and checks beside it."""
    paths = [path for folder in ("assignments", "examples") for path in (ROOT / folder).rglob("assignment.py")]
    imported = {(path.parent.name, node.module) for path in paths
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("grader")}
    own = {"grader.kit", "grader.kit.author", "grader.kit.norms", "grader.kit.places", "grader.kit.products"}
    assert len(paths) > 15 and {module for _, module in imported} <= own, imported


def test_no_function_is_too_long() -> None:
    """Kernels aside: Triton inlines nothing that a reader would want apart."""
    long = {name for name, function in _functions()
            if function.end_lineno is not None and function.end_lineno - function.lineno >= MOST_FUNCTION_LINES
            and not _decorated(function, "jit")}
    assert sorted(long) == []


def test_no_function_has_too_many_parameters() -> None:
    """Kernels and commands aside: a command's parameters are those of its command line, which typer reads there."""
    many = {name for name, function in _functions() if _count(function.args) > MOST_PARAMETERS
            and not _decorated(function, "jit") and "typer." not in ast.unparse(function.args)}
    assert many == MANY_PARAMETERS


def test_imports_inside_functions_say_why() -> None:
    """A comment stands above each group of them: they are for start-up time, or for modules that a system lacks."""
    silent = set()
    for module, tree in _modules().items():
        lines = _path(module).read_text(encoding="utf-8").splitlines()
        for function in (node for node in ast.walk(tree) if isinstance(node, Function)):
            inner = [node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)]
            if inner and not lines[min(node.lineno for node in inner) - 2].lstrip().startswith("#"):
                silent.add(f"{module}.{function.name}")
    assert sorted(silent) == []


def test_no_class_has_a_namesake_in_its_package() -> None:
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module, tree in _modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[_package(module), node.name].append(module)
    assert len(places) > 300
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_no_modules_import_each_other_in_a_circle() -> None:
    """At the top of a file. Imports for a type checker alone may make a circle within a package."""
    imports = {module: _imported(module, tree) for module, tree in _modules().items()}
    assert sum(map(len, imports.values())) > 500
    assert sorted({module for module in imports if module in _reachable(imports, module)}) == []
    typed = {module: _imported(module, tree, typed=True) for module, tree in _modules().items()}
    reached = {module: _reachable(typed, module) for module in typed}
    circles = {frozenset(other for other in reached[module] if module in reached[other]) for module in typed}
    assert [sorted(circle) for circle in circles if circle and not _share_a_package(circle)] == []


def test_a_docstring_names_exceptions_that_exist() -> None:
    """Behind "Raises", up to a word that is no name: classes of grader/, and names that the module knows."""
    classes = {node.name for tree in _modules().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    listed = re.compile(r"Raises ((?:_?[A-Z]\w+\b(?!')(?:,? and |,? or |, )?)+)")
    seen, unknown = set(), set()
    for module, tree in _modules().items():
        known = classes | set(dir(builtins)) | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            text = ast.get_docstring(node) if isinstance(node, Function | ast.ClassDef | ast.Module) else None
            for names in listed.findall(" ".join((text or "").split())):
                seen |= (raised := set(re.findall(r"_?[A-Z]\w+", names)))
                unknown |= {(module, name) for name in raised - known}
    assert len(seen) > 30 and unknown == set()


def test_what_decides_imports_nothing_that_runs_beside_submissions() -> None:
    """Contracts hold rooms; this holds the judge's side of a language's folder, and late imports."""
    readers = {f"grader.simulation.ptx{name}" for name in ("", ".lanes", ".reader", ".tensor_maps")}
    trusted = {module: tree for module, tree in _modules().items()
               if ".confined" not in module and module.split(".")[1:2] not in (["host"], ["simulation"])}
    wrong = {(module, name) for module, tree in trusted.items() for name in _imported(module, tree, late=True)
             if ".confined" in name or (name.startswith("grader.simulation.") and name not in readers)}
    assert len(trusted) > 250 and wrong == set()


@cache
def _modules() -> dict[str, ast.Module]:
    """The modules of grader/, parsed, by their dotted names."""
    paths = sorted((ROOT / "grader").rglob("*.py"))
    return {_name(path): ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in paths}


def _package(module: str) -> str:
    return module if _path(module).name == "__init__.py" else module.rpartition(".")[0]


def _share_a_package(modules: frozenset[str]) -> bool:
    """Return whether a module's package holds all of them, in folders of it or not."""
    return any(all(f"{other}.".startswith(f"{_package(module)}.") for other in modules) for module in modules)


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def _functions() -> list[tuple[str, Function]]:
    return [(f"{module}.{node.name}", node) for module, tree in _modules().items() for node in ast.walk(tree)
            if isinstance(node, Function)]


def _decorated(function: Function, name: str) -> bool:
    return any(ast.unparse(decorator).endswith(name) for decorator in function.decorator_list)


def _count(arguments: ast.arguments) -> int:
    named = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return len(named - {"self", "cls"}) + (arguments.vararg is not None) + (arguments.kwarg is not None)


def _path(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"


def _imported(module: str, tree: ast.Module, *, late: bool = False, typed: bool = False) -> set[str]:
    """Return the modules of grader/ that a module imports when it is loaded. `late`: also those that functions import,
    `typed`: also those that only a type checker sees."""
    found = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in _modules() else
                          str(node.module) for alias in node.names}
            elif isinstance(node, Function):
                waiting += [node] if late else []
            elif typed or late or not isinstance(node, ast.If) or ast.unparse(node.test) != "TYPE_CHECKING":
                waiting.append(node)
    return found & _modules().keys() - {module}


def _reachable(imports: dict[str, set[str]], module: str) -> set[str]:
    """The modules that a module imports, directly or through others."""
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        new = imports[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached
