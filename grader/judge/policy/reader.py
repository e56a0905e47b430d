"""Was the work done by the student's own kernels? Read from the source; `record` judges what a run shows.

Neither is proof: text can be built at run time, and the record comes from the student's own process, which can forge
it or keep things out of it. Each catches what the other misses, and every violation names its line, so that a person
can look. Honest code comes first: only what the graded function can reach counts, and what runs at import; what the
text leaves open is left to the record. So a test that runs at import may compute, as long as the graded function uses
nothing that it binds, and a test that nothing calls may do anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set

from grader.assignment import Assignment
from grader.judge.policy import allowed, modules
from grader.judge.policy.findings import MAX_VIOLATIONS, Judge, Violation
from grader.judge.policy.names import Scope, Unit, assigned, deferred, folded_text, touched_names
from grader.judge.policy.source import (
    FunctionNode,
    decode,
    living,
    parse,
    running_children,
    scope_nodes,
    sets_name,
)

# What may be asked about a module without using what is in it.
ASKING = {f"builtins.{name}" for name in ("hasattr", "print", "type", "str", "repr", "id", "len", "getattr")}
# Called by PyTorch or Python, never by name.
CALLED_UNNAMED = {"forward", "backward", "setup_context", "jvp", "vmap"}
# What Python calls of a class when another one is derived from it, or stands in an annotation.
HOOKS = {"__init_subclass__", "__class_getitem__", "__mro_entries__"}
# What Python calls of a module.
OF_A_MODULE = {"__getattr__", "__dir__"}
KERNEL_DECORATORS = ("jit", "constexpr_function", "extern", "builtin")
NAMESPACES = {"builtins.globals", "builtins.locals", "builtins.vars"}
# Whose functions a kernel may call.
IN_KERNELS = {"triton", "builtins", "math", "typing"}
NOT_IN_KERNELS = "A kernel cannot call PyTorch, NumPy or Python's library: use triton.language."
# An expression of nothing else looks names up, and calls nothing of a library's.
QUIET = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BitOr, ast.BinOp, ast.Load)


def read_source(source: bytes, assignment: Assignment) -> list[Violation]:
    """What the text of a submission shows against the rules, by line; at most `MAX_VIOLATIONS`.

    Raises SourceProblem for a file that cannot be graded at all.
    """
    text = decode(source, assignment.file)
    judge = Judge(tree := parse(text, assignment), text, assignment.operators, assignment.file.removesuffix(".py"))
    _Reader(tree, judge).read(assignment.function)
    return sorted(judge.found)[:MAX_VIOLATIONS]


class _Reader:
    """Walks what the graded function can reach, once as host code and, where kernels call it, once as kernel code."""

    def __init__(self, tree: ast.Module, judge: Judge) -> None:
        self.tree = tree
        self.judge = judge
        self.module = Scope(tree.body, main_runs=sets_name(tree))
        # `from __future__ import annotations` leaves annotations as text.
        self.annotated = self.module.meanings.get("annotations") != {"__future__.annotations"}
        # Names of the module that reachable code loads.
        self.loaded: set[str] = set()
        self.queue: list[tuple[Unit, Scope, bool]] = []
        self.seen: set[tuple[int, bool]] = set()
        self.read_already: set[int] = set()
        self.attributes: set[tuple[str, bool]] = set()
        self.by_name = False
        # Functions and classes whose decorators, defaults, annotations, bases and bodies run, read or not.
        self.heads: dict[int, tuple[FunctionNode | ast.ClassDef, Scope]] = {}
        self.methods: dict[str, list[tuple[Unit, Scope]]] = {}

    def read(self, function: str) -> None:
        for star in self.module.stars:
            if star.partition(".")[0] in allowed.COMPUTING_MODULES:
                self.judge.name(f"{star}.*", 1)
        self.judge.bound(self.module.bound, self.module, 0)
        waiting: dict[str, list[ast.AST]] = {}
        for statement in living(self.tree.body):
            names = touched_names(statement, self.module)
            if names is None:
                self._visit(statement, self.module, False)
            for name in () if names is None else names or {""}:
                waiting.setdefault(name, []).append(statement)
        for name in (function, *(OF_A_MODULE & self.module.bound)):
            self._name(ast.Name(name, ast.Load(), lineno=self.module.lines.get(name, 0)), self.module, False)
        self._drain()
        # What binds a name that the graded function loads may load others in turn.
        while names := self.loaded & waiting.keys():
            self._once([statement for name in sorted(names) for statement in waiting.pop(name)])
        self.judge.leftover = True
        self._once([statement for statements in waiting.values() for statement in statements])
        self._read_heads()

    def _once(self, statements: list[ast.AST]) -> None:
        """Reads statements of the module. One that binds many names waits under each, and is read once."""
        fresh = {id(statement): statement for statement in statements if id(statement) not in self.read_already}
        self.read_already |= fresh.keys()
        self._block(fresh.values(), self.module, False)
        self._drain()

    def _drain(self) -> None:
        while self.queue:
            self._unit(*self.queue.pop())

    def _read_heads(self) -> None:
        """Reads what runs of functions and classes that are merely defined. Each may lead to others."""
        while self.heads:
            node, scope = self.heads.pop(next(iter(self.heads)))
            self._head(node, scope)
            self._drain()

    def _head(self, node: FunctionNode | ast.ClassDef, scope: Scope) -> None:
        if (id(node), False) in self.seen or (id(node), True) in self.seen:
            return
        self._block(node.decorator_list, scope, False)
        if not all(self._holds(decorator, scope) for decorator in node.decorator_list):
            self._reach(node, scope, False)
        elif isinstance(node, ast.ClassDef):
            self._class_head(node, scope)
        else:
            for value in (*_defaults(node), *(_annotations(node) if self.annotated else ())):
                self._quietly(value, scope)
            self._block(_type_parameters(node), scope, False)

    def _holds(self, decorator: ast.expr, scope: Scope) -> bool:
        """Whether a decorator merely keeps the function, or the class, and calls nothing of it."""
        names = scope.dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
        return bool(names) and all(n in modules.HOLDING or n.startswith("pytest.mark.") for n in names)

    def _quietly(self, value: ast.expr, scope: Scope) -> None:
        """Reads what is evaluated and then lies where nothing gets at it."""
        nodes = list(ast.walk(value))
        if not all(isinstance(node, QUIET) for node in nodes):
            self._visit(value, scope, False)
            return
        for node in nodes:
            if isinstance(node, ast.Name):
                self._hooks(node.id, scope)
            elif isinstance(node, ast.Attribute) and not scope.dotted(node):
                self._by_attribute(node.attr, False)

    def _hooks(self, name: str, scope: Scope) -> None:
        """Reaches what Python calls of a class of the student's without making one of it."""
        if (owner := scope.owner(name)) is not None:
            for unit in owner.units.get(name, ()):
                if isinstance(unit, ast.ClassDef):
                    for method in scope_nodes(unit.body, owner.main_runs):
                        if isinstance(method, FunctionNode) and method.name in HOOKS:
                            self._reach(method, owner, False)

    def _class_head(self, node: ast.ClassDef, scope: Scope) -> None:
        for base in node.bases:
            self._quietly(base, scope)
        self._block([keyword.value for keyword in node.keywords], scope, False)
        self._block(_type_parameters(node), scope, False)
        body = Scope(node.body, scope, main_runs=scope.main_runs)
        self._block(living(node.body), body, False)

    def _unit(self, node: Unit, scope: Scope, kernel: bool) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            values = [value for target, value in assigned(node) if not scope.stands_for(target, value)]
            self._block(_distinct(values), scope, kernel)
            return
        self._block(node.decorator_list, scope, False)
        self._block(_type_parameters(node), scope, False)
        if isinstance(node, ast.ClassDef):
            self._class(node, scope, kernel)
            return
        kernel = kernel or self._is_kernel(node, scope)
        self._block(_defaults(node), scope, False)
        if self.annotated and not kernel:
            self._block(_annotations(node), scope, False)
        arguments = node.args
        own = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        names = [one.arg for one in own if one is not None]
        inner = Scope(node.body, scope, main_runs=scope.main_runs, parameters=names)
        self._block(living(node.body), inner, kernel)

    def _class(self, node: ast.ClassDef, scope: Scope, kernel: bool) -> None:
        self._block([*node.bases, *(keyword.value for keyword in node.keywords)], scope, False)
        body = Scope(node.body, scope, main_runs=scope.main_runs)
        self.judge.bound(body.bound, body, node.lineno)
        for one in scope_nodes(node.body, scope.main_runs):
            if isinstance(one, FunctionNode):
                self._member(one, scope, kernel)
            elif isinstance(one, ast.Assign | ast.AnnAssign):
                # Reached as an attribute, which no name tells.
                self._block(_distinct(value for _, value in assigned(one)), body, False)
                if isinstance(one, ast.AnnAssign) and self.annotated:
                    self._visit(one.annotation, body, False)
        self._block(living(node.body), body, False)

    def _member(self, method: FunctionNode, scope: Scope, kernel: bool) -> None:
        name = method.name
        unnamed = name in CALLED_UNNAMED or (name.startswith("__") and name.endswith("__"))
        for inside in (False, True):
            if (name, inside) in self.attributes or (unnamed and inside == kernel):
                self._reach(method, scope, inside)
        self.methods.setdefault(name, []).append((method, scope))

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
            self.heads[id(node)] = node, scope
            if node.name in scope.outside:
                self._reach(node, scope, kernel)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self.judge.imported(node, scope)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            self._assign(node, scope, kernel)
        elif isinstance(node, ast.Name):
            self._name(node, scope, kernel)
        elif isinstance(node, ast.Attribute):
            self._attribute(node, scope, kernel)
        elif isinstance(node, ast.Call):
            self._call(node, scope, kernel)
        elif isinstance(node, ast.Subscript) and scope.dotted(node.value) == {"sys.modules"}:
            self.judge.module(node, scope)
        elif isinstance(node, ast.Subscript) and self._is_namespace(node.value, scope):
            self._use_by_name()
            self.judge.own_names(node, None, node.slice)
            self._visit(node.slice, scope, kernel)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                self.judge.constant(node.value, node)
        elif isinstance(node, ast.Compare):
            self._block(self._compared(node, scope), scope, kernel)
        elif not isinstance(node, ast.arg):
            if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult) and not kernel:
                self.judge.add(node.lineno, self.judge.text(node), allowed.MATMUL_COMPUTES)
            if isinstance(node, ast.BinOp) and (text := folded_text(node)):
                self.judge.constant(text, node)
            if isinstance(node, ast.MatchClass):
                self.judge.pattern(node)
            self._block(running_children(node, scope.main_runs), scope, kernel)

    def _compared(self, node: ast.Compare, scope: Scope) -> list[ast.expr]:
        """The parts of a comparison that are more than a mere question, whether a module is there."""
        parts = [node.left, *node.comparators]
        if all(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
            return [part for part in parts if not any(map(allowed.is_module, scope.dotted(part)))]
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn) and (
                scope.dotted(parts[1]) == {"sys.modules"} or self._is_namespace(parts[1], scope)):
            return parts[:1]
        return parts

    def _is_namespace(self, node: ast.expr, scope: Scope) -> bool:
        return isinstance(node, ast.Call) and not node.args and bool(scope.dotted(node.func) & NAMESPACES)

    def _assign(self, node: ast.Assign | ast.AnnAssign, scope: Scope, kernel: bool) -> None:
        waits = deferred(node)
        values = []
        for target, value in assigned(node):
            if not isinstance(target, ast.Name):
                self._visit(target, scope, kernel)
            elif target.id in allowed.OF_MODULE:
                self._name(target, scope, kernel)
            # An alias is judged where it is used, a literal of functions where its name is.
            if not (isinstance(target, ast.Name) and target.id not in scope.outside
                    and (scope.stands_for(target, value) or (waits and not scope.dotted(value)))):
                values.append(value)
        for value in _distinct(values):
            self._visit(value, scope, kernel)
        # In a function, Python does not evaluate it.
        if isinstance(node, ast.AnnAssign) and self.annotated and not scope.is_function:
            self._quietly(node.annotation, scope)

    def _name(self, node: ast.Name, scope: Scope, kernel: bool) -> None:
        if not isinstance(node.ctx, ast.Load):
            if node.id in allowed.OF_MODULE:
                self.judge.constant(node.id, node)
            return
        for name in scope.meaning(node.id):
            self.judge.value(name, node.lineno, kernel)
        if node.id in allowed.INSIDES and node.id != "__builtins__":
            self.judge.constant(node.id, node)
        if scope.owner(node.id) is self.module:
            self.loaded.add(node.id)
        if (owner := scope.owner(node.id)) is not None and (node.id, kernel) not in owner.reached:
            owner.reached.add((node.id, kernel))
            for unit in owner.units.get(node.id, ()):
                self._reach(unit, owner, kernel)

    def _use_by_name(self) -> None:
        """Anything may be looked up by name from here on."""
        if not self.by_name:
            self.by_name = True
            for units in self.module.units.values():
                for unit in units:
                    self._reach(unit, self.module, False)

    def _attribute(self, node: ast.Attribute, scope: Scope, kernel: bool) -> None:
        names = scope.dotted(node)
        self.judge.attribute(node, kernel, bool(names))
        if names and (node.attr in allowed.INSIDES or node.attr == "__dict__"):
            return
        for name in names:
            if isinstance(node.ctx, ast.Load):
                self.judge.value(name, node.lineno, kernel)
            else:
                self.judge.stored(name, node.lineno)
        if names:
            return
        self._by_attribute(node.attr, kernel)
        self._visit(node.value, scope, kernel)

    def _by_attribute(self, name: str, kernel: bool) -> None:
        if (name, kernel) not in self.attributes:
            self.attributes.add((name, kernel))
            for unit, owner in self.methods.get(name, ()):
                self._reach(unit, owner, kernel)

    def _call(self, node: ast.Call, scope: Scope, kernel: bool) -> None:
        function = scope.dotted(node.func)
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        if kernel:
            for name in function:
                if name.partition(".")[0] not in IN_KERNELS:
                    self.judge.add(node.lineno, name, NOT_IN_KERNELS)
        if self._is_namespace(node, scope):
            # Where it is neither asked nor subscripted, nobody knows what becomes of it.
            self._use_by_name()
            self.judge.own_names(node, "", None)
            return
        found = self.judge.finds(node, function, scope, kernel)
        if function & ASKING:
            values = [value for value in values if not any(map(allowed.is_module, scope.dotted(value)))]
            if not function & {"builtins.getattr", "builtins.hasattr"}:
                values = [value for value in values if not self._is_namespace(value, scope)]
        values = [value for value in values if not self._is_stream(value, node, scope)]
        if scope.dotted(node) and function & {"builtins.__import__", "importlib.import_module"}:
            return
        if isinstance(node.func, ast.Attribute) and not function and not kernel:
            self.judge.method(node.func.attr, node.func)
        if _makes_kernel(function) and node.args and isinstance(node.args[0], ast.Name):
            self._name(node.args[0], scope, True)
            values.remove(node.args[0])
        if isinstance(node.func, ast.Attribute) and self._is_namespace(node.func.value, scope):
            self._use_by_name()
            self.judge.own_names(node, node.func.attr, node.args[0] if node.args else None)
        elif not found:
            self._visit(node.func, scope, kernel)
        self._block(values, scope, kernel)

    def _is_stream(self, value: ast.expr, call: ast.Call, scope: Scope) -> bool:
        """Whether a value says where to print: `file=sys.stderr`."""
        named = any(keyword.value is value and keyword.arg in ("file", "stream") for keyword in call.keywords)
        return (named or scope.dotted(call.func) == {"logging.StreamHandler"}) and bool(
            scope.dotted(value) & modules.STREAMS)


def _defaults(node: FunctionNode) -> list[ast.expr]:
    return [value for value in (*node.args.defaults, *node.args.kw_defaults) if value is not None]


def _annotations(node: FunctionNode) -> list[ast.expr]:
    arguments = node.args
    own = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    found = [one.annotation for one in own if one is not None]
    return [value for value in (*found, node.returns) if value is not None]


def _type_parameters(node: FunctionNode | ast.ClassDef) -> list[ast.AST]:
    return list(getattr(node, "type_params", ()))


def _distinct(values: Iterable[ast.expr]) -> list[ast.expr]:
    """`a = b = value` has one value."""
    return list({id(value): value for value in values}.values())


def _makes_kernel(names: Set[str]) -> bool:
    return any(n.startswith("triton.") and n.rpartition(".")[2] in KERNEL_DECORATORS for n in names)
