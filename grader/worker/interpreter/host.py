"""What a submission's host code insists on: a device that is not there. Its checks for one are left out."""

from __future__ import annotations

import ast
from types import CodeType

# `assert x.is_cuda`, `if x.device != DEVICE: raise ...`, `if not torch.cuda.is_available(): sys.exit()`.
DEVICE_WORDS = frozenset({"is_cuda", "is_cpu", "device", "DEVICE", "is_available", "device_count", "is_pinned"})
_CHECKS = frozenset({"_assert", "_check"})
_EXITS = frozenset({"exit", "quit", "_exit", "abort"})
_TELLS = frozenset({"print", "warn", "warning", "error", "info", "write"})


class _WithoutDeviceChecks(ast.NodeTransformer):
    def __init__(self, words: frozenset[str]) -> None:
        self.words = words

    def _about_device(self, test: ast.expr) -> bool:
        return not self.words.isdisjoint(_words(test))

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        if (rest := self._rest(node.test, wanted=True)) is None:
            return _pass(node)
        node.test = rest
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        call = node.value
        if isinstance(call, ast.Call) and call.args and _called(call) in _CHECKS:
            if (rest := self._rest(call.args[0], wanted=True)) is None:
                return _pass(node)
            call.args[0] = rest
        return node

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        if self._about_device(node.test):
            refuses = _refuses(node.body)
            if refuses or self._gives_up(node.orelse):
                rest = self._rest(node.test, wanted=not refuses)
                if rest is None:
                    return self._block(node.orelse if refuses else node.body) or _pass(node)
                node.test = rest
        self.generic_visit(node)
        return node

    def _rest(self, test: ast.expr, *, wanted: bool) -> ast.expr | None:
        """A condition that is to be `wanted`, without the parts of it that are about a device; None if none is left."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._rest(test.operand, wanted=not wanted)
            return None if inner is None else ast.copy_location(ast.UnaryOp(op=test.op, operand=inner), test)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if wanted else ast.Or):
            parts = [part for value in test.values if (part := self._rest(value, wanted=wanted)) is not None]
            if len(parts) < 2:
                return parts[0] if parts else None
            return ast.copy_location(ast.BoolOp(op=test.op, values=parts), test)
        return None if self._about_device(test) else test

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        for place, one in enumerate(node.body):
            rest = node.body[place + 1 :]
            # `if x.is_cuda: ...; return` and then `raise`: the rest is the other branch.
            if not isinstance(one, ast.If) or one.orelse or not isinstance(one.body[-1], ast.Return):
                continue
            if self._about_device(one.test) and _refuses(rest):
                one.orelse = rest
                del node.body[place + 1 :]
                break
        self.generic_visit(node)
        return node

    def _gives_up(self, block: list[ast.stmt]) -> bool:
        """Whether every way through what is an `else` or a chain of `elif`s about devices ends in a refusal."""
        if len(block) == 1 and isinstance(chain := block[0], ast.If) and self._about_device(chain.test):
            return self._gives_up(chain.orelse)
        return _refuses(block)

    def _block(self, block: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in block:
            one = self.visit(statement)
            made += one if isinstance(one, list) else [one]
        return made


def _pass(node: ast.stmt) -> ast.Pass:
    return ast.copy_location(ast.Pass(), node)


def _words(node: ast.AST) -> set[str]:
    parts = list(ast.walk(node))
    return {p.attr for p in parts if isinstance(p, ast.Attribute)} | {p.id for p in parts if isinstance(p, ast.Name)}


def _called(node: ast.expr) -> str:
    """The last name of what is called; "" if it has none, or nothing is called."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _refuses(block: list[ast.stmt]) -> bool:
    """Whether a block does nothing but refuse to go on: it raises, exits or returns nothing, and may say why."""
    if not block or not all(_says(statement) for statement in block[:-1]):
        return False
    last = block[-1]
    if isinstance(last, ast.Return):
        return last.value is None or ast.unparse(last.value) == "None"
    return isinstance(last, ast.Raise) or (isinstance(last, ast.Expr) and _called(last.value) in _EXITS)


def _says(node: ast.stmt) -> bool:
    """A message put together or given out."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Name) for target in node.targets)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and _called(node.value) in _TELLS)


def _answers(tree: ast.Module) -> set[str]:
    """Names that hold an answer about the device, as in `HAS_GPU = torch.cuda.is_available()`."""
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute | ast.Call | ast.UnaryOp | ast.Compare)
        and not {"is_cuda", "is_available"}.isdisjoint(_words(node.value))
        and (not isinstance(node.value, ast.Call) or _called(node.value) == "is_available")
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip


def compile_host(source: str, file: str) -> CodeType:
    """Compiles a submission without its checks that there is a GPU and that its tensors are on it: without one they
    never are, and an honest kernel must not fail for it. Other conditions on a device stand, as does what is done where
    there is no GPU. Lines stay as they are. Raises what `compile` raises."""
    tree = ast.parse(source, file)
    tree = _WithoutDeviceChecks(DEVICE_WORDS | _answers(tree)).visit(tree)
    code: CodeType = compile(tree, file, "exec", dont_inherit=True)
    return code
