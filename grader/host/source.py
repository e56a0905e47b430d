"""A submission's file, run statement by statement. A statement at the top level that fails, since it needs numbers or
for another reason, is left out and reported; so is a line that prints or checks numbers, in functions, too."""

from __future__ import annotations
import __future__

import ast
import importlib.util
import io
import linecache
import re
import sys
import types
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from grader.host import failures
from grader.host.record import MOST_SKIPPED, PlanningStopped, RefusedError, Session, SkippedError
from grader.plan.messages import AbsentName, Failed, SkippedStatement

# Functions that a file calls to show something: no launch depends on them.
_SHOWING = frozenset({"print", "pprint", "debug", "info", "warning", "error"})
_SKIPPABLE = "__skippable__"
_QUOTED = re.compile(r"'(\w+)'")


@dataclass(frozen=True)
class OmittedStatement:
    """A statement that was left out, and the traceback of what ended it."""

    skipped: SkippedStatement
    traceback: str


@dataclass
class MissingNames:
    """Names that the statements left out would have bound. `anything` is a statement left out that may have bound any
    name: an import of everything from a module, or code run from a text."""

    names: dict[str, OmittedStatement] = field(default_factory=dict)
    anything: OmittedStatement | None = None

    def why(self, name: str) -> OmittedStatement | None:
        return self.names.get(name, self.anything)

    def absent(self, seq: int, name: str, line: int) -> AbsentName | None:
        """Return the message that a name is missing since a statement was left out; None if that is not the reason."""
        left = self.why(name)
        if left is None:
            return None
        return AbsentName(seq=seq, name=name[:200], line=line, skipped=left.skipped, traceback=left.traceback)


@dataclass
class LoadedFile:
    """The file as it was run."""

    module: types.ModuleType
    skipped: list[SkippedStatement]
    missing: MissingNames


def run(session: Session, source: bytes, function: str, seq: int) -> LoadedFile | Failed:
    """Run the file's statements, and leave out those that fail. `function` is the function that is graded."""
    try:
        text = importlib.util.decode_source(source)
    except (SyntaxError, UnicodeError, LookupError):
        return Failed(seq=seq, failure="unreadable_source", message="The file is not text in UTF-8.")
    try:
        tree = ast.parse(text, session.file)
        compile(tree, session.file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno or 0 if isinstance(error, SyntaxError) else 0
        return Failed(seq=seq, failure="syntax_error", message=failures.message(error), line=max(0, line),
                      traceback=failures.text(failures.lines_of(error), failures.TRACEBACK))
    # Lines are split as Python splits them, so that line numbers agree.
    linecache.cache[session.file] = (len(text), None, io.StringIO(text).readlines(), session.file)
    module = types.ModuleType(session.file.removesuffix(".py"), ast.get_docstring(tree))
    module.__file__ = session.file
    sys.modules[module.__name__] = module
    marking = _MarkSkippable(tree)
    # A long chain of branches or terms compiles, and is too deep for the visitor.
    with suppress(RecursionError):
        marking.visit(tree)
    module.__dict__[_SKIPPABLE] = SkippableStatement(session, marking.names)
    file = LoadedFile(module, [], MissingNames())
    flags = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            flags |= sum(getattr(__future__, alias.name).compiler_flag for alias in statement.names)
        with warnings.catch_warnings():
            # The compilation of the whole file has shown the warnings.
            warnings.simplefilter("ignore")
            code = compile(ast.Module([statement], []), session.file, "exec", flags=flags, dont_inherit=True)
        session.stopped = None
        try:
            exec(code, module.__dict__)
        except BaseException as error:
            given_up = _leave_out(session, file, statement, error, function, seq)
            if isinstance(given_up, Failed):
                return given_up
            if given_up:
                break
    session.stopped = None
    return file


class SkippableStatement:
    """A context manager around a statement that shows or checks numbers: if it is refused, it is left out, which costs
    nothing. `names` are names that only such statements use: a NameError for one of them costs nothing, either."""

    def __init__(self, session: Session, names: set[str]) -> None:
        self._session = session
        self._names = names
        self._before: list[PlanningStopped | None] = []

    def __enter__(self) -> None:
        self._before.append(self._session.stopped)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        before, stopped = self._before.pop(), self._session.stopped
        # A NameError for a local variable has the name in its text alone.
        if isinstance(error, NameError) and (named := _QUOTED.search(str(error))) and named[1] in self._names:
            return True
        if not isinstance(error, RefusedError) or stopped is None:
            return False
        self._session.leave_out("print", stopped.line, stopped.operator)
        self._session.stopped = before
        return True


class _MarkSkippable(ast.NodeTransformer):
    """A transformer that puts statements of functions under `SkippableStatement`: statements that show or check
    something, and statements that make a name for these alone, such as PyTorch's answer to compare with. Line numbers
    stay as they are."""

    def __init__(self, tree: ast.AST) -> None:
        self.names: set[str] = set()
        self._skippable: set[int] = set()
        self._acting: set[str] = set()
        # Compilers read functions that are kernels, also by `jit(function)`.
        self._kernels = {given.id for node in ast.walk(tree) if isinstance(node, ast.Call) and _jits(node.func)
                         for given in node.args if isinstance(given, ast.Name)}
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        while acting := {node.name for node in functions if node.name not in self._acting and self._acts(node, node)}:
            self._acting |= acting

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name in self._kernels or any(map(_jits, node.decorator_list)):
            return node
        uses: dict[str, list[ast.stmt]] = {}
        bindings: dict[str, list[ast.stmt]] = {}
        _look(node, node, uses, bindings)
        self._skippable |= {
            id(statement) for statement in ast.walk(node) if isinstance(statement, ast.stmt) and _shows(statement)
            and not self._acts(statement, node)}
        names: set[str] = set()
        while idle := [name for name, statements in bindings.items() if name not in names and name in uses
                       and all(_makes(statement) for statement in statements)
                       and all(id(use) in self._skippable for use in uses[name])]:
            names.update(idle)
            self._skippable |= {id(statement) for name in idle for statement in bindings[name]}
        self.names |= names
        return self.generic_visit(node)

    def visit(self, node: ast.AST) -> ast.AST:
        if id(node) not in self._skippable or not isinstance(node, ast.stmt):
            visited: ast.AST = super().visit(node)
            return visited
        block = ast.With([ast.withitem(ast.Name(_SKIPPABLE, ast.Load()))], [node])
        return ast.fix_missing_locations(ast.copy_location(block, node))

    def _acts(self, node: ast.AST, function: ast.FunctionDef) -> bool:
        """Return whether a part of a function launches a kernel, or changes an argument of the function in place,
        itself or in a function of the file that it calls."""
        given = {part.arg for part in ast.walk(function.args) if isinstance(part, ast.arg)}

        def of_given(expression: ast.expr) -> bool:
            return isinstance(expression, ast.Name) and expression.id in given

        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                named = part.func
                if isinstance(named, ast.Subscript) or (isinstance(named, ast.Name) and named.id in self._acting) or (
                        isinstance(named, ast.Attribute) and named.attr.endswith("_") and of_given(named.value)):
                    return True
            elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) and of_given(part.value):
                return True
        return False


