"""Reads a submission's file as text: decodes it, parses it and finds the graded function. Nothing is executed."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from typing import Literal, NoReturn

from grader.assignment import Assignment

# A kernel fills some kilobytes; the cap bounds the time that reading takes.
MAX_BYTES = 128 * 1024
# Far above what people write (an `elif` chain nests one level a branch), and low enough for recursion over the tree.
MAX_DEPTH = 150
# Each may be where any unknown name comes from, so that names times modules have to be looked at.
MAX_STARS = 8

ProblemKind = Literal["unreadable_source", "syntax_error", "missing_function", "wrong_signature"]
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class SourceProblem(Exception):
    """The file cannot be graded. `message` is one line for the student; `line` is 0 where no line is to blame."""

    def __init__(self, kind: ProblemKind, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.line = line


def parse(text: str, assignment: Assignment) -> ast.Module:
    """The tree of a file that defines the graded function with the right parameters.

    Raises SourceProblem for text that is no Python, nests beyond reason or lacks the function.
    """
    tree = _parse(text, assignment.file)
    _check_function(tree, assignment)
    return tree


def decode(source: bytes, file: str) -> str:
    """The file's text. Raises SourceProblem for what is too long or no UTF-8."""
    if len(source) > MAX_BYTES:
        _refuse(f"{file} is {len(source)} bytes long; at most {MAX_BYTES} expected")
    if (at := source.find(b"\0")) >= 0:
        _refuse(f"{file} holds a null byte; plain text in UTF-8 expected", source.count(b"\n", 0, at) + 1)
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        _refuse(f"{file}, line {line}: byte 0x{source[error.start]:02x} is not UTF-8; save the file as UTF-8", line)


def _refuse(message: str, line: int = 0) -> NoReturn:
    raise SourceProblem("unreadable_source", message, line)


