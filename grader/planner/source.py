"""A submission's file, run statement by statement. A statement at the top level that needs numbers is left out, and
reported; so is a line that prints or checks them, in a function too."""

from __future__ import annotations
import __future__

import ast
import importlib.util
import io
import linecache
import sys
import types
import warnings
from dataclasses import dataclass, field
from typing import Any

from grader.plan.messages import Absent, Failed, Skipped
from grader.planner import failures
from grader.planner.record import MOST_SKIPPED, RefusedError, Session, SkippedError, Stopped

# What a file calls to show something: nothing that it launches depends on it.
_SHOWING = frozenset({"print", "pprint", "debug", "info", "warning", "error"})
_SPARED = "__spared__"


@dataclass(frozen=True)
class LeftOut:
    """A statement that was left out, and the traceback of what ended it."""

    skipped: Skipped
    traceback: str


@dataclass
class Missing:
    """Names that statements left out would have bound. `anything` is the one that may have bound any name: an import of
    everything from a module, or code run from a text."""

    names: dict[str, LeftOut] = field(default_factory=dict)
    anything: LeftOut | None = None

    def why(self, name: str) -> LeftOut | None:
        return self.names.get(name, self.anything)

    def absent(self, seq: int, name: str, line: int) -> Absent | None:
        """That a name is not there since a statement was left out, if that is so."""
        left = self.why(name)
        if left is None:
            return None
        return Absent(seq=seq, name=name[:200], line=line, skipped=left.skipped, traceback=left.traceback)


@dataclass
class Loaded:
    """The file as it was run."""

    module: types.ModuleType
    skipped: list[Skipped]
    missing: Missing


def run(session: Session, source: bytes, function: str, seq: int) -> Loaded | Failed:
    """Runs the file's statements, those that fail left out. `function` is what the file is graded for."""
    try:
        text = importlib.util.decode_source(source)
    except (SyntaxError, UnicodeDecodeError):
        return Failed(seq=seq, failure="unreadable_source", message="The file is not text in UTF-8.")
    try:
        tree = ast.parse(text, session.file)
        compile(tree, session.file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno or 0 if isinstance(error, SyntaxError) else 0
        return Failed(seq=seq, failure="syntax_error", message=failures.message(error), line=max(0, line),
                      traceback=failures.text(failures.lines_of(error), failures.TRACEBACK))
    # Lines end where Python's own do, so that numbers agree with its.
    linecache.cache[session.file] = (len(text), None, io.StringIO(text).readlines(), session.file)
    module = types.ModuleType(session.file.removesuffix(".py"), ast.get_docstring(tree))
    module.__file__ = session.file
    sys.modules[module.__name__] = module
    module.__dict__[_SPARED] = Spared(session)
    tree = _Sparing().visit(tree)
    loaded = Loaded(module, [], Missing())
    flags = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            flags |= sum(getattr(__future__, alias.name).compiler_flag for alias in statement.names)
        with warnings.catch_warnings():
            # Told when the whole was compiled.
            warnings.simplefilter("ignore")
            code = compile(ast.Module([statement], []), session.file, "exec", flags=flags, dont_inherit=True)
        session.stopped = None
        try:
            exec(code, module.__dict__)
        except BaseException as error:
            given_up = _leave_out(session, loaded, statement, error, function, seq)
            if isinstance(given_up, Failed):
                return given_up
            if given_up:
                break
    session.stopped = None
    return loaded


class Spared:
    """While open, a refusal costs nothing: the statement shows numbers or checks them, and is left out."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._before: list[Stopped | None] = []

    def __enter__(self) -> None:
        self._before.append(self._session.stopped)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        before, stopped = self._before.pop(), self._session.stopped
        if not isinstance(error, RefusedError) or stopped is None:
            return False
        self._session.leave_out("print", stopped.line, stopped.operator)
        self._session.stopped = before
        return True


class _Sparing(ast.NodeTransformer):
    """Puts what shows or checks something in a function under `Spared`. Lines stay as they are."""

    def __init__(self) -> None:
        self._inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        outside, self._inside = self._inside, True
        found = self.generic_visit(node)
        self._inside = outside
        return found

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return self._spared(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        called = node.value.func if isinstance(node.value, ast.Call) else None
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        return self._spared(node) if name in _SHOWING else node

    def _spared(self, node: ast.stmt) -> ast.stmt:
        if not self._inside:
            return node
        made = ast.With([ast.withitem(ast.Name(_SPARED, ast.Load()))], [node])
        return ast.fix_missing_locations(ast.copy_location(made, node))


def _leave_out(
    session: Session, loaded: Loaded, statement: ast.stmt, error: BaseException, function: str, seq: int
) -> Failed | bool:
    """Tells of a statement that failed; whether the file ends here, or why it is not usable at all."""
    trace, line = failures.traceback_of(session, error), failures.line(session, error) or statement.lineno
    cascade = loaded.missing.why(getattr(error, "name", None) or "") if isinstance(error, NameError) else None
    why: Any = "exception"
    said = failures.message(error)
    if (stopped := session.stopped) is not None:
        why = stopped.why if stopped.why in ("process", "network") else "numbers"
        said, line, trace = stopped.operator.removeprefix("aten::"), stopped.line, stopped.traceback
    elif isinstance(error, SkippedError):
        why, said = "benchmark", ""
    elif cascade is not None:
        why, said = cascade.skipped.why, cascade.skipped.text
    elif _on_purpose(session, error) and function not in vars(loaded.module):
        return Failed(seq=seq, failure="import_error", message=said, line=line, traceback=trace)
    elif isinstance(error, ModuleNotFoundError):
        why, said = "module", str(error.name)
    left = LeftOut(Skipped(line=statement.lineno, why=why, text=failures.text(said, 200)), trace)
    loaded.skipped.append(left.skipped)
    del loaded.skipped[MOST_SKIPPED:]
    for name in _bound(statement):
        if name == "*":
            loaded.missing.anything = left
        elif name not in vars(loaded.module):
            loaded.missing.names[name] = left
    return isinstance(error, SystemExit) and _on_purpose(session, error)


def _on_purpose(session: Session, error: BaseException) -> bool:
    """Whether the file itself ends here: by `raise`, or by an exit. An assertion is a test."""
    if isinstance(error, AssertionError):
        return False
    return failures.raised(session, error) or (
        isinstance(error, SystemExit) and failures.origin(session, error) is not None)


def _bound(statement: ast.stmt) -> set[str]:
    """Names that a statement binds at the file's top level."""
    found: set[str] = set()
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Name) and node.id == "exec":
            found.add("*")
        if not isinstance(node, ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))
    return found
