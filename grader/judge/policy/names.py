"""Scopes of a student's file: what a name stands for, as far as the text tells without running it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence

from grader.judge.policy.source import FunctionNode, bound_names, living, scope_nodes

MOST_MEANINGS = 8
LONGEST_MEANING = 200
# Rounds in which aliases of aliases are followed, against the order of the text.
MOST_ROUNDS = 4
# A name that may stand for more texts than people write is as good as put together at run time.
MOST_TEXTS = 64

Unit = FunctionNode | ast.ClassDef | ast.Assign | ast.AnnAssign
"""What runs, or is looked into, only once its name is used: a function, a class, a literal of functions."""


class Scope:
    """The names of a module, function or class body.

    `meanings` maps a name to the dotted names that it may stand for, whichever binding of it is in force: reading does
    not follow the order of execution. A name bound to anything else is in `bound` alone.
    """

    def __init__(
        self, body: Sequence[ast.AST], parent: Scope | None = None, *, main_runs: bool = False,
        parameters: Iterable[str] | None = None,
    ) -> None:
        self.parent = parent
        self.main_runs = main_runs
        self.is_function = parameters is not None
        self.bound = set(parameters or ())
        self.lines: dict[str, int] = {}
        self.meanings: dict[str, set[str]] = {}
        self.units: dict[str, list[Unit]] = {}
        self.stars: set[str] = set()
        # Names, as host code or as kernel code, whose units have been reached.
        self.reached: set[tuple[str, bool]] = set()
        self.settled = True
        nodes = scope_nodes(body, main_runs)
        self.outside = {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
        for node in nodes:
            for name in bound_names(node):
                if name not in self.outside:
                    self.bound.add(name)
                    self.lines[name] = getattr(node, "lineno", 0)
        if parent is None:
            # A function may bind names of the module too.
            self.bound |= {name for one in body for node in ast.walk(one) if isinstance(node, ast.Global)
                           for name in node.names}
        for node in nodes:
            self._import(node)
        # Again and again, since an alias may be bound in the text after what is made from it.
        aliases = [node for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr)]
        for _ in range(MOST_ROUNDS):
            before = self._known()
            for node in aliases:
                self._alias(node)
            self.settled = self._known() == before
            if self.settled:
                break
        self._collect(nodes, living(body))

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self._mean(alias.asname or alias.name.partition(".")[0],
                           alias.name if alias.asname else alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if alias.name == "*":
                    self.stars.add(node.module)
                else:
                    self._mean(alias.asname or alias.name, f"{node.module}.{alias.name}")

    def _mean(self, name: str, meaning: str) -> None:
        self.bound.add(name)
        self.meanings.setdefault(name, set()).add(meaning)

    def _known(self) -> int:
        return sum(len(meanings) for meanings in self.meanings.values())

    def stands_for(self, target: ast.expr, value: ast.expr) -> bool:
        """Whether a name is known to stand for all that a value may be, so that its uses tell what is used."""
        return (isinstance(target, ast.Name) and self.settled and target.id not in self.outside
                and bool(found := self.dotted(value)) and found <= self.meanings.get(target.id, set()))

    def _alias(self, node: ast.AST) -> None:
        for target, value in assigned(node):
            if isinstance(target, ast.Name) and target.id not in self.outside:
                for meaning in self.dotted(value):
                    # `a = a.b`, a thousand times over, must not make a thousand long names.
                    if len(self.meanings.get(target.id, ())) < MOST_MEANINGS and len(meaning) <= LONGEST_MEANING:
                        self._mean(target.id, meaning)

    def _collect(self, nodes: list[ast.AST], top: list[ast.AST]) -> None:
        loaded = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        straight = {id(node) for node in top}
        for node in nodes:
            if isinstance(node, FunctionNode | ast.ClassDef):
                # A later definition replaces one that nothing could have kept a hold of.
                if id(node) in straight and node.name not in loaded:
                    self.units[node.name] = []
                self.units.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign) and deferred(node):
                for target, value in assigned(node):
                    if isinstance(target, ast.Name) and not self.dotted(value):
                        self.units.setdefault(target.id, []).append(node)

    def owner(self, name: str) -> Scope | None:
        """The scope whose binding a name refers to; None for built-ins and names from star imports."""
        scope: Scope | None = self
        while scope is not None and name not in scope.bound:
            scope = scope.parent
        return scope

    def meaning(self, name: str) -> set[str]:
        owner = self.owner(name)
        if owner is not None:
            return owner.meanings.get(name, set())
        if hasattr(builtins, name) or name == "__builtins__":
            return {f"builtins.{name}"}
        module = self
        while module.parent is not None:
            module = module.parent
        return {f"{star}.{name}" for star in module.stars | self.stars}

    def dotted(self, node: ast.AST | None) -> set[str]:
        """The dotted names that an expression may stand for: `F.silu` is `torch.nn.functional.silu`. Empty if unknown.

        Follows `getattr`, `import_module` and `sys.modules` with constant names too.
        """
        if isinstance(node, ast.Name):
            return self.meaning(node.id)
        if isinstance(node, ast.Attribute):
            return {f"{base}.{node.attr}" for base in self.dotted(node.value)}
        if isinstance(node, ast.Subscript) and self.dotted(node.value) == {"sys.modules"}:
            key = constant_text(node.slice)
            return {key} if key else set()
        if not isinstance(node, ast.Call) or not node.args:
            return set()
        function = self.dotted(node.func)
        if function == {"builtins.getattr"} and len(node.args) > 1 and (name := constant_text(node.args[1])):
            return {f"{base}.{name}" for base in self.dotted(node.args[0])}
        if function & {"importlib.import_module", "builtins.__import__"} and (name := constant_text(node.args[0])):
            return {name}
        if function == {"functools.partial"}:
            return self.dotted(node.args[0])
        return set()


def assigned(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """Pairs of target and value of an assignment; tuples are taken apart where both sides are written out."""
    if isinstance(node, ast.NamedExpr) or (isinstance(node, ast.AnnAssign) and node.value is not None):
        assert node.value is not None
        return [(node.target, node.value)]
    pairs: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if (isinstance(target, ast.Tuple | ast.List) and isinstance(node.value, ast.Tuple | ast.List)
                    and len(target.elts) == len(node.value.elts)):
                pairs += zip(target.elts, node.value.elts, strict=True)
            else:
                pairs.append((target, node.value))
    return pairs


def deferred(node: ast.Assign | ast.AnnAssign) -> bool:
    """Whether an assignment computes nothing until its names are used: functions in a literal, an alias, a lambda."""
    return node.value is not None and _inert(node.value) and all(isinstance(t, ast.Name) for t, _ in assigned(node))


def _inert(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple | ast.List | ast.Set):
        return all(_inert(element) for element in value.elts)
    if isinstance(value, ast.Dict):
        return all(_inert(element) for element in (*value.values, *(key for key in value.keys if key is not None)))
    if isinstance(value, ast.Attribute):
        return _inert(value.value)
    return isinstance(value, ast.Constant | ast.Name | ast.Lambda)


def constant_text(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def constant_names(tree: ast.AST) -> dict[str, set[str]]:
    """Names whose every binding in the file, whatever its scope, is to written-out text: `for name in ("a", "b"):`."""
    texts: dict[str, set[str]] = {}
    given: dict[str, int] = {}
    stored: dict[str, int] = {}
    for node in ast.walk(tree):
        for name in bound_names(node):
            stored[name] = stored.get(name, 0) + 1
        pairs = [(target, [value]) for target, value in assigned(node)]
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Tuple | ast.List):
            pairs.append((node.target, node.iter.elts))
        for target, values in pairs:
            found = [constant_text(value) for value in values]
            if isinstance(target, ast.Name) and None not in found:
                texts.setdefault(target.id, set()).update(text for text in found if text is not None)
                given[target.id] = given.get(target.id, 0) + 1
    return {name: texts[name] for name in texts if given[name] == stored.get(name) and len(texts[name]) <= MOST_TEXTS}


def touched_names(statement: ast.AST, module: Scope) -> set[str] | None:
    """The module's names that a statement binds, or calls a method of; None for one that may do more than that.

    Where none of them is used, neither are the statement's results: a test that a student left in the file.
    """
    if isinstance(statement, FunctionNode | ast.ClassDef | ast.Import | ast.ImportFrom):
        return None
    bound: set[str] = set()
    changed: set[str] = set()
    for node in scope_nodes([statement], module.main_runs):
        if isinstance(node, FunctionNode | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Global | ast.Raise):
            return None
        bound.update(bound_names(node))
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed.add(_root(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed.add(_root(node.func))
    return bound | {name for name in changed if name not in module.meanings}


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def folded_text(node: ast.expr) -> str | None:
    """The text of a constant, or of constants added up."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = folded_text(node.left), folded_text(node.right)
        return None if left is None or right is None else left + right
    return constant_text(node)
