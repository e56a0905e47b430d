"""A submission's file, run statement by statement. A statement at the top level that needs numbers is left out, and
reported."""

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

from grader.plan.messages import Failed, Refused, Skipped
from grader.planner import failures
from grader.planner.record import Session, SkippedError

MOST_SKIPPED = 64


@dataclass
class Missing:
    """Names that statements left out would have bound, and why they are not there. `anything` is why any name may be
    missing: an import of everything from a module."""

    names: dict[str, Failed | Refused] = field(default_factory=dict)
    anything: Failed | Refused | None = None

    def why(self, name: str) -> Failed | Refused | None:
        return self.names.get(name, self.anything)


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


def _leave_out(
    session: Session, loaded: Loaded, statement: ast.stmt, error: BaseException, function: str, seq: int
) -> Failed | bool:
    """Tells of a statement that failed; whether the file ends here, or why it is not usable at all."""
    failed: Failed | Refused = Failed(
        seq=seq, failure="import_error", message=failures.message(error),
        line=failures.line(session, error) or statement.lineno, traceback=failures.traceback_of(session, error))
    cascade = loaded.missing.why(getattr(error, "name", None) or "") if isinstance(error, NameError) else None
    why: Any = "exception"
    if session.stopped is not None:
        stopped = session.stopped
        why = "exception" if stopped.why in ("process", "network") else "numbers"
        failed = Refused(
            seq=seq, why=stopped.why, operator=stopped.operator, line=stopped.line, traceback=stopped.traceback)
    elif isinstance(error, SkippedError):
        why = "benchmark"
    elif isinstance(cascade, Refused):
        why, failed = "numbers", cascade
    elif cascade is not None:
        failed = cascade
    elif _on_purpose(session, error) and function not in vars(loaded.module):
        assert isinstance(failed, Failed)
        return failed
    loaded.skipped.append(Skipped(
        line=statement.lineno, why=why, text=failures.text(failures.message(error), 200)))
    del loaded.skipped[MOST_SKIPPED:]
    for name in _bound(statement):
        if name == "*":
            loaded.missing.anything = failed
        elif name not in vars(loaded.module):
            loaded.missing.names[name] = failed
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
        if not isinstance(node, ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))
    return found