def _jits(node: ast.expr) -> bool:
    """Return whether an expression is a decorator `jit`, of whatever module and with whatever arguments."""
    while isinstance(node, ast.Call):
        node = node.func
    return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) == "jit"


def _look(
    node: ast.AST, statement: ast.stmt, uses: dict[str, list[ast.stmt]], bindings: dict[str, list[ast.stmt]]
) -> None:
    """Collect for each name the statements that use it (`uses`) and those that bind or declare it (`bindings`)."""
    for child in ast.iter_child_nodes(node):
        within = child if isinstance(child, ast.stmt) else statement
        if isinstance(child, ast.Name):
            (uses if isinstance(child.ctx, ast.Load) else bindings).setdefault(child.id, []).append(within)
        elif isinstance(child, (ast.Global, ast.Nonlocal)):
            for name in child.names:
                bindings.setdefault(name, []).append(child)
        _look(child, within, uses, bindings)


def _makes(statement: ast.stmt) -> bool:
    """Return whether a statement binds one name and does nothing else."""
    return isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(
        statement.targets[0], ast.Name)


def _shows(statement: ast.stmt) -> bool:
    """Return whether a statement shows or checks something and does nothing else."""
    if isinstance(statement, ast.If):
        return all(_shows(node) for node in (*statement.body, *statement.orelse))
    called = statement.value.func if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
    return isinstance(statement, ast.Assert) or name in _SHOWING


def _leave_out(
    session: Session, file: LoadedFile, statement: ast.stmt, error: BaseException, function: str, seq: int
) -> Failed | bool:
    """Note a statement that failed; return whether the file ends here, or why it is not usable at all."""
    trace, line = failures.traceback_of(session, error), failures.line(session, error) or statement.lineno
    cascade = file.missing.why(getattr(error, "name", None) or "") if isinstance(error, NameError) else None
    why: Any = "exception"
    detail = failures.message(error)
    if (stopped := session.stopped) is not None:
        why = stopped.why if stopped.why in ("process", "network") else "numbers"
        detail, line, trace = stopped.operator.removeprefix("aten::"), stopped.line, stopped.traceback
    elif isinstance(error, SkippedError):
        why, detail = "benchmark", ""
    elif cascade is not None:
        why, detail = cascade.skipped.why, cascade.skipped.text
    elif _on_purpose(session, error) and function not in vars(file.module):
        return Failed(seq=seq, failure="import_error", message=detail, line=line, traceback=trace)
    elif isinstance(error, ModuleNotFoundError):
        why, detail = "module", str(error.name)
    left = OmittedStatement(SkippedStatement(line=statement.lineno, why=why, text=failures.text(detail, 200)), trace)
    file.skipped.append(left.skipped)
    del file.skipped[MOST_SKIPPED:]
    for name in _bound(statement):
        if name == "*":
            file.missing.anything = left
        elif name not in vars(file.module):
            file.missing.names[name] = left
    return isinstance(error, SystemExit) and _on_purpose(session, error)


def _on_purpose(session: Session, error: BaseException) -> bool:
    """Return whether the file itself ends its import, by `raise` or by an exit. An assertion is only a test."""
    if isinstance(error, AssertionError):
        return False
    return failures.raised(session, error) or (
        isinstance(error, SystemExit) and failures.origin(session, error) is not None)


def _bound(statement: ast.stmt) -> set[str]:
    """Return names that a statement binds at the file's top level."""
    names: set[str] = set()
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Name) and node.id == "exec":
            names.add("*")
        if not isinstance(node, ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))
    return names