def _parse(text: str, file: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            # An invalid escape such as "\d" is a warning at most, whatever this process does with warnings.
            warnings.simplefilter("ignore")
            tree = ast.parse(text, file)
    except SyntaxError as error:
        line = max(error.lineno or 0, 0)
        raise SourceProblem("syntax_error", f"{file}, line {line}: {error.msg}", line) from None
    except (RecursionError, MemoryError, OverflowError, SystemError):
        _refuse(f"{file} nests too deeply for Python's parser; simpler code expected")
    except ValueError as error:
        raise SourceProblem("syntax_error", f"{file}: {str(error)[:200]}") from None
    _check_depth(tree, file)
    _check_stars(tree, file)
    return tree


def _check_depth(tree: ast.Module, file: str) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    line = next((node.lineno for node in level if isinstance(node, ast.expr | ast.stmt)), 0)
    _refuse(f"{file}, line {line}: nested deeper than {MAX_DEPTH} levels; simpler code expected", line)


def _check_stars(tree: ast.Module, file: str) -> None:
    stars = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
    if len({node.module for node in stars}) > MAX_STARS:
        line = max(node.lineno for node in stars)
        _refuse(f"{file}, line {line}: imports * from more than {MAX_STARS} modules; the names that are used expected",
                line)


def _check_function(tree: ast.Module, assignment: Assignment) -> None:
    bound: ast.AST | None = None
    found: list[str] = []
    for node in module_level(tree):
        names = bound_names(node)
        found += [node.name for _ in names if isinstance(node, FunctionNode)]
        if assignment.function in names or "*" in names:
            bound = node
    if bound is None and not _binds_indirectly(tree, assignment.function):
        functions = f"found: {', '.join(found[:5])}" if found else "found no function at all"
        message = f"{assignment.file} defines no function named {assignment.function}"
        raise SourceProblem("missing_function", f"{message}; expected {assignment.signature}, {functions}")
    # A decorated function is called through whatever the decorator returned: run time shows what that takes.
    if isinstance(bound, FunctionNode) and not bound.decorator_list:
        _check_signature(bound, assignment)


def _binds_indirectly(tree: ast.Module, name: str) -> bool:
    """Whether the name may come to be in a way that only a run can show."""
    return any((isinstance(node, ast.Global) and name in node.names)
               or (isinstance(node, ast.Name) and node.id in ("globals", "vars", "setattr", "exec"))
               for node in ast.walk(tree))


def _check_signature(function: FunctionNode, assignment: Assignment) -> None:
    arguments = function.args
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    expected = [p.name for p in assignment.parameters]
    required = len(positional) - len(arguments.defaults)
    fits = required <= len(expected) and (len(expected) <= len(positional) or arguments.vararg is not None)
    fits = fits and all(default is not None for default in arguments.kw_defaults)
    given = positional[: len(expected)]
    swapped = given != expected and sorted(given) == sorted(expected)
    prefix = "async def " if isinstance(function, ast.AsyncFunctionDef) else ""
    if prefix or swapped or not fits:
        found = _written(_without_annotations(arguments))
        place = f"{assignment.file}, line {function.lineno}"
        message = f"{place}: expected {assignment.signature}, found {prefix}{function.name}({found[:200]})"
        raise SourceProblem("wrong_signature", message, function.lineno)


def _written(arguments: ast.arguments) -> str:
    """The parameters as one line of source."""
    try:
        return ", ".join(ast.unparse(arguments).split("\n"))
    except (ValueError, RecursionError):
        # Python reads 0xfff…, and cannot write it down in decimal digits.
        return "…"


def _without_annotations(arguments: ast.arguments) -> ast.arguments:
    def bare(one: ast.arg | None) -> ast.arg | None:
        return None if one is None else ast.arg(one.arg)

    return ast.arguments(
        posonlyargs=[ast.arg(a.arg) for a in arguments.posonlyargs],
        args=[ast.arg(a.arg) for a in arguments.args],
        vararg=bare(arguments.vararg),
        kwonlyargs=[ast.arg(a.arg) for a in arguments.kwonlyargs],
        kw_defaults=arguments.kw_defaults,
        kwarg=bare(arguments.kwarg),
        defaults=arguments.defaults,
    )


def module_level(tree: ast.Module) -> list[ast.AST]:
    """The nodes that run in the module's own scope, in textual order.

    What stands under `if __name__ == "__main__":` is left out, unless the file sets `__name__` itself.
    """
    return scope_nodes(tree.body, sets_name(tree))


def scope_nodes(body: Sequence[ast.AST], main_runs: bool) -> list[ast.AST]:
    """The nodes of one scope, in textual order. Functions and classes are among them, their bodies are not; lambdas
    and comprehensions count as part of the scope."""
    nodes: list[ast.AST] = []
    stack: list[ast.AST] = list(reversed(living(body)))
    while stack:
        node = stack.pop()
        nodes.append(node)
        if not isinstance(node, FunctionNode | ast.ClassDef):
            stack.extend(reversed(running_children(node, main_runs)))
    return nodes


def living(body: Sequence[ast.AST]) -> list[ast.AST]:
    """A block up to the first statement that leaves it."""
    leaving = (ast.Return, ast.Raise, ast.Continue, ast.Break)
    end = next((i + 1 for i, node in enumerate(body) if isinstance(node, leaving)), len(body))
    return list(body[:end])


def running_children(node: ast.AST, main_runs: bool) -> list[ast.AST]:
    """The children of a node without what cannot run: a main guard's body, `if False:`, and what follows a `return`."""
    children: list[ast.AST] = []
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            children.append(value)
        elif isinstance(value, list) and not (field == "body" and isinstance(node, ast.If)
                                              and _never(node.test, main_runs)):
            children += living([item for item in value if isinstance(item, ast.AST)])
    return children


def sets_name(tree: ast.Module) -> bool:
    """Whether the file binds `__name__`, by which it could make its own main guard true."""
    return any("__name__" in bound_names(node) or (isinstance(node, ast.Constant) and node.value == "__name__")
               for node in ast.walk(tree))


def _never(test: ast.expr, main_runs: bool) -> bool:
    if isinstance(test, ast.Constant):
        return not test.value
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_never(value, main_runs) for value in test.values)
    if main_runs or not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = [test.left, *test.comparators]
    names = [isinstance(side, ast.Name) and side.id == "__name__" for side in sides]
    mains = [isinstance(side, ast.Constant) and side.value == "__main__" for side in sides]
    return any(names) and any(mains) and all(name or main for name, main in zip(names, mains, strict=True))


def bound_names(node: ast.AST) -> list[str]:
    """The names that one node binds in its scope; `*` for a star import."""
    if isinstance(node, FunctionNode | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return [node.name] if node.name else []
    return []
