"""Was the work done by the student's own kernels? Read from the source; `record` judges what a run shows.

Neither is proof: text can be built at run time, and the record comes from the student's own process, which can forge
it or keep things out of it. Each catches what the other misses, and every violation names its line, so that a person
can look. Honest code comes first: only what the graded function can reach counts, and what the text leaves open is left
to the record. So a test that runs at import may compute, as long as the graded function uses nothing that it binds.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Set
from dataclasses import dataclass

from grader.assignment import Assignment
from grader.judge.policy import allowed
from grader.judge.policy.names import (
    Scope,
    Unit,
    assigned,
    constant_names,
    constant_text,
    deferred,
    folded_text,
    touched_names,
)
from grader.judge.policy.source import FunctionNode, decode, living, parse, running_children, sets_name

MAX_VIOLATIONS = 50
TEXT = 60
# What may be asked about a module without using what is in it.
ASKING = {f"builtins.{name}" for name in ("hasattr", "print", "isinstance", "type", "str", "repr", "id", "getattr")}
_HIDDEN = "A name put together at run time hides what is used."
_INSIDES = "This reaches into Python's insides; a kernel's launch needs nothing of them."
# Called by PyTorch or Python, never by name.
CALLED_UNNAMED = {"forward", "backward", "setup_context", "jvp", "vmap"}
KERNEL_DECORATORS = ("jit", "constexpr_function", "extern", "builtin")


@dataclass(frozen=True, order=True)
class Violation:
    """`what` is an operator or a name ("torch.mm", "a @ b"), `why` one sentence for the student.

    `line` is 0 where no line of the file is to blame.
    """

    line: int
    what: str
    why: str


def read_source(source: bytes, assignment: Assignment) -> list[Violation]:
    """What the text of a submission shows against the rules, by line; at most `MAX_VIOLATIONS`.

    Raises SourceProblem for a file that cannot be graded at all.
    """
    text = decode(source, assignment.file)
    reader = _Reader(parse(text, assignment), text, assignment.operators)
    reader.read(assignment.function)
    return sorted(reader.found)[:MAX_VIOLATIONS]


class _Reader:
    """Walks what the graded function can reach, once as host code and, where kernels call it, once as kernel code."""

    def __init__(self, tree: ast.Module, text: str, operators: Set[str]) -> None:
        self.tree = tree
        # As Python counts lines, which is not as str.splitlines does.
        self.lines = [line.encode() for line in re.split(r"\r\n|\r|\n", text)]
        self.operators = operators
        self.module = Scope(tree.body, main_runs=sets_name(tree))
        self.found: set[Violation] = set()
        self.constants = constant_names(tree)
        # Names of the module that reachable code loads, and whether what is read now can reach the graded function.
        self.loaded: set[str] = set()
        self.leftover = False
        self.queue: list[tuple[Unit, Scope, bool]] = []
        self.seen: set[tuple[int, bool]] = set()
        self.read_already: set[int] = set()
        self.attributes: set[str] = set()
        self.by_name = False
        classes = [unit for units in self.module.units.values() for unit in units if isinstance(unit, ast.ClassDef)]
        self.own_methods = {node.name for one in classes for node in one.body if isinstance(node, FunctionNode)}
        self.own = {"self", "cls"} | {one.name for one in classes if isinstance(one, ast.ClassDef)}
        self.own |= {target.id for node in ast.walk(tree) for target, value in assigned(node)
                     if isinstance(target, ast.Name) and isinstance(value, ast.Call)
                     and isinstance(value.func, ast.Name) and value.func.id in self.own - {"self", "cls"}}
        self.methods: dict[str, list[tuple[Unit, Scope]]] = {}

    def read(self, function: str) -> None:
        for star in self.module.stars:
            if star.partition(".")[0] in allowed.COMPUTING_MODULES | allowed.ESCAPING_MODULES:
                self._check_name(f"{star}.*", 1)
        waiting: dict[str, list[ast.AST]] = {}
        for statement in living(self.tree.body):
            names = touched_names(statement, self.module)
            if names is None:
                self._visit(statement, self.module, False)
            for name in () if names is None else names or {""}:
                waiting.setdefault(name, []).append(statement)
        self._name(ast.Name(function, ast.Load(), lineno=self.module.lines.get(function, 0)), self.module, False)
        self._drain()
        # What binds a name that the graded function loads may load others in turn.
        while names := self.loaded & waiting.keys():
            self._once([statement for name in sorted(names) for statement in waiting.pop(name)])
        self.leftover = True
        self._once([statement for statements in waiting.values() for statement in statements])

    def _once(self, statements: list[ast.AST]) -> None:
        """Reads statements of the module. One that binds many names waits under each, and is read once."""
        fresh = {id(statement): statement for statement in statements if id(statement) not in self.read_already}
        self.read_already |= fresh.keys()
        self._block(fresh.values(), self.module, False)
        self._drain()

    def _drain(self) -> None:
        while self.queue:
            self._unit(*self.queue.pop())

    def _unit(self, node: Unit, scope: Scope, kernel: bool) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for value in _distinct(value for _, value in assigned(node)):
                if not scope.dotted(value):
                    self._visit(value, scope, kernel)
            return
        for decorator in node.decorator_list:
            self._visit(decorator, scope, False)
        if isinstance(node, ast.ClassDef):
            self._class(node, scope)
            return
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self._visit(default, scope, False)
        own = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        names = [one.arg for one in own if one is not None]
        inner = Scope(node.body, scope, main_runs=scope.main_runs, parameters=names)
        self._block(living(node.body), inner, kernel or self._is_kernel(node, scope))

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        for base in (*node.bases, *(keyword.value for keyword in node.keywords)):
            self._visit(base, scope, False)
        body = Scope(node.body, scope, main_runs=scope.main_runs)
        for name in allowed.INSIDES & body.bound:
            self._add(body.lines.get(name, node.lineno), name, _INSIDES)
        for statement in node.body:
            if not isinstance(statement, FunctionNode):
                self._visit(statement, body, False)
                continue
            name = statement.name
            unnamed = name in CALLED_UNNAMED or (name.startswith("__") and name.endswith("__"))
            if unnamed or name in self.attributes:
                self._reach(statement, scope, False)
            else:
                self.methods.setdefault(name, []).append((statement, scope))

    def _is_kernel(self, node: FunctionNode, scope: Scope) -> bool:
        return any(_makes_kernel(scope.dotted(d.func if isinstance(d, ast.Call) else d) | scope.dotted(d))
                   for d in node.decorator_list)

    def _reach(self, unit: Unit, scope: Scope, kernel: bool) -> None:
        if (id(unit), kernel) not in self.seen:
            self.seen.add((id(unit), kernel))
            self.queue.append((unit, scope, kernel))

    def _block(self, nodes: Iterable[ast.AST], scope: Scope, kernel: bool) -> None:
        for node in nodes:
            self._visit(node, scope, kernel)

    def _visit(self, node: ast.AST, scope: Scope, kernel: bool) -> None:
        if isinstance(node, FunctionNode | ast.ClassDef):
            # Not reached by name yet, but a decorator of the student's runs at once.
            for name in (n for d in node.decorator_list for n in ast.walk(d) if isinstance(n, ast.Name)):
                self._units(name.id, scope, False)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            self._assign(node, scope, kernel)
        elif isinstance(node, ast.Name):
            self._name(node, scope, kernel)
        elif isinstance(node, ast.Attribute):
            self._attribute(node, scope, kernel)
        elif isinstance(node, ast.Call):
            self._call(node, scope, kernel)
        elif isinstance(node, ast.Subscript) and scope.dotted(node.value) == {"sys.modules"}:
            self._modules(node, scope)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and node.value in allowed.INSIDES:
                self._add(node.lineno, self._text(node), _INSIDES)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            # Whether a module was imported is a mere question.
            others = [part for part in (node.left, *node.comparators) if scope.dotted(part) != {"sys.modules"}]
            self._block(others, scope, kernel)
        elif not isinstance(node, ast.arg | ast.Import | ast.ImportFrom):
            if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult) and not kernel:
                self._add(node.lineno, self._text(node), allowed.MATMUL_COMPUTES)
            if isinstance(node, ast.BinOp) and (text := folded_text(node)):
                self._inside(text, node)
            self._block(running_children(node, scope.main_runs), scope, kernel)

    def _assign(self, node: ast.Assign | ast.AnnAssign, scope: Scope, kernel: bool) -> None:
        waits = deferred(node)
        values = []
        for target, value in assigned(node):
            if not isinstance(target, ast.Name):
                self._visit(target, scope, kernel)
            # An alias is judged where it is used, a literal of functions where its name is.
            if not (isinstance(target, ast.Name) and (waits or scope.dotted(value))):
                values.append(value)
        for value in _distinct(values):
            self._visit(value, scope, kernel)

    def _name(self, node: ast.Name, scope: Scope, kernel: bool) -> None:
        if isinstance(node.ctx, ast.Load):
            for name in scope.meaning(node.id):
                self._check_value(name, node.lineno, kernel)
                if name in allowed.FINDING and not kernel:
                    self._add(node.lineno, name.removeprefix("builtins."), _HIDDEN)
            if scope.owner(node.id) is self.module:
                self.loaded.add(node.id)
            self._units(node.id, scope, kernel)

    def _units(self, name: str, scope: Scope, kernel: bool) -> None:
        if (owner := scope.owner(name)) is not None:
            if (name, kernel) not in owner.reached:
                owner.reached.add((name, kernel))
                for unit in owner.units.get(name, ()):
                    self._reach(unit, owner, kernel)
        elif name in ("globals", "locals", "vars") and not self.by_name:
            # Anything may be looked up by name from here on.
            self.by_name = True
            for units in self.module.units.values():
                for unit in units:
                    self._reach(unit, self.module, kernel)

    def _attribute(self, node: ast.Attribute, scope: Scope, kernel: bool) -> None:
        names = scope.dotted(node)
        if names and (node.attr in allowed.INSIDES or node.attr == "__dict__"):
            self._add(node.lineno, self._text(node), _INSIDES)
            return
        for name in names:
            if isinstance(node.ctx, ast.Load):
                self._check_value(name, node.lineno, kernel)
            elif not allowed.may_set(name):
                self._add(node.lineno, name, "A submission may not change PyTorch, Triton or Python themselves.")
        if names:
            return
        if node.attr not in self.attributes:
            self.attributes.add(node.attr)
            for unit, owner in self.methods.pop(node.attr, ()):
                self._reach(unit, owner, False)
        maker = node.value.func if isinstance(node.value, ast.Call) else node.value
        mine = isinstance(maker, ast.Name) and maker.id in self.own
        if node.attr == "handle" and not mine:
            self._add(node.lineno, self._text(node), "This reaches into Triton's interpreter; no kernel on a GPU can.")
        renamed = node.attr == "__module__" and not isinstance(node.ctx, ast.Load)
        if node.attr in allowed.INSIDES or renamed or (node.attr == "__dict__" and not mine):
            self._add(node.lineno, self._text(node), _INSIDES)
        if node.attr in allowed.READING and not kernel:
            self._method(node.attr, node, scope)
        self._visit(node.value, scope, kernel)

    def _call(self, node: ast.Call, scope: Scope, kernel: bool) -> None:
        function = scope.dotted(node.func)
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        if kernel:
            for name in function:
                if name.partition(".")[0] in ("torch", "numpy"):
                    self._add(node.lineno, name, "A kernel cannot call PyTorch or NumPy: use triton.language.")
        found = not kernel and self._finds(node, function, scope)
        if function & ASKING:
            values = [value for value in values if not scope.dotted(value) & allowed.MODULES]
        if scope.dotted(node) and function & {"builtins.__import__", "importlib.import_module"}:
            for name in scope.dotted(node):
                self._check_name(name, node.lineno)
            return
        if isinstance(node.func, ast.Attribute) and not function and not kernel:
            self._method(node.func.attr, node.func, scope)
        if _makes_kernel(function) and node.args and isinstance(node.args[0], ast.Name):
            self._units(node.args[0].id, scope, True)
            values.remove(node.args[0])
        if not found:
            self._visit(node.func, scope, kernel)
        self._block(values, scope, kernel)

    def _finds(self, node: ast.Call, function: Set[str], scope: Scope) -> bool:
        """Judges a call that finds something by a name; whether it was one, and the function itself is settled."""
        bare = {name.partition(".")[2] for name in function if name.startswith(("builtins.", "operator.", "io."))}
        first = node.args[0] if node.args else None
        mine = isinstance(first, ast.Name) and first.id in (("self", "cls") if "setattr" in bare else self.own)
        if bare & {"getattr", "setattr", "delattr"} and len(node.args) > 1:
            self._indirect(node, scope, mine)
        elif bare & {"attrgetter", "methodcaller"}:
            for one in node.args if "attrgetter" in bare else node.args[:1]:
                if (texts := self._texts(one)) is None:
                    self._add(node.lineno, self._text(node), _HIDDEN)
                for part in {part for text in texts or () for part in text.split(".")}:
                    self._inside(part, node)
                    self._method(part, node, scope)
        elif "open" in bare and first is not None:
            texts = self._texts(first)
            if texts is None or any(text.startswith(("/proc", "/dev")) for text in texts):
                self._add(node.lineno, self._text(node), "A kernel needs no file.")
        elif "vars" in bare:
            if first is not None and not mine and not scope.dotted(first) & allowed.MODULES:
                self._add(node.lineno, self._text(node), _INSIDES)
        elif function & {"importlib.import_module", "builtins.__import__"} and first is not None:
            texts = self._texts(first)
            if texts is None:
                self._add(node.lineno, self._text(node), "A module looked up at run time hides what is used.")
            for name in texts or ():
                self._check_name(name, node.lineno)
        elif "type" in bare and len(node.args) == 3:
            self._add(node.lineno, self._text(node), _HIDDEN)
            return False
        elif "super" in bare and len(node.args) == 2:
            second = node.args[1]
            if not mine or not isinstance(second, ast.Name) or second.id not in ("self", "cls"):
                self._add(node.lineno, self._text(node), _INSIDES)
            return False
        else:
            return False
        return True

    def _texts(self, node: ast.expr) -> set[str] | None:
        """The texts that an expression may stand for, where all of them are written out."""
        if isinstance(node, ast.IfExp):
            one, other = self._texts(node.body), self._texts(node.orelse)
            return None if one is None or other is None else one | other
        if isinstance(node, ast.Name):
            return self.constants.get(node.id)
        text = constant_text(node)
        return None if text is None else {text}

    def _indirect(self, node: ast.Call, scope: Scope, mine: bool) -> None:
        names = scope.dotted(node.args[0])
        bases = {name for name in names if name.partition(".")[0] in ("torch", "numpy")}
        texts = self._texts(node.args[1])
        getting = scope.dotted(node.func) == {"builtins.getattr"}
        if (texts is None and not mine) or (bases and not getting):
            self._add(node.lineno, self._text(node), _HIDDEN)
        for text in sorted(texts or ()):
            self._inside(text, node)
            if text == "__module__" and not getting:
                self._add(node.lineno, self._text(node), _INSIDES)
            for name in names if getting else ():
                self._check_value(f"{name}.{text}", node.lineno, False)
            if getting and not names:
                self._method(text, node, scope)

    def _inside(self, name: str, node: ast.expr) -> None:
        if name in allowed.INSIDES or name == "__dict__":
            self._add(node.lineno, self._text(node), _INSIDES)

    def _method(self, name: str, node: ast.expr, scope: Scope) -> None:
        if not allowed.method_allowed(name, self.operators) and name not in self.own_methods:
            self._add(node.lineno, self._text(node), allowed.METHOD_COMPUTES)

    def _modules(self, node: ast.Subscript, scope: Scope) -> None:
        if names := scope.dotted(node):
            for name in names:
                self._check_value(name, node.lineno, False)
        else:
            self._add(node.lineno, self._text(node), "A module looked up at run time hides what is used.")

    def _check_value(self, name: str, line: int, kernel: bool) -> None:
        # Kernels may name a dtype; what they call is looked at where they call it.
        if kernel and name.partition(".")[0] in ("torch", "numpy"):
            return
        if name in allowed.MODULES:
            self._add(line, name, "A module handed on as a value hides what is used of it.")
        else:
            self._check_name(name, line)

    def _check_name(self, name: str, line: int) -> None:
        if why := allowed.why_not(name, self.operators):
            self._add(line, name.removeprefix("builtins."), why)

    def _text(self, node: ast.expr | ast.stmt) -> str:
        """The source of a node, or its first line."""
        line = self.lines[node.lineno - 1]
        if node.end_lineno == node.lineno:
            return line[node.col_offset:node.end_col_offset].decode(errors="replace")
        return line[node.col_offset:].decode(errors="replace").rstrip() + " …"

    def _add(self, line: int, what: str, why: str) -> None:
        if self.leftover and why in allowed.ONLY_COMPUTE:
            return
        # "\ud800" in the student's text is no character that a result could be written with.
        shown = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in what[:TEXT + 1])
        self.found.add(Violation(line, shown if len(shown) <= TEXT else shown[: TEXT - 1] + "…", why))


def _distinct(values: Iterable[ast.expr]) -> list[ast.expr]:
    """`a = b = value` has one value."""
    return list({id(value): value for value in values}.values())


def _makes_kernel(names: Set[str]) -> bool:
    return any(n.startswith("triton.") and n.rpartition(".")[2] in KERNEL_DECORATORS for n in names)
