"""What is wrong with one name, attribute or call of a submission's text; the reader decides which of them are read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Set
from dataclasses import dataclass

from grader.judge.policy import allowed, modules
from grader.judge.policy.names import Scope, assigned, constant_names, constant_text, folded_text
from grader.judge.policy.source import FunctionNode

MAX_VIOLATIONS = 50
TEXT = 60
_HIDDEN = "A name put together at run time hides what is used."
_INSIDES = "This reaches into Python's insides; a kernel's launch needs nothing of them."
_ARRAYS = "This reaches into Triton's interpreter; no kernel on a GPU can."
_LEADS = "This leads from a library's object to another module, out of the kernel's work."
_NO_FILE = "A kernel needs no file."
_LOOKED_UP = "A module looked up at run time hides what is used."
# As far into a name as a text known beforehand must reach to tell what the name is not.
_FORBIDDEN = allowed.INSIDES | allowed.READING | allowed.TENSOR_METHODS | allowed.LEADING


@dataclass(frozen=True, order=True)
class Violation:
    """`what` is an operator or a name ("torch.mm", "a @ b"), `why` one sentence for the student.

    `line` is 0 where no line of the file is to blame.
    """

    line: int
    what: str
    why: str


class Judge:
    """Judges what the reader shows it, and keeps the violations in `found`."""

    def __init__(self, tree: ast.Module, text: str, operators: Set[str], own_module: str) -> None:
        self.tree = tree
        # As Python counts lines, which is not as str.splitlines does.
        self.lines = [line.encode() for line in re.split(r"\r\n|\r|\n", text)]
        self.operators = operators
        self.own_module = own_module
        self.found: set[Violation] = set()
        # Whether what is read now runs, though the graded function can use none of its results.
        self.leftover = False
        self.constants = constant_names(tree)
        self._why: dict[str, str | None] = {}
        nodes = list(ast.walk(tree))
        classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
        methods = [node for one in classes for node in one.body if isinstance(node, FunctionNode)]
        # `self.__dict__.update(...)` sets attributes; anything else could hand out those of a library's type.
        self._updated = {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr == "update"}
        self.own_methods = {node.name for node in methods}
        self.own = {"self", "cls"} | {one.name for one in classes}
        self.own |= {target.id for node in nodes for target, value in assigned(node)
                     if isinstance(target, ast.Name) and isinstance(value, ast.Call)
                     and isinstance(value.func, ast.Name) and value.func.id in self.own - {"self", "cls"}}

    def mine(self, node: ast.expr | None, kernel: bool) -> bool:
        """Whether an object is one of the student's own classes, as far as its name tells."""
        maker = node.func if isinstance(node, ast.Call) else node
        return isinstance(maker, ast.Name) and maker.id in self.own and not kernel

    def value(self, name: str, line: int, kernel: bool) -> None:
        """Judges a dotted name that is used as a value."""
        # Kernels may name a dtype; what they call is looked at where they call it.
        if kernel and name.partition(".")[0] in ("torch", "numpy"):
            return
        if allowed.is_module(name):
            self.add(line, name, "A module handed on as a value hides what is used of it.")
        elif name in allowed.FINDING and not kernel:
            self.add(line, name.removeprefix("builtins."), _HIDDEN)
        elif name in modules.STREAMS:
            self.add(line, name, _NO_FILE)
        else:
            self.name(name, line)

    def name(self, name: str, line: int) -> None:
        """Judges a dotted name that something is done with."""
        if name not in self._why:
            self._why[name] = allowed.why_not(name, self.operators, self.own_module)
        if why := self._why[name]:
            self.add(line, name.removeprefix("builtins."), why)
        elif "." in name and name.rpartition(".")[2] in allowed.LEADING:
            self.add(line, name.removeprefix("builtins."), _where(name.rpartition(".")[2]))

    def stored(self, name: str, line: int) -> None:
        """Judges a dotted name of a library that something is assigned to."""
        if not allowed.may_set(name):
            self.add(line, name, "A submission may not change PyTorch, Triton or Python themselves.")

    def imported(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """Judges an import statement that runs; what comes of it is judged where it is used."""
        prefix = f"{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            name = prefix + alias.name
            if why := modules.why_not_imported(name):
                self.add(node.lineno, name, why)
            # Of another scope's name, nobody knows where it is used.
            if (alias.asname or alias.name.partition(".")[0]) in scope.outside:
                self.value(name, node.lineno, False)

    def attribute(self, node: ast.Attribute, kernel: bool, known: bool) -> None:
        """Judges an attribute by its name; `known` where it is one of a library's."""
        name, mine = node.attr, not known and self.mine(node.value, kernel)
        handed_out = name == "__dict__" and not (mine and id(node) in self._updated)
        renamed = name == "__module__" and not isinstance(node.ctx, ast.Load)
        if name in allowed.INSIDES or handed_out or renamed:
            self.add(node.lineno, self.text(node), _INSIDES)
        elif not known and name in allowed.LEADING and not mine:
            self.add(node.lineno, self.text(node), _where(name))
        elif not known and name in allowed.READING and not kernel:
            self.method(name, node)

    def pattern(self, node: ast.MatchClass) -> None:
        """Judges a pattern, which reads the attributes that it names."""
        for name in node.kwd_attrs:
            self.inside(name, node)

    def inside(self, name: str, node: ast.expr | ast.pattern) -> None:
        """Judges a name by which an attribute is found."""
        if name in allowed.INSIDES or name == "__dict__":
            self.add(node.lineno, self.text(node), _INSIDES)
        elif name in allowed.LEADING:
            self.add(node.lineno, self.text(node), _where(name))

    def constant(self, text: str, node: ast.expr) -> None:
        """Judges a text that stands in the source: one that names the insides is there to find them."""
        if text in allowed.INSIDES or text in allowed.OF_MODULE:
            self.add(node.lineno, self.text(node), _INSIDES)

    def bound(self, names: Iterable[str], scope: Scope, line: int) -> None:
        """Judges the names that a scope binds."""
        for name in sorted((allowed.OF_MODULE if scope.parent is None else allowed.INSIDES) & set(names)):
            self.add(scope.lines.get(name, line), name, _INSIDES)

    def method(self, name: str, node: ast.expr) -> None:
        """Judges a method by its name, on an object that the source does not tell the type of."""
        if not allowed.method_allowed(name, self.operators) and name not in self.own_methods:
            self.add(node.lineno, self.text(node), allowed.METHOD_COMPUTES)

    def module(self, node: ast.Subscript, scope: Scope) -> None:
        """Judges `sys.modules[...]`."""
        names = scope.dotted(node)
        for name in names:
            self.value(name, node.lineno, False)
        if not names:
            self.add(node.lineno, self.text(node), _LOOKED_UP)

    def finds(self, node: ast.Call, function: Set[str], scope: Scope, kernel: bool) -> bool:
        """Judges a call that finds something by a name; whether it was one, and the function itself is settled."""
        bare = {name.partition(".")[2] for name in function if name.startswith(("builtins.", "operator.", "io."))}
        first = node.args[0] if node.args else None
        if bare & {"getattr", "setattr", "delattr"} and len(node.args) > 1:
            self._indirect(node, bare, scope, kernel)
        elif bare & {"attrgetter", "methodcaller"}:
            for one in node.args if "attrgetter" in bare else node.args[:1]:
                if (texts := self.texts(one)) is None:
                    self.add(node.lineno, self.text(node), _HIDDEN)
                for part in {part for text in texts or () for part in text.split(".")}:
                    self.inside(part, node)
                    self.method(part, node)
        elif "open" in bare:
            self.add(node.lineno, self.text(node), _NO_FILE)
        elif "vars" in bare and first is not None:
            if not allowed.is_module(next(iter(scope.dotted(first)), "")):
                self.add(node.lineno, self.text(node), _INSIDES)
        elif function & {"importlib.import_module", "builtins.__import__"} and first is not None:
            texts = self.texts(first)
            if texts is None:
                self.add(node.lineno, self.text(node), _LOOKED_UP)
            for name in sorted(texts or ()):
                self.name(name, node.lineno)
                if why := modules.why_not_imported(name):
                    self.add(node.lineno, name, why)
        elif "type" in bare and len(node.args) == 3:
            self.add(node.lineno, self.text(node), _HIDDEN)
            return False
        elif "super" in bare and len(node.args) == 2:
            second = node.args[1]
            if not self.mine(first, kernel) or not isinstance(second, ast.Name) or second.id not in ("self", "cls"):
                self.add(node.lineno, self.text(node), _INSIDES)
            return False
        else:
            return bool(bare & {"globals", "locals", "vars"})
        return True

    def _indirect(self, node: ast.Call, bare: Set[str], scope: Scope, kernel: bool) -> None:
        first, name = node.args[0], node.args[1]
        names = scope.dotted(first)
        getting = bare == {"getattr"}
        texts = self.texts(name)
        if texts is None:
            # `self` may be anything that a method is called with, and `setattr(self, name, value)` fills in options.
            filling = bare == {"setattr"} and isinstance(first, ast.Name) and first.id in ("self", "cls")
            harmless = not names and self.mine(first, kernel) and self._begins_harmlessly(name)
            hidden = not filling and not harmless
        else:
            hidden = not getting and any(root.partition(".")[0] in ("torch", "numpy") for root in names)
        if hidden:
            self.add(node.lineno, self.text(node), _HIDDEN)
        for text in sorted(texts or ()):
            if not (text in allowed.LEADING and self.mine(first, kernel)):
                self.inside(text, node)
            if text == "__module__" and not getting:
                self.add(node.lineno, self.text(node), _INSIDES)
            for root in names:
                if getting:
                    self.value(f"{root}.{text}", node.lineno, kernel)
                elif not hidden:
                    self.stored(f"{root}.{text}", node.lineno)
            if getting and not names and not kernel:
                self.method(text, node)

    def _begins_harmlessly(self, node: ast.expr) -> bool:
        """Whether a text begins, as written out, like no name that leads anywhere: f"kernel_{n}"."""
        while isinstance(node, ast.BinOp):
            node = node.left
        if isinstance(node, ast.JoinedStr) and node.values:
            node = node.values[0]
        prefix = constant_text(node)
        if not prefix or prefix.startswith("_"):
            return False
        return not any(name.startswith(prefix) for name in _FORBIDDEN)

    def own_names(self, node: ast.expr, attribute: str | None, key: ast.expr | None) -> None:
        """Judges what is done with `globals()`: only a name written out tells what is found there or put there."""
        folded = None if key is None else folded_text(key)
        texts = {folded} if folded else self.texts(key) if key is not None else None
        # The insides are flagged where the text stands.
        known = attribute in (None, "get", "pop", "setdefault") and texts is not None and not any(
            text.startswith("__") and text not in allowed.INSIDES for text in texts)
        if not known:
            self.add(node.lineno, self.text(node), _HIDDEN)

    def texts(self, node: ast.expr) -> set[str] | None:
        """The texts that an expression may stand for, where all of them are written out."""
        if isinstance(node, ast.IfExp):
            one, other = self.texts(node.body), self.texts(node.orelse)
            return None if one is None or other is None else one | other
        if isinstance(node, ast.Name):
            return self.constants.get(node.id)
        text = constant_text(node)
        return None if text is None else {text}

    def text(self, node: ast.expr | ast.stmt | ast.pattern) -> str:
        """The source of a node, or its first line."""
        line = self.lines[node.lineno - 1]
        if node.end_lineno == node.lineno:
            return line[node.col_offset:node.end_col_offset].decode(errors="replace")
        return line[node.col_offset:].decode(errors="replace").rstrip() + " …"

    def add(self, line: int, what: str, why: str) -> None:
        """Takes down a violation, unless it is one of computing and the result is not used."""
        if self.leftover and why in allowed.ONLY_COMPUTE:
            return
        # "\ud800" in the student's text is no character that a result could be written with.
        shown = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in what[:TEXT + 1])
        self.found.add(Violation(line, shown if len(shown) <= TEXT else shown[: TEXT - 1] + "…", why))


def _where(attribute: str) -> str:
    if attribute in allowed.OF_FILES:
        return _NO_FILE
    return _ARRAYS if attribute == "handle" else _LEADS
